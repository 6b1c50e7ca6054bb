"""The PRAM experiment: published figures, the histogram read from the matrix, the audit, command and page."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner
from playing_tools import scored

from attacks import histogram_from_matrix
from attacks.base.sides import column_matrix
from defenses import (
    Microdata,
    OptimalRetention,
    OptimalRetentionFromNoisyHistogram,
    OptimalRetentionWithPrior,
    RetentionReplacement,
)
from defenses.pram import epsilon_for_k, optimal_retention, retention_for_epsilon, transition_matrix
from defenses.pram.matrix import retention_epsilon
from defenses.pram.perturbation import noisy_histogram, retention_by_objective, retention_by_output
from leaderboard import (
    Bars,
    Section,
    Table,
    render_report,
    report_to_csv,
    report_to_json,
    report_to_markdown,
    report_to_terminal,
)
from metrics import NumericDomain
from scenarios import PramHistogram, load, read_plan
from scenarios.commands.cli import cli
from scenarios.studies import pram_histogram
from scenarios.studies.experiment import read_experiment
from scenarios.studies.pram_histogram import (
    corners,
    edges,
    example_flips,
    example_scale,
    half_planes,
    limit_section,
    measure_limits,
    published_corners,
    releases,
)
from scenarios.studies.pram_privacy import (
    ages,
    bell,
    noisy_histogram_epsilon,
    power_law,
    released_law,
    sampled_epsilon,
    secret_matrix_epsilon,
)
from scenarios.tables.dataset import with_columns
from scenarios.tables.seeds import generator

SMALL = """
[scenario]
name = "small"
title = "Small <one>"
plays = 2

[experiment]
use = "PramHistogram"
k = [2, 10, 100]
audits = 4
"""


@pytest.fixture(scope="module")
def limits():
    return measure_limits()


@pytest.fixture(autouse=True, scope="module")
def limits_are_measured_once(limits):
    """What protocols reach at all depends on neither seed, plays nor parameters."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pram_histogram, "measure_limits", lambda: limits)
        yield


@pytest.fixture(scope="module")
def report():
    return PramHistogram(audits=10).run(2, 1, lambda text: None)


def tables(report):
    return {(section.title, table.title.partition(",")[0]): table for section in report for table in section.tables}


@pytest.mark.thorough
def test_cases_are_what_was_published_of_them():
    for make, total, most in ((bell, 46_938, 850), (power_law, 4_405, 895), (ages, 32_561, 898)):
        case = make()
        assert (case.counts.size, case.counts.sum(), case.counts.max()) == (74, total, most)
        assert bool(case.rebuilt) == (make is not ages) == ("rebuilt" in case.title)
    counts = bell().counts
    assert (counts == counts[::-1]).mean() > 0.9  # but for rounding
    assert (np.diff(counts[:37]) >= 0).all()
    assert (np.diff(power_law().counts) <= 0).all()


@pytest.mark.parametrize("make", [bell, power_law, ages])
def test_epsilons_are_those_published(make):
    case = make()
    for k, printed in case.epsilons.items():
        assert epsilon_for_k(k, int(case.counts.sum())) == pytest.approx(printed, abs=0.005)


@pytest.mark.thorough
def test_expected_distances_are_those_published(report):
    table = tables(report)["Case 3, ages of Adult", "Distance of the released histogram from the original"]
    rows = [row for row in table.rows if row[0].endswith("expected release")]
    assert len(rows) == 3
    for _, conventional, published, optimal, published_optimal in rows:
        assert conventional == pytest.approx(published, abs=0.05)
        assert optimal == pytest.approx(published_optimal, abs=0.05)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("k", [2, 10, 100])
def test_sampled_distances_come_near_those_published(k):
    # Of 100 releases as published; mean within 1 %, minimum and maximum, which vary by seed, within 4 %.
    case = ages()
    level = epsilon_for_k(k, int(case.counts.sum()))
    forms = np.full(74, retention_for_epsilon(level, 74)), optimal_retention(case.counts, level)
    for retention, published in zip(forms, case.published[k], strict=True):
        made = releases(case.counts, retention, 100, generator(1, k))
        assert made.distances[0] == pytest.approx(published[0], rel=0.01)
        assert made.distances[2:] == pytest.approx(published[2:], rel=0.04)
        assert made.first.sum() == pytest.approx(made.mean.sum()) == case.counts.sum()


def test_rebuilt_cases_come_near_the_published_ones(report):
    found = tables(report)
    for title, tolerance in (("Case 1, normal distribution (rebuilt)", 0.25), ("Case 2, power law (rebuilt)", 0.06)):
        table = found[title, "Distance of the released histogram from the original"]
        for name, conventional, published, optimal, published_optimal in table.rows:
            if name.endswith("expected release"):
                assert conventional == pytest.approx(published, abs=tolerance)
                assert optimal == pytest.approx(published_optimal, abs=tolerance)
                assert optimal <= conventional
        assert "not published as data" in table.note


