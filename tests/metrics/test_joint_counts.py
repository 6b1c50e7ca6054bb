"""Distinct combinations of codes and their counts."""

import numpy as np
import pytest

from metrics.classes import joint_counts


@pytest.mark.parametrize("largest", [1 << 62, 400, 60])
@pytest.mark.parametrize("rows", [1, 50, 5000])
def test_combinations_are_those_of_the_rows(largest: int, rows: int) -> None:
    check({"a": 3, "b": 300, "c": 2, "d": 7}, rows, largest)


@pytest.mark.parametrize("columns", [14, 25, 40])
def test_keys_of_wide_tables_are_exact(columns: int) -> None:
    """Keys of 54 to 62 bits, beyond the integers that floats hold, and keys that are numbered anew."""
    check({f"c{number}": 19 for number in range(columns)}, 400, 1 << 62)


def check(sizes: dict[str, int], rows: int, largest: int) -> None:
    """Compare with the distinct rows of NumPy."""
    rng = np.random.default_rng(rows)
    columns = {name: rng.integers(0, size, rows) for name, size in sizes.items()}
    codes, counts = joint_counts(columns, sizes, largest)
    expected, sizes_of = np.unique(np.stack(list(columns.values()), axis=1), axis=0, return_counts=True)
    np.testing.assert_array_equal(np.stack(list(codes.values()), axis=1), expected)
    np.testing.assert_array_equal(counts, sizes_of)
