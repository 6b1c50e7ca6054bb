"""Equivalence classes of a released table that is read in parts, with their sensitive values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from metrics.arrays import Integers
from metrics.classes import group_starts
from scenarios.tables.parts.combinations import CombinationKey
from scenarios.tables.parts.released import LargeReleased

_ROWS = 1 << 20
"""Pairs that are looked at together, at least."""


@dataclass(frozen=True)
class ClassPairs:
    """Some equivalence classes, complete, with the values that they hold.

    Attributes
    ----------
    keys : tuple of ndarray of int, each of shape (classes,)
        Integers of each class; see `CombinationKey`.
    groups, values, counts : ndarray of int, shape (pairs,)
        Pairs of a class, ascending from 0 without a gap, and a cell's code that occur, with their numbers of records.
    """

    keys: tuple[Integers, ...]
    groups: Integers
    values: Integers
    counts: Integers

    @property
    def sizes(self) -> Integers:
        """Number of records of each class, shape (classes,)."""
        return np.add.reduceat(self.counts, group_starts(self.groups))


def class_pairs(table: LargeReleased, key: CombinationKey, sensitive: str | None = None) -> Iterator[ClassPairs]:
    """Equivalence classes in ascending order of their keys, some at a time.

    Parameters
    ----------
    table : LargeReleased
        The released table.
    key : CombinationKey
        Key of the quasi-identifiers.
    sensitive : str, optional
        The column whose values are counted; without one, every class holds one value, whose code is 0.
    """
    names = [f"k{part}" for part in range(len(key.columns))]
    coded = [] if sensitive is None else [table.columns[sensitive].coded]
    value = f"({coded[0].raw.code})::BIGINT" if coded else "0"
    expressions = {**dict(zip(names, key.expressions(), strict=True)), "v": value}
    waiting: list[Integers] = [np.empty(0, dtype=np.int64) for _ in (*names, "v", "n")]
    for batch in table.files.counted_batches(expressions, key.source(*coded), _ROWS):
        arrived = [batch.column(name).to_numpy(zero_copy_only=False).astype(np.int64) for name in (*names, "v", "n")]
        rows = [np.concatenate(pair) for pair in zip(waiting, arrived, strict=True)]
        # The last class may go on in the next batch.
        last = _first_of_last(rows[: len(names)])
        waiting = [column[last:] for column in rows]
        if last:
            yield _pairs([column[:last] for column in rows], coded[0].of_raw if coded else None)
    if waiting[0].size:
        yield _pairs(waiting, coded[0].of_raw if coded else None)
    table.files.check_unchanged()


def _first_of_last(keys: Sequence[Integers]) -> int:
    """Position where the last class begins."""
    differs = np.zeros(keys[0].size, dtype=bool)
    for key in keys:
        differs |= key != key[-1:]
    return int(np.flatnonzero(differs)[-1]) + 1 if differs.any() else 0


def _pairs(rows: Sequence[Integers], of_raw: Integers | None) -> ClassPairs:
    """Pairs of rows of keys, stored value and number of records."""
    *keys, stored, counts = rows
    begins = np.zeros(counts.size, dtype=bool)
    begins[0] = True
    for key in keys:
        begins[1:] |= key[1:] != key[:-1]
    values = stored if of_raw is None else of_raw[stored]
    return ClassPairs(tuple(key[begins] for key in keys), np.cumsum(begins) - 1, values, counts)
