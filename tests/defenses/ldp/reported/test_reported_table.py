"""Tables of local reports: cells, guarantees, attacks that read the channel, and bad input."""

import numpy as np
import pandas as pd
import pytest

from attacks import BayesInference, LikelihoodAssignment, LikelihoodMembership
from attacks.base.attack import Knowledge
from defenses import Microdata, Pipeline, ReportedTable, RetentionReplacement
from defenses.ldp.best import CANDIDATES
from defenses.ldp.local_reports import protocols
from metrics.columns.cells import read_cells
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios import CandidateFile, play
from scenarios.checks.audits import tables
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import subject
from scenarios.checks.conformance.suite import checks

DOMAINS = {
    "age": NumericDomain(0, 119, integer=True, cuts=tuple(range(10, 100, 10))),
    "job": CategoricalDomain(("nurse", "a|b", "[x]", "judge", "cook")),
    "city": CategoricalDomain(("here", "there")),
    "planet": CategoricalDomain(("earth",)),
    "illness": CategoricalDomain(("flu", "cold", "ulcer")),
}
SETS = [make.__name__ for make in CANDIDATES]
SKETCH = {"m": 16, "k": 8}


def skewed(size):
    weights = 0.5 ** np.arange(size)
    return weights / weights.sum()


def people(n, seed=0, missing=False):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"person {number}" for number in range(n)],
            "age": np.minimum(rng.exponential(30, size=n), 119).astype(int),
            **{
                name: rng.choice(np.array(DOMAINS[name].categories, dtype=object), size=n, p=skewed(DOMAINS[name].size))
                for name in ("job", "city", "planet", "illness")
            },
        }
    )
    if missing:
        frame["age"] = frame["age"].astype(float).mask(rng.random(n) < 0.2)
        frame["job"] = frame["job"].mask(rng.random(n) < 0.2, None)
    return Microdata(frame, ("name",), ("age", "job", "city", "planet"), ("illness",), DOMAINS)


def reported(**parameters):
    return ReportedTable(**{"missing": "refuse"} | parameters)


def defended(protocol, **parameters):
    options = SKETCH if "m" in protocols()[protocol].parameter_names() else None
    return reported(protocol=protocol, options=options, **parameters)


@pytest.mark.thorough_beyond(9)
@pytest.mark.parametrize("splitting", ["SPL", "SMP", "RS+FD"])
@pytest.mark.parametrize("protocol", SETS)
def test_every_protocol_releases_readable_sets_and_a_rebuilt_table(protocol, splitting):
    records = people(40, missing=True)
    release = defended(protocol, splitting=splitting, epsilon=3.0, missing="category").apply(
        records, np.random.default_rng(1)
    )
    assert list(release.frame.columns) == list(release.analysis.columns) == list(records.released_columns)
    for name, domain in DOMAINS.items():
        read_cells(release.frame[name], domain)
        rebuilt = read_cells(release.analysis[name], domain)
        assert not rebuilt.suppressed.any()
    logs = sum(
        part.table() for part in release.channel.likelihoods(release.frame, records.frame, dict(DOMAINS)).values()
    )
    assert np.isfinite(logs).all()
    assert release.view(np.random.default_rng(0)).analysis is None