@pytest.mark.parametrize(("epsilon", "d"), [(0.5, 3), (1.5, 4), (1.5, 10), (3.0, 20)])
def test_the_region_has_the_published_corners_and_shape(epsilon, d):
    ours, theirs = corners(epsilon, d), published_corners(epsilon, d)
    shown = [pair for pair in theirs if pair in ours]
    for pair in shown:
        assert ours[pair] == pytest.approx(theirs[pair])
    # Lemma 3.5: six corners where e^epsilon + e^-epsilon + 2 > d, else four.
    expected = 6 if np.exp(epsilon) + np.exp(-epsilon) + 2 > d else 4
    assert len({(round(x, 9), round(y, 9)) for x, y in ours.values()}) == expected
    upper, lower = (list(zip(edge.x, edge.y, strict=True)) for edge in edges(epsilon, d))
    assert set(upper) & set(lower) >= {min(ours.values()), max(ours.values())}
    assert set(upper) | set(lower) == set(ours.values())
    left, right = half_planes(epsilon, d)
    for x, y in np.random.default_rng(0).random((200, 2)):
        # The region is where a matrix of these two flip probabilities, and of their mean elsewhere, may be private.
        e = np.exp(epsilon)
        ratios = [
            x / y,
            y / x,
            x / ((1 - y) * (d - 1)),
            (1 - y) * (d - 1) / x,
            y / ((1 - x) * (d - 1)),
            (1 - x) * (d - 1) / y,
        ]
        assert (left @ [x, y] <= right).all() == (max(ratios) <= e)


def test_the_published_closed_form_exceeds_its_epsilon_and_ours_does_not(report):
    asked = np.log(4)
    published, ours = (retention_epsilon(1 - example_flips(example_scale(published=each))) for each in (True, False))
    # Ours, and the value recomputed for v = (10, 6, 5) and e = 4: 1.674 for 1.386.
    assert published == pytest.approx(1.674, abs=5e-4)
    assert ours == pytest.approx(asked)
    assert report[3].title == "The region of private flip probabilities"
    assert [len(chart.series) for chart in report[3].lines] == [2, 2, 4]


def test_matrices_have_the_k_asked_for(report):
    for section in report[:3]:
        for asked, allowed, epsilon, k in section.tables[1].rows:
            assert epsilon <= allowed
            assert k >= asked - 1e-9


@pytest.mark.thorough
def test_the_report_does_not_depend_on_what_ran_before(report):
    first, second = (PramHistogram(k=(2,), audits=4).run(1, 1, lambda text: None) for _ in range(2))
    rows, again = ([table.rows for section in one for table in section.tables] for one in (first, second))
    assert rows == again


def ages_records():
    domain = NumericDomain(17, 90, integer=True, cuts=tuple(range(18, 91)))
    frame = load("adult").records.frame[["age"]]
    return Microdata(frame, quasi_identifiers=("age",), domains={"age": domain})


def read(defense, seed):
    records = ages_records()
    matrix = column_matrix(defense.apply(records, generator(seed)).channel, "age", records.domain("age"))
    return histogram_from_matrix(matrix)


@pytest.mark.parametrize(("k", "least"), [(2, 15), (10, 8), (100, 4)])
def test_the_published_matrix_tells_its_histogram(k, least):
    counts = ages().counts
    shares = read(OptimalRetention(k=k), 1)
    known = ~np.isnan(shares)
    assert known.sum() >= least
    np.testing.assert_allclose(shares[known], counts[known] / counts[known].sum(), rtol=1e-9)


def test_matrices_that_are_private_or_public_do_not_tell_it():
    counts = ages().counts
    for defense in (
        OptimalRetentionFromNoisyHistogram(epsilon_matrix=0.1, epsilon_release=5.0),
        OptimalRetentionWithPrior(prior={"age": (1 + np.arange(74) ** 2).tolist()}, epsilon=5.0),
    ):
        shares = read(defense, 1)
        known = ~np.isnan(shares)
        assert known.any()
        assert np.abs(shares[known] / (counts[known] / counts[known].sum()) - 1).max() > 0.05
    assert np.isnan(read(RetentionReplacement(k=2), 1)).all()


def test_reading_a_matrix_refuses_other_shapes_and_stays_silent_on_small_ones():
    with pytest.raises(ValueError, match="square"):
        histogram_from_matrix(np.ones((2, 3)))
    assert np.isnan(histogram_from_matrix(np.eye(4))).all()


