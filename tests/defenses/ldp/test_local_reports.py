"""LocalReports: its reports, its guarantee and its refusals."""

import math

import numpy as np
import pandas as pd
import pytest

from defenses import LocalReports, Microdata, ReportsRelease
from defenses.ldp.local_reports import protocols
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.checks.conformance.suite import checks


def people(count=200, **roles):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "name": [f"person {row}" for row in range(count)],
            "age": rng.integers(0, 90, count),
            "answer": rng.choice(np.array(["no", "yes"], dtype=object), count),
            "city": rng.choice(np.array(["Kyōto", "Nara", "Uji"], dtype=object), count),
        }
    )
    domains = {
        "age": NumericDomain(0, 89, integer=True, cuts=(20, 40, 60)),
        "answer": CategoricalDomain(("no", "yes")),
        "city": CategoricalDomain(("Kyōto", "Nara", "Uji", "Ōsaka")),
    }
    return Microdata(frame, **{"identifiers": ("name",), "sensitive": ("city",), "domains": domains, **roles})


@pytest.mark.parametrize("run", [pytest.param(run, id=title) for title, run in checks(LocalReports)])
def test_conforms(run):
    run()


@pytest.mark.parametrize("name", protocols())
def test_every_protocol_publishes(name):
    records = people()
    options = {"m": 16, "k": 4} if "Sketch" in name else None
    column = "answer" if name == "BinaryRandomizedResponse" else "city"
    defense = LocalReports(protocol=name, epsilon=2.0, column=column, rounds=3, options=options)
    before = records.frame.copy()
    release = defense.apply(records, np.random.default_rng(0))
    pd.testing.assert_frame_equal(records.frame, before)
    assert isinstance(release, ReportsRelease)
    assert release.kind == defense.kind == "reports"
    assert len(release.reports) == 3
    assert type(release.protocol).__name__ == name
    assert release.protocol.d == (2 if column == "answer" else 4)
    for reports in release.reports:
        assert len(reports) == 200
        assert np.isfinite(release.protocol.estimate(reports)).all()
    again = defense.apply(records, np.random.default_rng(0))
    for mine, other in zip(release.reports, again.reports, strict=True):
        assert all((part == other.parts[key]).all() for key, part in mine.parts.items())


def test_numbers_are_reported_in_their_public_bins():
    records = people(20_000)
    defense = LocalReports(protocol="GeneralizedRandomizedResponse", epsilon=6.0, column="age")
    release = defense.apply(records, np.random.default_rng(0))
    counts = np.bincount(np.digitize(records.frame["age"], [20, 40, 60]), minlength=4)
    variance = release.protocol.variance(20_000, counts / 20_000)
    assert (np.abs(release.protocol.estimate(release.reports[0]) - counts) <= 5 * np.sqrt(variance)).all()


def test_rounds_are_drawn_anew_unless_memoized():
    records = people()
    fresh, memoized = (LocalReports(rounds=3, memoize=memoize) for memoize in (False, True))
    for defense, same in ((fresh, False), (memoized, True)):
        seeds = [reports.parts["seed"] for reports in defense.apply(records, np.random.default_rng(0)).reports]
        assert all(np.array_equal(seeds[0], other) == same for other in seeds[1:])


def test_guarantee():
    records = people()
    assert LocalReports(epsilon=0.5).guarantee(records).epsilon == 0.5
    assert LocalReports(epsilon=0.5, rounds=4).guarantee(records).epsilon == 2.0
    memoized = LocalReports(epsilon=0.5, rounds=4, memoize=True).guarantee(records)
    assert memoized.epsilon == 0.5
    assert "'city'" in memoized.statement
    assert str(memoized) == "ε=0.5, δ=0"


def test_which_column():
    assert LocalReports().apply(people(), np.random.default_rng(0)).protocol.d == 4
    alone = people().with_frame(people().frame)
    alone = Microdata(alone.frame[["age"]], domains={"age": alone.domains["age"]})
    assert LocalReports().apply(alone, np.random.default_rng(0)).protocol.d == 4
    with pytest.raises(ValueError, match="column: name one of age, answer, city"):
        LocalReports().check(people(sensitive=()))
    for bad in ("no such", "name"):
        with pytest.raises(ValueError, match="column: there is no released column"):
            LocalReports(column=bad).check(people())
    undeclared = people(domains={})
    with pytest.raises(ValueError, match="is read from the records; declare it"):
        LocalReports(column="age").apply(undeclared, np.random.default_rng(0))


def test_missing_values():
    records = people()
    frame = records.frame.copy()
    frame.loc[[3, 5], "city"] = None
    records = records.with_frame(frame)
    with pytest.raises(ValueError, match="missing: column 'city' has no value in row 4"):
        LocalReports().apply(records, np.random.default_rng(0))
    defense = LocalReports(protocol="GeneralizedRandomizedResponse", epsilon=50.0, missing="category")
    release = defense.apply(records, np.random.default_rng(0))
    assert release.protocol.d == 5
    assert np.flatnonzero(release.reports[0].parts["value"] == 4).tolist() == [3, 5]
    # The domain has one more value even if none is missing; otherwise its size would disclose missing values.
    assert defense.apply(people(), np.random.default_rng(0)).protocol.d == 5
    with pytest.raises(ValueError, match="two values, column 'answer' has 3 with the missing one"):
        LocalReports(protocol="BinaryRandomizedResponse", column="answer", missing="category").check(people())


def test_unknown_categories_and_tiny_tables():
    frame = people().frame.copy()
    frame.loc[0, "city"] = "Atlantis"
    with pytest.raises(ValueError, match="column: 'city' holds a category that its domain does not declare") as refusal:
        LocalReports().apply(people().with_frame(frame), np.random.default_rng(0))
    assert "Atlantis" not in str(refusal.value)
    for count in (0, 1):
        release = LocalReports().apply(people(count), np.random.default_rng(0))
        assert len(release.reports[0]) == count


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"protocol": "Mondrian"}, "protocol"),
        ({"protocol": "SequenceFragmentPuzzle"}, "protocol"),
        ({"protocol": None}, "protocol"),
        ({"epsilon": 0}, "epsilon"),
        ({"column": 3}, "column"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": 1e6}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 1.5}, "rounds"),
        ({"memoize": 1}, "memoize"),
        ({"missing": "drop"}, "missing"),
        ({"options": {"m": 4}}, "options"),
        ({"options": {"d": 4}}, "options"),
        ({"options": {"epsilon": 4}}, "options"),
        ({"options": [1]}, "options"),
        ({"protocol": "CountMeanSketch", "options": {"m": 0}}, "m must"),
    ],
)
def test_bad_parameters(parameters, name):
    with pytest.raises(ValueError, match=name) as caught:
        LocalReports(**parameters)
    assert "\n" not in str(caught.value)