def test_a_cell_of_noisy_numbers_is_the_value_of_the_largest():
    records = people(40_000)
    columns = ["job", "city", "illness"]
    release = defended("SummationHistogramEncoding", epsilon=9.0, columns=columns).apply(
        records, np.random.default_rng(1)
    )
    rng = np.random.default_rng(2)
    for name in columns:
        domain = DOMAINS[name]
        d = domain.size
        values = domain.codes(records.frame[name])
        cells = read_cells(release.frame[name], domain)
        assert cells.plain.all()
        released = cells.contains(np.array(domain.categories, dtype=object)).argmax(axis=1)[cells.codes]
        # The encoding's own reports, whose largest number is found by sorting with random ties.
        numbers = protocols()["SummationHistogramEncoding"](epsilon=3.0, d=d).privatize(values, rng).parts["number"]
        largest = (numbers + rng.random(numbers.shape)).argmax(axis=1)
        counts = [np.bincount(values * d + cell, minlength=d * d) for cell in (released, largest)]
        # Both checks: 76 comparisons in 5 standard errors, or the margin of 1: 5 in 10^5 runs raise an alarm.
        assert (np.abs(counts[0] - counts[1]) <= 5 * np.sqrt(counts[0] + counts[1])).all()
        # The channel's likelihoods are the probabilities of the cells under each value.
        each = pd.DataFrame({c: np.resize(np.array(DOMAINS[c].categories, dtype=object), d) for c in columns})
        table = release.channel.likelihoods(each, each, dict(DOMAINS))[name,].table()
        expected = np.exp(table).T * np.bincount(values, minlength=d)[:, None]
        assert np.exp(table).sum(axis=0) == pytest.approx(1.0)
        assert (np.abs(counts[0].reshape(d, d) - expected) <= 5 * np.sqrt(expected) + 1).all()


@pytest.mark.parametrize("splitting", ["SPL", "SMP", "RS+FD"])
def test_cells_of_noisy_numbers_keep_the_guarantee_and_less(splitting):
    records = people(40)
    defense = defended("SummationHistogramEncoding", epsilon=3.0, splitting=splitting)
    assert defense.guarantee(records).epsilon == pytest.approx(3.0)
    release = defense.apply(records, np.random.default_rng(1))
    parts = release.channel.likelihoods(release.frame, people(2000, seed=3).frame, dict(DOMAINS)).values()
    ranges = np.ptp(sum(part.table() for part in parts), axis=1)
    # The largest of the numbers has about half of their epsilon.
    assert 1.2 < ranges.max() < 2.0


class NoisyNumbersTable(ReportedTable):
    """A table whose cells are the largest of noisy numbers, for the conformance suite."""

    @classmethod
    def example(cls):
        return cls(protocol="SummationHistogramEncoding")


CHECKS = list(checks(NoisyNumbersTable))


# It states no k, l and t, so that 20 tables show only that it releases them.
@pytest.mark.long_for("meets its k, l and t on 20 tables")
@pytest.mark.thorough_beyond(17)
@pytest.mark.parametrize("run", [run for *_, run in CHECKS], ids=[title for title, _ in CHECKS])
def test_conformance_of_noisy_numbers(run, monkeypatch):
    # Rows that follow from other records show in fewer releases than users' methods get.
    monkeypatch.setattr(tables, "RELEASES", 60)
    run()


@pytest.mark.thorough
@pytest.mark.usefixtures("declarations_are_believed")
def test_an_audit_of_noisy_numbers_holds():
    # A correct defense fails with probability at most 0.001; the seed is fixed.
    outcome = audit(subject(NoisyNumbersTable.example()), runs=40_000, rng=np.random.default_rng(1))
    assert outcome.holds
    assert outcome.bound > 0.2


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize("protocol", SETS)
def test_at_a_large_epsilon_reports_identify_people_where_protocols_tell_the_truth(protocol):
    records = people(30)
    release = defended(protocol, epsilon=100.0).apply(records, np.random.default_rng(1)).view(np.random.default_rng(0))
    rng = np.random.default_rng(2)
    claims = LikelihoodAssignment().run(release, Knowledge(records.frame, records.take([])), rng)
    codes = np.column_stack([DOMAINS[name].codes(records.frame[name]) for name in DOMAINS])
    right = (codes[claims.best(rng)] == codes).all(axis=1).mean()
    # The protocols that tell the truth for certain at epsilon = 25 a column; the others set half of the bits or hash.
    truthful = {"GeneralizedRandomizedResponse", "SymmetricUnaryEncoding", "SubsetSelection", "HadamardResponse"}
    assert right > 0.2
    if protocol in truthful:
        assert right == 1.0