def test_law_of_releases_is_the_multinomial_one():
    # Frequencies of 40,000 draws within 5 standard errors of their probabilities, fixed seed.
    retention, rng = np.array([0.8, 0.5, 0.6]), generator(1)
    law = released_law((2, 1, 0), retention)
    assert law.sum() == pytest.approx(1)
    columns = transition_matrix(retention).T
    drawn = rng.multinomial(2, columns[0], 40_000) + rng.multinomial(1, columns[1], 40_000)
    seen = np.zeros_like(law)
    np.add.at(seen, (drawn[:, 0], drawn[:, 1]), 1 / 40_000)
    assert (np.abs(seen - law) <= 5 * np.sqrt(law / 40_000) + 1e-12).all()


@pytest.mark.parametrize(("n", "found"), [(4, 3.19), (6, 3.59)])
def test_the_papers_form_is_caught_exactly(n, found):
    assert secret_matrix_epsilon(n, 3, lambda counts: optimal_retention(counts, 1.0)) == pytest.approx(found, abs=0.005)


def test_private_forms_survive_the_exact_audit():
    assert secret_matrix_epsilon(4, 3, lambda counts: optimal_retention((3, 2, 1), 1.0)) <= 1 + 1e-9
    total = noisy_histogram_epsilon(2, 3, 0.3, 0.7, 2)
    assert 0.9 < total <= 1 + 1e-9


@pytest.mark.parametrize("runs", [60, pytest.param(300, marks=pytest.mark.long)])
def test_the_sampling_audit_catches_what_it_should_and_nothing_else(runs):
    # Each lower bound exceeds the true epsilon with probability at most 5 % for a random seed; the seeds are fixed.
    def noisy(level):
        return lambda counts, rng: optimal_retention(noisy_histogram(counts, level, rng), 0.4)

    assert sampled_epsilon(lambda counts, rng: optimal_retention(counts, 0.8), 60, generator(1)) > 0.8
    # With 60 runs the least of six seeds finds 1.17.
    assert sampled_epsilon(noisy(6.0), runs, generator(2)) > 0.8
    assert sampled_epsilon(noisy(0.4), runs, generator(3)) <= 0.8
    for number, tune in enumerate((retention_by_objective, retention_by_output)):
        assert sampled_epsilon(lambda counts, rng, f=tune: f(counts, 0.4, 0.4, rng), runs, generator(4, number)) <= 0.8


def test_the_report_says_so(report):
    table = tables(report)["The distinguishing audit", "Exactly"]
    assert [row[-1] for row in table.rows] == ["refuted", "refuted", "survives", "survives"]


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.counts, self.links = {}, []

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.links += [value for name, value in attributes if name in ("src", "href") and not value.startswith("data:")]


def test_the_page_works_offline(report):
    text = render_report("Small <one>", {"plays": "12"}, report)
    page = Page()
    page.feed(text)
    assert page.links == []
    assert "script" not in page.counts
    assert not re.search(r"https?://", text.replace('xmlns="http://www.w3.org/2000/svg"', ""))
    assert "Small &lt;one&gt;" in text
    assert sum(len(section.bars) for section in report) == 3 * 7 + 2
    assert sum(len(section.lines) for section in report) == 3
    assert page.counts["svg"] == sum(len(section.bars) + len(section.lines) for section in report)
    assert page.counts["table"] == sum(len(section.tables) for section in report)
    assert "prefers-color-scheme: dark" in text


def test_a_report_in_every_form():
    sections = [Section("S", ("text",), (Table("T", ("a", "b"), [("x", 0.25), ("y", None)], 2, "note"),))]
    assert ".25" in report_to_terminal(sections)
    assert "note" in report_to_terminal(sections)
    assert "|" in report_to_markdown(sections)
    assert list(csv.reader(io.StringIO(report_to_csv(sections))))[1:] == [
        ["S", "T", "1", "a", "x"],
        ["S", "T", "1", "b", "0.25"],
        ["S", "T", "2", "a", "y"],
        ["S", "T", "2", "b", ""],
    ]
    assert json.loads(report_to_json(sections))[0]["rows"] == [["x", 0.25], ["y", None]]
    bars = Section("S", bars=(Bars("B", [0, 5, 20], [1, 1, 1], 10, ("first", "last")),))
    assert "first" in render_report("R", {}, [bars])


