"""Tables whose numbers are reported by mechanisms for numbers: attacks, guarantee, conformance, audit and bad input."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from number_tools import MECHANISMS

from attacks import BayesInference, LikelihoodAssignment, LikelihoodMembership
from attacks.base.attack import Knowledge
from defenses import Microdata, ReportedTable
from defenses.base.number_law import NumberLaw
from defenses.ldp.reported.reported_columns import NUMBERS, ReportedNumericColumn
from metrics.columns.cells import read_cells
from metrics.columns.domains import CategoricalDomain, NumericDomain, infer_domain
from scenarios.checks.audits import tables
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import subject
from scenarios.checks.conformance.suite import checks

NAMES = [make.__name__ for make in MECHANISMS]
AGES = NumericDomain(0, 119, integer=True, cuts=tuple(range(10, 100, 10)))
DOMAINS = {
    "age": AGES,
    "job": CategoricalDomain(("nurse", "judge", "cook")),
    "height": NumericDomain(0.4, 2.6, cuts=(1.5, 1.7, 1.9)),
    "illness": CategoricalDomain(("flu", "cold", "ulcer")),
}


def people(n, seed=0, missing=False):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"person {number}" for number in range(n)],
            "age": rng.integers(0, 120, n),
            "job": rng.choice(np.array(DOMAINS["job"].categories, dtype=object), n),
            "height": np.clip(rng.normal(1.7, 0.1, n), 0.4, 2.6),
            "illness": rng.choice(np.array(DOMAINS["illness"].categories, dtype=object), n),
        }
    )
    if missing:
        frame["age"] = frame["age"].astype(float).mask(rng.random(n) < 0.2)
    return Microdata(frame, ("name",), ("age", "job", "height"), ("illness",), DOMAINS)


def reported(numbers="PiecewiseMechanism", **parameters):
    return ReportedTable(**{"missing": "refuse", "numbers": numbers} | parameters)


def release_of(defense, records, seed=1):
    return defense.apply(records, np.random.default_rng(seed))


@pytest.mark.parametrize("splitting", ["SPL", "SMP"])
@pytest.mark.parametrize("numbers", NAMES)
def test_cells_are_numbers_and_the_rebuilt_table_has_bins(numbers, splitting):
    records = people(60, missing=True)
    release = release_of(reported(numbers, splitting=splitting, epsilon=4.0, missing="category"), records)
    assert list(release.frame.columns) == list(release.analysis.columns) == list(records.released_columns)
    for name, domain in DOMAINS.items():
        cells = read_cells(release.frame[name], domain)
        if isinstance(domain, NumericDomain):
            assert cells.plain[~cells.suppressed].all()
            assert cells.suppressed.any() == (splitting == "SMP")
        assert not read_cells(release.analysis[name], domain).suppressed.any()
    if splitting == "SPL":
        assert [str(release.frame[name].dtype) for name in ("age", "height")] == ["float64"] * 2
    logs = sum(
        part.table() for part in release.channel.likelihoods(release.frame, records.frame, dict(DOMAINS)).values()
    )
    assert np.isfinite(logs).all()
    assert release.view(np.random.default_rng(0)).analysis is None


@pytest.mark.parametrize("numbers", NAMES)
@pytest.mark.parametrize("splitting", ["SPL", "SMP"])
def test_the_guarantee_is_that_of_the_record_and_bounds_likelihoods(numbers, splitting):
    records, defense = people(40), reported(numbers, epsilon=3.0, splitting=splitting)
    ends = np.arange(40) % 2
    records = records.with_frame(records.frame.assign(age=119 * ends, height=0.4 + 2.2 * ends))
    guarantee = defense.guarantee(records)
    assert guarantee.epsilon == pytest.approx(3.0)
    assert "with numbers in their domains" in guarantee.statement
    release = release_of(defense, records)
    logs = sum(
        part.table() for part in release.channel.likelihoods(release.frame, records.frame, dict(DOMAINS)).values()
    )
    assert np.ptp(logs, axis=1).max() <= 3.0 + 1e-9
    assert np.ptp(logs, axis=1).max() > 2.5


def test_without_numbers_nothing_changes():
    records = people(50)
    first, second = (release_of(ReportedTable(epsilon=4.0, **more), records) for more in ({}, {"numbers": None}))
    pd.testing.assert_frame_equal(first.frame, second.frame)
    assert first.frame["age"].str.startswith("[").all()


def test_linkage_finds_people_and_candidates_in_the_piece_as_often_as_stated():
    records = people(300)
    release = release_of(reported(epsilon=80.0, columns=["age", "height"]), records)
    view = release.view(np.random.default_rng(0))
    claims = LikelihoodAssignment().run(view, Knowledge(records.frame, records.take([])), np.random.default_rng(2))
    assert (claims.best(np.random.default_rng(0)) == np.arange(300)).mean() > 0.99
    # One column with epsilon = 3: the own value is among the likeliest ones where the piece holds the report.
    one = Microdata(people(4000).frame[["age"]], quasi_identifiers=("age",), domains={"age": AGES})
    release = release_of(reported(epsilon=3.0), one)
    values = pd.DataFrame({"age": np.arange(120)})
    table = release.channel.likelihoods(release.frame, values, {"age": AGES})["age",].table()
    own = table[np.arange(4000), one.frame["age"]]
    expected = np.exp(1.5) / (np.exp(1.5) + 1)
    # A report outside of its own piece mostly lies in those of others; .0061 is one standard error, 5 are an alarm of
    # 6 in 10^7.
    assert abs(np.mean(own == table.max()) - expected) < 5 * 0.0061


@pytest.mark.thorough
@pytest.mark.parametrize("numbers", NAMES)
def test_attribute_inference_reaches_the_best_advantage(numbers):
    # The attacker knows whose row each is, and that both ends of the range are equally likely.
    n, epsilon = 2000, 2.0
    persons = CategoricalDomain(tuple(str(number) for number in range(n + 1)))
    domains = {"person": persons, "answer": NumericDomain(0, 1, integer=True, cuts=(1,))}
    answers = np.random.default_rng(1).permutation(np.arange(n) % 2)
    frame = pd.DataFrame({"person": np.array(persons.categories[:n], dtype=object), "answer": answers})
    records = Microdata(frame, (), ("person",), ("answer",), domains)
    others = records.with_frame(pd.DataFrame({"person": [str(n)] * 200, "answer": [0, 1] * 100}))
    view = release_of(reported(numbers, epsilon=epsilon, columns=["answer"]), records, seed=3)
    claims = BayesInference().run(view.view(np.random.default_rng(0)), Knowledge(frame[["person"]], others), None)
    guesses = read_cells(claims.values["answer"], domains["answer"])
    right = domains["answer"].codes(guesses.midpoint())[guesses.codes] == answers[claims.about]
    advantage = 2 * claims.weight[right].sum() / n - 1
    # One standard error is at most .0224; 3 comparisons in 4.5 of them: 2 in 10^5 runs raise an alarm.
    assert abs(advantage - NUMBERS[numbers](epsilon=epsilon).advantage) < 4.5 * 0.0224


@pytest.mark.thorough
def test_attacks_on_tables_run_unchanged():
    records, sample = people(60), people(200, seed=5)
    others = pd.concat([records.frame, people(60, seed=9).frame], ignore_index=True)
    for numbers in NAMES:
        for splitting in ("SPL", "SMP"):
            defense = reported(numbers, epsilon=60.0, splitting=splitting)
            view = release_of(defense, records).view(np.random.default_rng(0))
            known = Knowledge(records.frame[["age", "job", "height"]], sample)
            assert len(BayesInference().run(view, known, np.random.default_rng(0)).values) == 60
            decisions = LikelihoodMembership().run(view, Knowledge(others, sample), np.random.default_rng(0))
            scores = np.nan_to_num(decisions.scores, neginf=-1e9)
            if splitting == "SPL":
                assert np.median(scores[:60]) > np.median(scores[60:])


def test_association_with_a_number_survives_in_the_rebuilt_table():
    n, rng = 3000, np.random.default_rng(2)
    ages = rng.integers(0, 120, n)
    job = np.where(ages < 40, "nurse", np.where(ages < 80, "judge", "cook")).astype(object)
    frame = pd.DataFrame({"age": ages, "job": job})
    records = Microdata(frame, quasi_identifiers=("age", "job"), domains={key: DOMAINS[key] for key in frame})
    rebuilt = release_of(reported(epsilon=12.0), records).analysis
    bins = read_cells(rebuilt["age"], AGES)
    middle = bins.midpoint()[bins.codes]
    # Jobs follow from ages. Independent columns would have equal means of 60.
    means = [middle[rebuilt["job"] == name].mean() for name in ("nurse", "judge", "cook")]
    assert means[0] < 35
    assert means[2] > 85


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("numbers", NAMES)
def test_the_mean_of_cells_estimates_the_mean(numbers):
    n = 20_000
    records = Microdata(people(n).frame[["age"]], quasi_identifiers=("age",), domains={"age": AGES})
    cells = release_of(reported(numbers, epsilon=1.0), records).frame["age"]
    ages = records.frame["age"]
    deviation = 59.5 * np.sqrt(NUMBERS[numbers](epsilon=1.0).variance((ages / 59.5 - 1).to_numpy()).mean() / n)
    # 3 comparisons in 4.5 standard errors: 2 in 10^5 runs raise an alarm.
    assert abs(cells.mean() - ages.mean()) < 4.5 * deviation


def test_constant_columns_and_one_bin():
    frame = pd.DataFrame({"fixed": [5, 5, 5], "share": [0.0, 0.5, 1.0]})
    domains = {"fixed": NumericDomain(5, 5, integer=True), "share": NumericDomain(0, 1)}
    records = Microdata(frame, quasi_identifiers=("fixed", "share"), domains=domains)
    release = release_of(reported(epsilon=50.0), records)
    assert release.frame["fixed"].tolist() == ["[5,5]"] * 3
    assert release.frame["share"].tolist() == pytest.approx([0.0, 0.5, 1.0], abs=1e-6)
    assert release.analysis["share"].tolist() == ["[0,1]"] * 3
    with_missing = release_of(reported(epsilon=50.0, missing="category"), records)
    assert with_missing.frame["fixed"].tolist() == ["[5,5]"] * 3
    for rows in ([], [1]):
        assert len(release_of(reported(), records.take(rows)).frame) == len(rows)


class PiecewiseTable(ReportedTable):
    """A table of piecewise reports, for the conformance suite."""

    @classmethod
    def example(cls):
        return cls(numbers="PiecewiseMechanism")


class HybridTable(ReportedTable):
    """A table of hybrid reports of one column a person, for the conformance suite."""

    @classmethod
    def example(cls):
        return cls(numbers="HybridMechanism", splitting="SMP", epsilon=5.0)


CHECKS = [(method, *check) for method in (PiecewiseTable, HybridTable) for check in checks(method)]


# It states no k, l and t, so that 20 tables show only that it releases them.
@pytest.mark.long_for("PiecewiseTable meets its k, l and t on 20 tables")
@pytest.mark.thorough_beyond(12)
@pytest.mark.long_beyond(len(list(checks(PiecewiseTable))))
@pytest.mark.parametrize(
    "run", [run for *_, run in CHECKS], ids=[f"{cls.__name__} {title}" for cls, title, _ in CHECKS]
)
def test_conformance(run, monkeypatch):
    # Rows that follow from other records show in fewer releases than users' methods get.
    monkeypatch.setattr(tables, "RELEASES", 60)
    run()


@pytest.mark.thorough
@pytest.mark.long_for("HybridMechanism", "TwoPointMechanism")
@pytest.mark.parametrize("numbers", NAMES)
@pytest.mark.usefixtures("declarations_are_believed")
def test_an_audit_holds_and_catches_half_the_noise(numbers, monkeypatch):
    # A correct defense fails with probability at most 0.001; the seed is fixed.
    defense = ReportedTable(numbers=numbers, epsilon=2.0)
    honest = audit(subject(defense), runs=8_000, rng=np.random.default_rng(1))
    assert honest.holds
    # The record changes in a category and a number, with epsilon = 1 each, and events of both are learned one by one.
    assert honest.bound > 0.75
    monkeypatch.setattr(
        ReportedNumericColumn,
        "privatize",
        lambda self, values, rng: self.part.published(
            NumberLaw(6 * self.protocol.epsilon, self.protocol.share).draw(self.part.scaled(values), rng)
        ),
    )
    # Even 3,000 runs bound this epsilon from below by more than 4.
    assert not audit(subject(defense), runs=3_000, rng=np.random.default_rng(1)).holds


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"numbers": "Laplace"}, "numbers must be one of PiecewiseMechanism, HybridMechanism, TwoPointMechanism"),
        ({"splitting": "RS+FD"}, "numbers: RS.FD sends reports of random values"),
        ({"epsilon": 0}, "epsilon must be"),
        ({"epsilon": np.nan}, "epsilon must be"),
        ({"epsilon": np.inf}, "epsilon must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        reported(**parameters)


def test_bad_values_name_column_and_row_but_not_the_value():
    records = people(5)

    def broken(column, value):
        values = records.frame[column].astype(object)
        values[3] = value
        return records.with_frame(records.frame.assign(**{column: values}))

    for value in (-1, 120.5, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"column 'age' holds no number of its domain \[0, 119\] in row 4"):
            reported().check(broken("age", value))
    for missing in ("refuse", "category"):
        with pytest.raises(ValueError, match="columns: column 'height' holds no number of its domain") as error:
            reported(missing=missing).apply(broken("height", "tall"), np.random.default_rng(0))
        assert "tall" not in str(error.value)
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="missing: column 'age' has no value in row 4"):
        reported().check(broken("age", None))
    reported(missing="category").check(broken("age", None))
    inferred = replace(records, domains={**DOMAINS, "age": infer_domain(records.frame["age"])})
    with pytest.raises(ValueError, match="columns: the domain of 'age' is read from the records; declare it"):
        reported().check(inferred)