def test_randomized_response_under_a_split_budget_is_pram():
    records = people(50)
    columns = ("age", "job", "city", "illness")
    split = reported(epsilon=4.0, columns=columns)
    replaced = RetentionReplacement(epsilon=4.0, columns=columns)
    first, second = (defense.apply(records, np.random.default_rng(0)) for defense in (split, replaced))
    ours, theirs = (
        release.channel.likelihoods(second.frame, records.frame, dict(DOMAINS)) for release in (first, second)
    )
    for name in columns:
        np.testing.assert_allclose(ours[name,].table(), theirs[name,].table(), atol=1e-12)
    assert split.guarantee(records).epsilon == pytest.approx(replaced.guarantee(records).epsilon)


@pytest.mark.parametrize(
    ("splitting", "amplified"), [("SPL", False), ("SMP", False), ("RS+FD", False), ("RS+FD", True)]
)
def test_the_guarantee_is_that_of_the_record(splitting, amplified):
    guarantee = reported(epsilon=2.0, splitting=splitting, amplified=amplified).guarantee(people(5))
    # Four columns have more than one value.
    assert guarantee.epsilon == pytest.approx(np.log1p(4 * np.expm1(2.0)) if amplified else 2.0)
    assert "local" in guarantee.statement


def test_columns_that_are_not_reported_are_released_as_they_are():
    records = people(20)
    release = reported(epsilon=1.0, columns=["job"]).apply(records, np.random.default_rng(0))
    assert release.frame["age"].tolist() == records.frame["age"].tolist()
    assert set(release.frame["job"]) <= {"nurse", "a\\|b", "\\[x]", "judge", "cook"}
    assert "other columns are released as they are" in (
        reported(epsilon=1.0, columns=["job"]).guarantee(records).statement
    )


@pytest.mark.parametrize("splitting", ["SPL", "SMP", "RS+FD"])
def test_columns_of_one_value_need_no_report(splitting):
    records = people(20)
    defense = reported(columns=["planet"], splitting=splitting)
    release = defense.apply(records, np.random.default_rng(0))
    assert set(release.frame["planet"]) == set(release.analysis["planet"]) == {"earth"}
    assert defense.guarantee(records).epsilon == 0.0


def test_missing_values_are_reported_in_sets():
    records = people(200, missing=True)
    defense = reported(protocol="SymmetricUnaryEncoding", epsilon=8.0, missing="category", columns=["age", "job"])
    release = defense.apply(records, np.random.default_rng(0))
    cells = read_cells(release.frame["job"], DOMAINS["job"])
    supported = cells.contains([None])[cells.codes, 0] & ~cells.suppressed[cells.codes]
    absent = records.frame["job"].isna().to_numpy()
    # The own bit is kept with probability .88, another one is set with .12; n = 40 and 160 or so.
    assert supported[absent].mean() > 0.6
    assert supported[~absent].mean() < 0.3
    assert release.analysis["job"].isna().mean() == pytest.approx(absent.mean(), abs=0.12)


def test_attacks_on_tables_run_unchanged():
    records = people(60)
    sample = people(200, seed=5)
    for splitting in ("SPL", "SMP", "RS+FD"):
        defense = reported(protocol="OptimizedLocalHashing", epsilon=30.0, splitting=splitting)
        view = defense.apply(records, np.random.default_rng(1)).view(np.random.default_rng(0))
        known = Knowledge(records.frame[["age", "job", "city", "planet"]], sample)
        claims = BayesInference().run(view, known, np.random.default_rng(0))
        assert len(claims.values) == 60
        others = pd.concat([records.frame, people(60, seed=9).frame], ignore_index=True)
        decisions = LikelihoodMembership().run(view, Knowledge(others, sample), np.random.default_rng(0))
        assert np.isfinite(decisions.scores).all()