@pytest.mark.thorough
def test_the_command_runs_an_experiment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, page = tmp_path / "small.toml", tmp_path / "page.html"
    path.write_text(SMALL.replace("[2, 10, 100]", "[2]"))
    options = ["--plays", "1", "--html", str(page), "--format", "json", "--seed", "2"]
    result = CliRunner().invoke(cli, ["run", str(path), *options])
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)) == 14
    assert "Small &lt;one&gt;" in page.read_text(encoding="utf-8")
    valid = CliRunner().invoke(cli, ["validate", str(path)])
    assert "experiment 'small', 2 plays: valid" in valid.output


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (SMALL, ["-d", "Mondrian"], "takes no --defense"),
        (SMALL, ["bank"], "must be run alone"),
        (SMALL.replace("k = [2, 10, 100]", "k = [1]"), [], "k must be an integer of at least 2"),
        (SMALL.replace("k = [2, 10, 100]", "k = [5000]"), [], r"k must be a finite number in \[1, 4405\]"),
        (SMALL.replace("k =", "epsilon ="), [], "no parameter 'epsilon'"),
        (SMALL.replace("PramHistogram", "PramHistory"), [], "did you mean 'PramHistogram'"),
        (SMALL.replace("plays", "play"), [], r"table \[scenario\], key 'play': unknown key; did you mean 'plays'\?"),
        (SMALL, ["--html", "no/such/folder/page.html"], "there is no folder"),
    ],
)
def test_bad_input_is_named(tmp_path, monkeypatch, text, arguments, message):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(text)
    result = CliRunner().invoke(cli, ["run", str(path), *arguments])
    assert result.exit_code == 2
    assert re.search(message, " ".join(result.output.split()))


def test_parameters_are_checked():
    for bad in ({"k": ()}, {"k": "2"}, {"k": (0,)}, {"audits": 1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            PramHistogram(**bad)


def test_shipped_scenarios_read():
    assert read_experiment("pram-histogram").plays == 100
    assert read_experiment("bank-pram") is None
    with pytest.raises(ValueError, match="an experiment"):
        read_plan("pram-histogram")
    plan = read_plan("bank-pram")
    assert set(plan.dataset.records.frame.columns) == {"job", "marital", "education", "y"}
    assert read_plan("bank-pk").games[0].column == "marital"


@pytest.mark.thorough
def test_all_forms_of_pram_play_and_guaranteed_pk_bounds_what_is_measured():
    plan = read_plan("bank-pram")
    forms = {type(entry.method).__name__ for entry in plan.defenses}
    assert forms == {
        "Identity",
        "RetentionReplacement",
        "OptimalRetention",
        "OptimalRetentionWithPrior",
        "OptimalRetentionFromNoisyHistogram",
        "OptimalRetentionByObjective",
        "OptimalRetentionByOutput",
        "OptimalMatrix",
    }
    game = plan.games[0]
    attack = plan.filtered([], ["LikelihoodAssignment"]).attacks[0].method
    for k in (2, 10):
        rates = [
            scored(RetentionReplacement(k=k), attack, game, generator(k, "play", n))["reidentification"].rate
            for n in range(3)
        ]
        # 300 rows; the bound 1/k holds for any adversary, and three standard errors are .03 at most.
        assert np.mean(rates) <= 1 / k + 0.03


@pytest.mark.thorough
def test_every_defense_of_the_banks_columns_plays():
    plan = read_plan("bank-pram")
    attack = plan.filtered([], ["LikelihoodAssignment"]).attacks[0].method
    for entry in plan.defenses:
        rate = scored(entry.method, attack, plan.games[0], generator(1, "play"))["reidentification"].rate
        assert 0 <= rate <= 1


def test_columns_of_a_data_set():
    bank = load("bank")
    part = with_columns(bank, ["y", "job"])
    assert list(part.records.frame.columns) == ["job", "y"]
    assert (part.records.quasi_identifiers, part.records.sensitive) == (("job",), ("y",))
    assert set(part.records.domains) == {"job", "y"}
    assert part.sha256 == with_columns(bank, ["job", "y"]).sha256 != bank.sha256
    with pytest.raises(ValueError, match="no column 'jobs'"):
        with_columns(bank, ["jobs"])
    with pytest.raises(ValueError, match="twice"):
        with_columns(bank, ["job", "job"])


def test_no_protocol_beats_the_optimal_ones_and_the_degenerate_one_says_nothing(limits):
    section = limit_section(limits)
    for table in section.tables:
        rows = {str(row[0]): row[1:] for row in table.rows}
        for epsilon in ("1", "2", "4"):
            named = {name.partition(", ")[2]: row for name, row in rows.items() if name.startswith(f"ε = {epsilon},")}
            distance, error, bits = named["every column the histogram"]
            assert distance == pytest.approx(0, abs=1e-6)
            assert error is None
            assert bits == pytest.approx(0, abs=1e-9)
            least, most = named["least error"][1], named["most bits"][2]
            for name, (_, other, information) in named.items():
                assert information <= most + 1e-9, name
                assert other is None or other >= least * (1 - 1e-6), name
            assert named["optimal A-type"][1] > named["retention-replacement"][1] * 0.999
