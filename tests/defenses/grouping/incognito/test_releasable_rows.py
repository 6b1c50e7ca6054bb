from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.grouping.constraints import (
    Constraint,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    LargestShare,
    OrderedCloseness,
    RecursiveDiversity,
)
from defenses.grouping.incognito.search import releasable_rows

CLOSE = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0])
EXACT_FOR_TWO = st.one_of(
    st.builds(EntropyDiversity, st.sampled_from([1.3, 1.5, 1.7, 1.9, 2.0])),
    st.builds(EqualCloseness, CLOSE),
    st.builds(OrderedCloseness, CLOSE),
    st.builds(LargestShare, st.sampled_from([0.25, 0.5, 0.6, 0.75, 0.9, 1.0])),
    st.builds(RecursiveDiversity, st.sampled_from([1.5, 3.0]), st.just(2)),
    st.builds(DistinctDiversity, st.integers(1, 2)),
)
ANY = st.one_of(
    EXACT_FOR_TWO,
    st.builds(EntropyDiversity, st.sampled_from([1.0, 2.2, 2.5, 3.0, 3.7, 4.0])),
    st.builds(RecursiveDiversity, st.sampled_from([0.5, 1.0, 1.5, 3.0]), st.integers(1, 3)),
    st.builds(DistinctDiversity, st.integers(1, 4)),
)


def most_rows(constraints: list[Constraint], counts: list[int], table: np.ndarray) -> int:
    """Largest number of rows of a class that together satisfy the constraints, from all its parts."""
    parts = np.indices([count + 1 for count in counts]).reshape(len(counts), -1).T[1:]
    allowed = np.all([constraint.holds(parts, table) for constraint in constraints], axis=0)
    return int(parts[allowed].sum(axis=1).max(initial=0))


def shares(rows: list[int]) -> np.ndarray:
    return np.array(rows) / sum(rows)


CLASSES = given(
    st.lists(ANY, min_size=1, max_size=2),
    st.lists(st.integers(0, 5), min_size=3, max_size=4).filter(any),
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
)


def check_that_no_part_has_more_rows(constraints: list[Constraint], counts: list[int], others: list[int]) -> None:
    table = shares([inside + outside for inside, outside in zip(counts, others, strict=False)])
    bound = releasable_rows(constraints, np.array([counts]), table)[0]
    assert most_rows(constraints, counts, table) <= bound <= sum(counts)


@pytest.mark.thorough
@settings(max_examples=250, deadline=None)
@CLASSES
def test_no_part_that_satisfies_the_constraints_has_more_rows(
    constraints: list[Constraint], counts: list[int], others: list[int]
) -> None:
    check_that_no_part_has_more_rows(constraints, counts, others)


@pytest.mark.long
@settings(max_examples=500, deadline=None)
@CLASSES
def test_no_part_of_many_more_classes_has_more_rows(
    constraints: list[Constraint], counts: list[int], others: list[int]
) -> None:
    check_that_no_part_has_more_rows(constraints, counts, others)


TWO_VALUES = given(
    EXACT_FOR_TWO,
    st.lists(st.integers(0, 15), min_size=2, max_size=2).filter(any),
    st.lists(st.integers(1, 9), min_size=2, max_size=2),
)


def check_that_the_bound_is_nearly_exact(constraint: Constraint, counts: list[int], rows: list[int]) -> None:
    # Parts consist of whole rows, which matters little where each value has many.
    table, many = shares(rows), [12 * count for count in counts]
    bound = releasable_rows([constraint], np.array([many]), table)[0]
    assert bound - sum(rows) <= most_rows([constraint], many, table) <= bound


@pytest.mark.thorough
@settings(max_examples=150, deadline=None)
@TWO_VALUES
def test_two_values_have_a_nearly_exact_bound(constraint: Constraint, counts: list[int], rows: list[int]) -> None:
    check_that_the_bound_is_nearly_exact(constraint, counts, rows)


@pytest.mark.long
@settings(max_examples=500, deadline=None)
@TWO_VALUES
def test_two_values_of_many_more_classes_have_a_nearly_exact_bound(
    constraint: Constraint, counts: list[int], rows: list[int]
) -> None:
    check_that_the_bound_is_nearly_exact(constraint, counts, rows)


@pytest.mark.parametrize(
    ("constraint", "rows"),
    [
        (LargestShare(0.8), 50),  # 10 rare rows are at least a fifth of what is released
        (EqualCloseness(0.2), 33),  # 10 rare rows are at least 0.3 of it
        (EntropyDiversity(2), 20),
        (RecursiveDiversity(3, 2), 40),
        (DistinctDiversity(2), 100),
        (DistinctDiversity(3), 0),
    ],
    ids=str,
)
def test_ninety_rows_of_one_value_and_ten_of_another(constraint: Constraint, rows: int) -> None:
    table = np.array([0.5, 0.5])
    assert releasable_rows([constraint], np.array([[90, 10], [10, 90]]), table).tolist() == [rows, rows]


def test_classes_are_bounded_by_themselves() -> None:
    counts = np.random.default_rng(0).integers(0, 9, size=(50, 12)) + np.eye(50, 12, dtype=int)
    table = counts.sum(axis=0) / counts.sum()
    for constraint in (EntropyDiversity(9), EqualCloseness(0.2), OrderedCloseness(0.05), LargestShare(0.12)):
        together = releasable_rows([constraint], counts, table)
        apart = [int(releasable_rows([constraint], row[None], table)[0]) for row in counts]
        assert together.tolist() == apart
        assert (together[constraint.holds(counts, table)] == counts.sum(axis=1)[constraint.holds(counts, table)]).all()
        assert (together < counts.sum(axis=1)).any()