def test_bayes_inference_reads_the_sensitive_reports():
    records = people(30)
    release = reported(protocol="OptimizedUnaryEncoding", epsilon=80.0).apply(records, np.random.default_rng(1))
    known = Knowledge(records.frame[["age", "job", "city", "planet"]], people(500, seed=5))
    right = []
    for view in (release, release.without_channel()):
        claims = BayesInference().run(view.view(np.random.default_rng(0)), known, np.random.default_rng(0))
        right.append((claims.values["illness"].to_numpy() == records.frame["illness"].to_numpy()).mean())
    assert right[0] > right[1] + 0.1, right


@pytest.mark.thorough
def test_it_plays_beside_pram_in_the_candidate_file_game():
    game = CandidateFile(records=people(400), originals=40, candidates=80, auxiliary=50, held_out=50)
    outcome = play(reported(epsilon=40.0), LikelihoodAssignment(), game, np.random.default_rng(1))
    pram = play(
        RetentionReplacement(epsilon=40.0, columns=["age", "job", "city", "illness"]),
        LikelihoodAssignment(),
        game,
        np.random.default_rng(1),
    )
    assert outcome.scores["reidentification"].rate == pytest.approx(pram.scores["reidentification"].rate, abs=0.25)
    assert outcome.utility["marginals"] > 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"splitting": "split"}, "splitting must be one of 'SPL', 'SMP', 'RS"),
        ({"fakes": "none"}, "fakes must be one of 'random', 'blank'"),
        ({"fakes": "blank"}, "they are about RS"),
        ({"amplified": True}, "they are about RS"),
        ({"amplified": 1, "splitting": "RS+FD"}, "amplified must be true or false"),
        ({"protocol": "Nothing"}, "protocol must be one of"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"columns": "job"}, "columns must be a list"),
        ({"columns": []}, "columns must name at least one column"),
        ({"options": {"size": 3}}, "options: GeneralizedRandomizedResponse has no option 'size'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        reported(**parameters)


def test_domains_must_be_public_and_small_enough():
    frame = pd.DataFrame({"job": ["a", "b"], "zip": ["1", "2"]})
    with pytest.raises(ValueError, match="columns: the domain of 'job' is read from the records; declare it"):
        reported().check(Microdata(frame))
    large = {"zip": CategoricalDomain(tuple(str(number) for number in range(5000)))}
    records = Microdata(frame[["zip"]], domains=large)
    with pytest.raises(ValueError, match="'zip' has 5000 values, and sets of OptimizedUnaryEncoding may have 4096"):
        reported(protocol="OptimizedUnaryEncoding").check(records)
    reported().check(records)
    with pytest.raises(ValueError, match="fakes: OptimizedLocalHashing cannot report no value"):
        reported(protocol="OptimizedLocalHashing", splitting="RS+FD", fakes="blank").check(people(3))
    with pytest.raises(ValueError, match="fakes: SummationHistogramEncoding cannot report no value"):
        reported(protocol="SummationHistogramEncoding", splitting="RS+FD", fakes="blank").check(people(3))
    with pytest.raises(ValueError, match=r"BinaryRandomizedResponse is for two values, column 'age' has 10$"):
        reported(protocol="BinaryRandomizedResponse").check(people(3))
    with pytest.raises(ValueError, match="column 'city' has 3 with the missing one; set missing to"):
        reported(protocol="BinaryRandomizedResponse", columns=["city"], missing="category").check(people(3))
    with pytest.raises(ValueError, match="missing: column 'age' has no value in row"):
        reported().check(people(30, missing=True))
    unseen = people(3).frame.assign(job="pilot")
    with pytest.raises(ValueError, match="columns: 'job' holds a category that its domain does not declare"):
        reported().check(people(3).with_frame(unseen))


def test_a_pipeline_refuses_cells_that_were_generalized_before():
    pipeline = Pipeline(steps=[reported(epsilon=1.0), reported(epsilon=1.0)])
    with pytest.raises(ValueError, match="holds released cells already"):
        pipeline.apply(people(20), np.random.default_rng(0))
