"""Releases from counted combinations equal those in memory."""

from contextlib import ExitStack
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from counted_tools import ROLES, as_cells, people, released_rows

from defenses import GlobalRecoding, Incognito, Mondrian, Pipeline, RecordSuppression, Rounding
from scenarios.tables.dataset import load_table
from scenarios.tables.parts.combinations import TooManyCombinations, counted_table, grouped_release
from scenarios.tables.parts.records import large_records


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 64)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Open a table of people in memory and in parts, each one once."""
    with ExitStack() as stack:

        @cache
        def people_opened(rows=300, seed=0, missing=True):
            return read(stack, tmp_path_factory.mktemp("people"), people(rows, seed, missing))

        yield people_opened


@pytest.fixture
def read_both(tmp_path):
    """Open some table in memory and in parts."""
    with ExitStack() as stack:
        yield partial(read, stack, tmp_path)


def read(stack, folder, frame):
    """A table as records in memory and as records that are read in parts."""
    frame.to_parquet(folder / "people.parquet")
    (folder / "roles.toml").write_text(ROLES)
    paths = folder / "people.parquet", folder / "roles.toml"
    return load_table(*paths).records, stack.enter_context(large_records(*paths))


def check_equal(defense, records, large):
    """Compare rows, origins, guarantee and channel of both ways, and return the release in memory."""
    expected = defense.apply(records, np.random.default_rng(0))
    release = grouped_release(defense, large)
    rows, origin = released_rows(release)
    pd.testing.assert_frame_equal(rows, as_cells(expected.frame))
    np.testing.assert_array_equal(origin, expected.origin)
    assert release.guarantee() == defense.guarantee(records)
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


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("options", "missing"), list(with_and_without_missing(INCOGNITO)))
def test_incognito_equals_the_release_in_memory(opened, options, missing):
    expected, release = check_equal(Incognito(**options), *opened(seed=len(options), missing=missing))
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


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("options", "missing"), list(with_and_without_missing(MONDRIAN)))
def test_mondrian_equals_the_release_in_memory(opened, options, missing):
    check_equal(Mondrian(**options), *opened(seed=len(options), missing=missing))


@pytest.mark.thorough
def test_mondrian_without_weights_in_blocks(opened, monkeypatch):
    # Small blocks take the way of a large table, on both sides.
    monkeypatch.setattr("defenses.grouping.mondrian.partition._ROWS", 50)
    check_equal(Mondrian(k=4), *opened(2000))


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("defense", [Mondrian(strict=False), Mondrian(representative="mean")])
def test_mondrian_that_needs_every_record_has_no_counted_form(opened, defense):
    assert not defense.works_on_counts
    assert defense.needs == "table"
    _, large = opened(30)
    with pytest.raises(ValueError, match="need every record in memory"):
        defense.recode(counted_table(large, ["job"]))


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("k", [1, 3, 300])
@pytest.mark.parametrize("columns", [None, ["town", "member"], []])
def test_record_suppression_equals_the_release_in_memory(opened, k, columns):
    check_equal(RecordSuppression(k=k, columns=columns), *opened())


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("levels", [1, {"age": 2, "job": 1}, {"age": 3, "size": 1, "town": 1}])
def test_recoding_with_suppression_equals_the_release_in_memory(opened, levels):
    check_equal(Pipeline(steps=[GlobalRecoding(levels=levels), RecordSuppression(k=4)]), *opened())
    steps = [GlobalRecoding(levels=levels), RecordSuppression(k=3), RecordSuppression(k=9, columns=["town", "age"])]
    check_equal(Pipeline(steps=steps), *opened())


def test_later_suppression_is_of_the_records_that_are_left(opened):
    _, large = opened()
    steps = [GlobalRecoding(levels={"age": 0}), RecordSuppression(k=4), RecordSuppression(k=9)]
    with pytest.raises(ValueError, match="got k = 9 for n = 4"):
        grouped_release(Pipeline(steps=steps), large)


@pytest.mark.thorough
def test_a_single_combination_and_columns_without_variation(read_both):
    frame = people(50, missing=False)
    for name in ("age", "town", "job", "size", "member", "illness"):
        frame[name] = frame[name].iloc[0]
    both = read_both(frame)
    for defense in (Incognito(k=50), Mondrian(k=50), Mondrian(k=5), RecordSuppression(k=50)):
        check_equal(defense, *both)


@pytest.mark.parametrize(
    "defense", [Incognito(k=31), RecordSuppression(k=31), Incognito(l=4), Incognito(columns=["x"])]
)
def test_refusals_are_those_in_memory(opened, defense):
    records, large = opened(30)
    with pytest.raises(ValueError, match=r".") as expected:
        defense.guarantee(records)
    with pytest.raises(ValueError, match=r".") as refusal:
        grouped_release(defense, large)
    assert str(refusal.value) == str(expected.value)


def test_too_many_combinations_are_refused(opened):
    _, large = opened()
    with pytest.raises(TooManyCombinations, match="combinations of age, town"):
        grouped_release(Incognito(), large, most=20)


def test_steps_that_do_not_work_on_counts():
    assert not Pipeline(steps=[GlobalRecoding(), Rounding()]).works_on_counts
    assert Pipeline(steps=[GlobalRecoding(), Rounding()]).needs == "rows"
    for later in (GlobalRecoding(), Mondrian()):
        assert Pipeline(steps=[RecordSuppression(), later]).needs == "table"
    assert Pipeline(steps=[Rounding(), GlobalRecoding(), RecordSuppression()]).needs == "combinations"
