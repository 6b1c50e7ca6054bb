"""Releases from counted combinations equal those in memory."""

import numpy as np
import pandas as pd
import pytest
from counted_tools import ROLES, as_cells, people, released_rows

from defenses import GlobalRecoding, Incognito, Mondrian, Pipeline, RecordSuppression
from scenarios.large.combinations import TooManyCombinations
from scenarios.large.counted_forms import counted_form
from scenarios.large.counted_release import counted_release, counted_table
from scenarios.large.records import large_records
from scenarios.tables.dataset import load_table


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("scenarios.large.records.BLOCK", 64)


@pytest.fixture
def stored(tmp_path):
    """Write a table and its roles; return both paths."""

    def write(frame, roles=ROLES):
        frame.to_parquet(tmp_path / "people.parquet")
        (tmp_path / "roles.toml").write_text(roles)
        return tmp_path / "people.parquet", tmp_path / "roles.toml"

    return write


def check_equal(defense, table, roles):
    """Compare rows, origins, guarantee and channel of both ways, and return the release in memory."""
    records = load_table(table, roles).records
    expected = defense.apply(records, np.random.default_rng(0))
    with large_records(table, roles) as large:
        release = counted_release(counted_form(defense), large)
        rows, origin = released_rows(release)
    pd.testing.assert_frame_equal(rows, as_cells(expected.frame))
    np.testing.assert_array_equal(origin, expected.origin)
    assert release.guarantee == defense.guarantee(records)
    assert release.channel == expected.channel
    for name in rows:
        kind = release.cells[name].kind if name in release.cells else np.dtype(float)
        assert (kind.kind == "O") == (expected.frame[name].dtype.kind == "O"), name
    return expected, release


def with_and_without_missing(every):
    """Each of the options with missing values or without, in turn; the other case is long."""
    for number, options in enumerate(every):
        for missing in (False, True):
            marks = [] if missing == bool(number % 2) else [pytest.mark.long]
            yield pytest.param(options, missing, id=f"{missing}-{options}", marks=marks)


INCOGNITO = [
    {},
    {"k": 1},
    {"k": 20, "max_suppression": 0.0},
    {"k": 8, "loss": "discernibility", "max_suppression": 0.2},
    {"k": 5, "loss": "average_class_size"},
    {"k": 5, "loss": "precision", "columns": ["town", "job", "age"]},
    {"k": 4, "l": 2},
    {"k": 4, "l": 1.8, "diversity": "entropy"},
    {"k": 4, "l": 2, "diversity": "recursive", "c": 4.0, "max_suppression": 0.1},
    {"k": 4, "t": 0.3},
    {"k": 4, "t": 0.3, "distance": "ordered"},
    {"k": 4, "alpha": 0.8},
    {"k": 3, "loss": "height", "max_suppression": 1.0},
]


@pytest.mark.parametrize(("options", "missing"), with_and_without_missing(INCOGNITO))
def test_incognito_equals_the_release_in_memory(stored, options, missing):
    table, roles = stored(people(300, seed=len(str(options)), missing=missing))
    expected, release = check_equal(Incognito(**options), table, roles)
    assert release.notes == (expected.remark,)


MONDRIAN = [
    {"k": 1},
    {"k": 2},
    {"k": 17},
    {"k": 300},
    {"k": 3, "columns": ["town", "age"]},
    {"k": 3, "columns": []},
    {"k": 4, "l": 2},
    {"k": 4, "l": 1.8, "diversity": "entropy"},
    {"k": 4, "l": 2, "diversity": "recursive", "c": 3.0},
    {"k": 4, "t": 0.2},
    {"k": 4, "t": 0.2, "distance": "ordered"},
    {"k": 4, "alpha": 0.6},
]


@pytest.mark.parametrize(("options", "missing"), with_and_without_missing(MONDRIAN))
def test_mondrian_equals_the_release_in_memory(stored, options, missing):
    table, roles = stored(people(300, seed=len(str(options)), missing=missing))
    check_equal(Mondrian(**options), table, roles)


def test_mondrian_without_weights_in_blocks(stored, monkeypatch):
    # Small blocks take the way of a large table, on both sides.
    monkeypatch.setattr("defenses.grouping.mondrian.partition._ROWS", 50)
    table, roles = stored(people(2000))
    check_equal(Mondrian(k=4), table, roles)


@pytest.mark.parametrize("defense", [Mondrian(strict=False), Mondrian(representative="mean")])
def test_mondrian_that_needs_every_record_has_no_counted_form(stored, defense):
    assert counted_form(defense) is None
    table, roles = stored(people(30))
    with large_records(table, roles) as large, pytest.raises(ValueError, match="need every record in memory"):
        defense.recode(counted_table(large, ["job"]))


@pytest.mark.parametrize("k", [1, 3, 300])
@pytest.mark.parametrize("columns", [None, ["town", "member"], []])
def test_record_suppression_equals_the_release_in_memory(stored, k, columns):
    table, roles = stored(people(300))
    check_equal(RecordSuppression(k=k, columns=columns), table, roles)


@pytest.mark.parametrize("levels", [1, {"age": 2, "job": 1}, {"age": 3, "size": 1, "town": 1}])
def test_recoding_with_suppression_equals_the_release_in_memory(stored, levels):
    table, roles = stored(people(300))
    check_equal(Pipeline(steps=[GlobalRecoding(levels=levels), RecordSuppression(k=4)]), table, roles)
    steps = [GlobalRecoding(levels=levels), RecordSuppression(k=3), RecordSuppression(k=9, columns=["town", "age"])]
    check_equal(Pipeline(steps=steps), table, roles)


def test_later_suppression_is_of_the_records_that_are_left(stored):
    table, roles = stored(people(300))
    steps = [GlobalRecoding(levels={"age": 0}), RecordSuppression(k=4), RecordSuppression(k=9)]
    with large_records(table, roles) as large, pytest.raises(ValueError, match="got k = 9 for n = 4"):
        counted_release(counted_form(Pipeline(steps=steps)), large)


def test_a_single_combination_and_columns_without_variation(stored):
    frame = people(50, missing=False)
    for name in ("age", "town", "job", "size", "member", "illness"):
        frame[name] = frame[name].iloc[0]
    table, roles = stored(frame)
    check_equal(Incognito(k=50), table, roles)
    check_equal(Mondrian(k=50), table, roles)
    check_equal(Mondrian(k=5), table, roles)
    check_equal(RecordSuppression(k=50), table, roles)


@pytest.mark.parametrize(
    "defense", [Incognito(k=31), RecordSuppression(k=31), Incognito(l=4), Incognito(columns=["x"])]
)
def test_refusals_are_those_in_memory(stored, defense):
    table, roles = stored(people(30))
    with pytest.raises(ValueError, match=r".") as expected:
        defense.guarantee(load_table(table, roles).records)
    with large_records(table, roles) as large, pytest.raises(ValueError, match=r".") as refusal:
        counted_release(counted_form(defense), large)
    assert str(refusal.value) == str(expected.value)


def test_too_many_combinations_are_refused(stored):
    table, roles = stored(people(300))
    with large_records(table, roles) as large, pytest.raises(TooManyCombinations, match="combinations of age, town"):
        counted_release(Incognito(), large, most=20)


def test_defenses_without_counted_form():
    assert counted_form(GlobalRecoding()) is None
    assert counted_form(Pipeline(steps=[RecordSuppression(), GlobalRecoding()])) is None
