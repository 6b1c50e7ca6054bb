"""Numbers that are coded at the top or at the bottom are told from others."""

import numpy as np
import pytest

from attacks.linkage.fitting.column_tables import coded_ends

VALUES, SHARE = np.arange(100.0), np.full(100, 0.01)


def found(released):
    """Values that each end stands for, by released number."""
    numbers, count = np.unique(np.asarray(released, dtype=float), return_counts=True)
    pairs = np.argwhere(coded_ends(numbers, count, VALUES, SHARE))
    return {
        number: [int(VALUES[value]) for row, value in pairs if numbers[row] == number]
        for number in numbers[pairs[:, 0]]
    }


def test_coded_ends_stand_for_the_values_beyond_them():
    people = np.random.default_rng(0).permutation(100)
    assert found(np.clip(people, 20, None)) == {20: list(range(21))}
    assert found(np.clip(people, 30, 70)) == {30: list(range(31)), 70: list(range(70, 100))}


@pytest.mark.parametrize(
    "released",
    [
        np.arange(100),
        [50],
        [10, 90],
        np.repeat([25, 75], 50),
        np.random.default_rng(1).normal(50, 60, 200).round(),
        [np.nan, np.nan],
        [],
    ],
    ids=["a copy", "one row", "two rows", "means of halves", "noise", "missing", "no row"],
)
def test_other_ends_do_not(released):
    assert found(released) == {}


def test_a_copy_seldom_looks_coded():
    """Of 400 ends of copies, none; with a false-alarm rate of 1 % a Poisson count of 4 would be usual."""
    rng = np.random.default_rng(2)
    assert not any(found(rng.integers(0, 100, 60)) for _ in range(200))
