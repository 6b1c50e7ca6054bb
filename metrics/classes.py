"""Equivalence classes: records with equal quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from metrics.columns import SUPPRESSED, Booleans, Integers, refuse, require, require_column, scattered

# Numbers of equivalence classes by size, from which measures of whole classes follow.


@dataclass(frozen=True)
class SizeCounts:
    """Number of equivalence classes of each size.

    - sizes, shape (distinct sizes,): Sizes that occur, ascending, at least one.
    - counts, shape (distinct sizes,): Number of classes of each size.

    Examples
    --------
    >>> sizes = SizeCounts.of_classes(np.array([2, 1, 1, 5]))
    >>> sizes.rows, sizes.classes, sizes.uniques
    (9, 4, 2)
    """

    sizes: Integers
    counts: Integers

    @classmethod
    def of_classes(cls, class_sizes: Integers) -> Self:
        """Count the sizes of some classes, shape (classes,)."""
        sizes, counts = np.unique(class_sizes, return_counts=True)
        return cls(sizes, counts)

    @classmethod
    def joined(cls, parts: Sequence[SizeCounts]) -> Self:
        """Count the classes of several parts together."""
        sizes, place = np.unique(np.concatenate([part.sizes for part in parts]), return_inverse=True)
        counts = np.bincount(place, np.concatenate([part.counts for part in parts]))
        return cls(sizes, counts.astype(np.int64))

    @property
    def rows(self) -> int:
        """Number of records."""
        return int((self.sizes * self.counts).sum())

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.counts.sum())

    @property
    def uniques(self) -> int:
        """Number of classes of one record."""
        return int(self.counts[self.sizes == 1].sum())


_DENSE = 8
"""Up to this size in multiples of the number of rows, filling a table of counts is faster than sorting the rows."""
_TABLE = 1 << 20
"""Codes that a table of counts may always hold."""
LARGEST_KEY = 1 << 62
"""Bound of a key of the codes of several columns."""
_COMPARED = 1 << 28
"""Rows times pairs of patterns of ``*`` up to which agreeing records are counted."""


def equivalence_classes(frame: pd.DataFrame, quasi_identifiers: Sequence[str]) -> Integers:
    """Equivalence class of each row: rows with equal quasi-identifiers have the same number.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells. A missing value is a value of its own, and so is each distinct cell.
    quasi_identifiers : sequence of str
        The columns to compare; with none, all rows form one class.

    Returns
    -------
    ndarray of int, shape (n,)
        From 0 to the number of classes - 1, in order of first appearance.

    Raises
    ------
    ValueError
        If the frame lacks a column.
    """
    require_columns(frame, quasi_identifiers)
    classes: Integers = np.zeros(len(frame), dtype=np.intp)
    for name in quasi_identifiers:
        codes, distinct = pd.factorize(frame[name], use_na_sentinel=False)
        classes = pd.factorize(classes * len(distinct) + codes)[0]
    return classes


def rows_in_classes(frame: pd.DataFrame, quasi_identifiers: Sequence[str]) -> Booleans:
    """Which rows belong to a class, shape (n,): all that have a cell other than ``*``, which agrees with every value.

    If all rows are wholly suppressed, they form one class.
    """
    require_columns(frame, quasi_identifiers)
    kept = ((frame[name] != SUPPRESSED).to_numpy(dtype=bool) for name in quasi_identifiers)
    inside = np.asarray(np.logical_or.reduce([np.zeros(len(frame), dtype=bool), *kept]))
    return inside if inside.any() else np.ones(len(frame), dtype=bool)


def agreeing_records(
    columns: Mapping[str, Integers], counts: Integers, suppressed: Mapping[str, int]
) -> Integers | None:
    """Number of records that agree with each row, shape (n,), where ``*`` agrees with every value.

    - columns, each, shape (n,): Code of each row in each column, at least 0.
    - counts, shape (n,): Number of records that each row stands for.
    - suppressed: Code of ``*`` in the columns that hold it.
    - returns: None if there are too many patterns of ``*`` to compare.
    """
    hidden = np.stack([codes == suppressed.get(name, -1) for name, codes in columns.items()], axis=1)
    patterns, pattern_of_row = np.unique(hidden, axis=0, return_inverse=True)
    if len(patterns) ** 2 * counts.size > _COMPARED:
        return None
    pattern_of_row = pattern_of_row.ravel()
    members = [np.flatnonzero(pattern_of_row == number) for number in range(len(patterns))]
    sizes = [int(codes.max(initial=0)) + 1 for codes in columns.values()]
    joint: dict[bytes, tuple[Integers, int]] = {}
    agreeing = np.zeros(counts.size, dtype=np.int64)
    for own, rows in zip(patterns, members, strict=True):
        for other, others in zip(patterns, members, strict=True):
            compared = ~(own | other)
            if (key := compared.tobytes()) not in joint:
                chosen = [
                    (codes, size) for codes, size, one in zip(columns.values(), sizes, compared, strict=True) if one
                ]
                joint[key] = joint_codes(chosen, counts.size)
            codes, bound = joint[key]
            agreeing[rows] += np.bincount(codes[others], counts[others], minlength=bound).astype(np.int64)[codes[rows]]
    return agreeing


def joint_codes(columns: Sequence[tuple[Integers, int]], rows: int) -> tuple[Integers, int]:
    """One code of each row for the values of all columns, shape (rows,), and a bound of the codes.

    - columns: Codes of each column, shape (rows,), and their bound.
    """
    joint: Integers = np.zeros(rows, dtype=np.int64)
    bound = 1
    for codes, size in columns:
        joint *= size
        joint += codes
        bound *= size
        # A small table of counts is faster than hashing.
        if bound > max(4 * rows, _TABLE):
            joint, distinct = pd.factorize(joint)
            bound = len(distinct)
    return joint, bound


def given_or_computed_classes(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], classes: Integers | None
) -> Integers:
    """Return the given classes after a check, or compute them where none are given.

    Raises ValueError if given classes are not one integer per row, from 0 without a gap.
    """
    if classes is None:
        return equivalence_classes(frame, quasi_identifiers)
    given = np.asarray(classes)
    is_integer = given.shape == (len(frame),) and np.issubdtype(given.dtype, np.integer)
    refuse(
        not is_integer or (given.size and (given.min() < 0 or not np.bincount(given).all())),
        f"classes must hold one integer for each of the {len(frame)} rows, from 0 without a gap",
    )
    return given


def class_sizes(classes: Integers) -> Integers:
    """Number of rows of each class, shape (classes,).

    Raises ValueError if there is no row.
    """
    require(classes.size != 0, "the table has no rows and therefore no classes to measure")
    return np.bincount(classes)


def sizes_in(frame: pd.DataFrame, quasi_identifiers: Sequence[str], classes: Integers | None) -> Integers:
    """Size of each equivalence class of a table, shape (classes,)."""
    return class_sizes(given_or_computed_classes(frame, quasi_identifiers, classes))


def k_anonymity(frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, classes: Integers | None = None) -> int:
    """k-anonymity: the size of the smallest equivalence class.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    classes : ndarray of int, shape (n,), optional
        The classes of `equivalence_classes`, if already computed.

    Raises
    ------
    ValueError
        If the frame has no row or lacks a column.

    References
    ----------
    Sweeney (2002), k-anonymity: a model for protecting privacy.

    Examples
    --------
    >>> import pandas as pd
    >>> from metrics import k_anonymity
    >>> frame = pd.DataFrame({"age": ["[20,29]"] * 3 + ["[30,39]"] * 2, "zip": ["47*"] * 5})
    >>> k_anonymity(frame, ["age", "zip"])
    2
    """
    return int(sizes_in(frame, quasi_identifiers, classes).min())


def count_pairs(
    groups: Integers, values: Integers, group_count: int, value_count: int
) -> tuple[Integers, Integers, Integers]:
    """Distinct pairs of a group and a value, ascending, with the number of rows of each.

    - groups, values, shape (n,): Two codes per row, from 0 to their count - 1.
    - group_count, value_count: Number of codes of each.
    - returns groups, values, counts of shape (pairs,): The pairs and their numbers of rows.
    """
    pairs, counts = _count_keys(groups * value_count + values, group_count * value_count)
    pair_groups = pairs // value_count
    return pair_groups, pairs - pair_groups * value_count, counts


def _count_keys(keys: Integers, bound: int) -> tuple[Integers, Integers]:
    """Distinct keys below a bound, ascending, with the number of rows of each."""
    if bound > _DENSE * keys.size:
        return np.unique(keys, return_counts=True)
    table = np.bincount(keys, minlength=bound)
    present = np.flatnonzero(table)
    return present, table[present]


def joint_keys(
    columns: Mapping[str, Integers], sizes: Mapping[str, int], largest: int = LARGEST_KEY
) -> tuple[Integers, int, dict[str, Integers]]:
    """A key of each row, whose digits are its codes in some columns, in the order of combinations; and their bound.

    Where a column would lead beyond `largest`, the keys before it are numbered anew: the third result has those keys,
    ascending, by that column. Without columns, there is one row.
    """
    rows = next((codes.size for codes in columns.values()), 1)
    keys: Integers = np.zeros(rows, dtype=np.int64)
    bound = 1
    numbered = {}
    for name, codes in columns.items():
        if bound * sizes[name] > largest:
            numbered[name], keys = np.unique(keys, return_inverse=True)
            bound = numbered[name].size
        keys *= sizes[name]
        keys += codes
        bound *= sizes[name]
    return keys, bound, numbered


def joint_counts(
    columns: Mapping[str, Integers], sizes: Mapping[str, int], largest: int = LARGEST_KEY
) -> tuple[dict[str, Integers], Integers]:
    """Distinct combinations of the codes of some columns, ascending, with the number of rows of each.

    `sizes` holds the number of codes of each column. Codes are the digits of a key; where `largest` is reached, keys
    are numbered anew.

    Examples
    --------
    >>> columns = {"age": np.array([1, 0, 1]), "sex": np.array([0, 1, 0])}
    >>> codes, counts = joint_counts(columns, {"age": 2, "sex": 2})
    >>> {name: column.tolist() for name, column in codes.items()}, counts.tolist()
    ({'age': [0, 1], 'sex': [1, 0]}, [1, 2])
    """
    keys, bound, numbered = joint_keys(columns, sizes, largest)
    rest, counts = _count_keys(keys, bound)
    digits = {}
    for name in reversed(list(columns)):
        # Short integers are divided faster.
        size = sizes[name]
        kind = np.min_scalar_type(max(size, int(rest.max(initial=0))))
        # All are of one kind, since signed and unsigned integers together become floats, which round large keys.
        rest = rest.astype(kind)
        before = rest // kind.type(size)
        digits[name] = (rest - before * kind.type(size)).astype(np.min_scalar_type(size))
        rest = numbered[name][before] if name in numbered else before
    return {name: digits[name] for name in columns}, counts


def without_group(
    groups: Integers, values: Integers, counts: Integers, dropped: int
) -> tuple[Integers, Integers, Integers]:
    """Pairs of `count_pairs` without those of one group; groups are numbered from 0 without a gap, before and after."""
    kept = groups != dropped
    return groups[kept] - (groups[kept] > dropped), values[kept], counts[kept]


def key_starts(keys: Sequence[Integers]) -> Booleans:
    """Whether each row differs from the row before it in one of some keys; the first row does, shape (rows,)."""
    starts = np.ones(keys[0].size, dtype=bool)
    starts[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return starts


def group_starts(groups: Integers) -> Integers:
    """Start of each group in an ascending sequence of groups, shape (distinct groups,)."""
    return np.flatnonzero(np.diff(groups, prepend=-1))


def example_of_each(groups: Integers, count: int) -> Integers:
    """A row of each group, the last one; shape (count,)."""
    return scattered(np.arange(groups.size), groups, count)


def ranks_in_groups(groups: Integers) -> Integers:
    """Number of rows of the same group, from 0 on, before each row, shape (n,)."""
    order = np.argsort(groups, kind="stable")
    starts = group_starts(groups[order])
    return scattered(np.arange(order.size) - np.repeat(starts, np.diff(starts, append=order.size)), order, order.size)


def require_columns(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise ValueError unless `names` is a sequence of columns of the frame."""
    refuse(isinstance(names, str), f"columns must be given as a sequence of names, got the text {names!r}")
    columns = list(frame.columns)
    for name in names:
        refuse(columns.count(name) > 1, f"column {name!r} appears twice; column names must differ")
        require_column(columns, name)
