"""Record swapping: similar records of different groups exchange some of their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from defenses.base import (
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    category_codes,
    check_columns,
    chosen_columns,
    released_frame,
    rowwise_release,
)
from metrics.classes import class_sizes, equivalence_classes
from metrics.columns import Integers, check_real, refuse_any, require


class RecordSwapping(MicrodataDefense):
    """Record swapping: some records exchange chosen columns with similar records of another group.

    A census swaps places of residence in this way. Records belong to the same group if they agree on the columns to
    swap. Partners belong to different groups, and agree on as many leading columns of `similar` as possible (numbers by
    their public bins). The release keeps the frequency of each combination of swapped values, and the joint
    distribution of all other columns. It guarantees nothing. It has no channel, since a record's partner depends on the
    other records.

    Parameters
    ----------
    columns : sequence of str
        The columns to swap, all at once.
    similar : sequence of str, optional
        The columns on which partners should agree, the most important first; by default the quasi-identifiers that are
        not swapped.
    rate : float
        Share of the records drawn for swapping, in (0, 1]. A drawn record stays unchanged if no other drawn record
        without a partner belongs to another group.

    Raises
    ------
    ValueError
        If the rate lies outside (0, 1], no column is to be swapped, or a column is both swapped and similar; on
        `apply`, if a column does not exist or a value is not in its domain.

    Notes
    -----
    There is one round for every number of leading columns of `similar`, from all to none. In each round, the records
    without a partner are divided into classes that agree on these columns. Let a class have c records, ordered by
    group, and let h = floor(c / 2). The record at position i < h swaps with the one at position i + h. The two belong
    to the same group only if more than half of the class does; they then wait for the next round.

    References
    ----------
    Dalenius and Reiss (1982), Data-swapping: a technique for disclosure control; Fienberg and McIntyre (2004), Data
    swapping: variations on a theme by Dalenius and Reiss, section 5.
    """

    called = ("Record swapping",)

    def __init__(self, *, columns: Sequence[str], similar: Sequence[str] | None = None, rate: float = 0.1) -> None:
        self.columns = check_columns(columns)
        self.similar = check_columns(similar)
        self.rate = check_real("rate", rate, low=0, high=1, open_low=True)
        require(columns, "columns must name at least one column to swap")
        refuse_any(
            [name for name in similar or () if name in columns],
            lambda name: f"similar: column {name!r} is to be swapped and cannot be kept alike",
        )

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records with their swapped columns."""
        frame = released_frame(records)
        names = list(chosen_columns(records, self.columns, ()))
        not_swapped = [name for name in records.quasi_identifiers if name not in names]
        similar = chosen_columns(records, self.similar, not_swapped)
        drawn = np.sort(rng.permutation(len(records))[: round(self.rate * len(records))])
        groups = equivalence_classes(frame, names)
        partner = np.arange(len(records))
        for classes in _agreement_classes(records, similar):
            unmatched = drawn[partner[drawn] == drawn]
            first, second = _pairs(classes[unmatched], groups[unmatched], rng)
            partner[unmatched[first]], partner[unmatched[second]] = unmatched[second], unmatched[first]
        for name in names:
            frame[name] = frame[name].iloc[partner].reset_index(drop=True)
        return rowwise_release(frame, None)


def _agreement_classes(records: Microdata, names: Sequence[str]) -> list[Integers]:
    """Classes of records that agree on all columns, on all but the last, …, on none; arrays of shape (n,)."""
    classes = [np.zeros(len(records), dtype=np.intp)]
    for name in names:
        if records.frame[name].notna().any():
            codes = category_codes(records, name)
            classes.append(np.unique(classes[-1] * (codes.max() + 1) + codes, return_inverse=True)[1])
    return classes[::-1]


def _pairs(classes: Integers, groups: Integers, rng: Generator) -> tuple[Integers, Integers]:
    """Positions of partners, which share a class but not a group; two arrays of shape (pairs,)."""
    if classes.size == 0:
        return classes, classes
    order = np.lexsort((rng.random(classes.size), groups, classes))
    sizes = class_sizes(np.unique(classes, return_inverse=True)[1])
    half = np.repeat(sizes // 2, sizes)
    position = np.arange(classes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first_half = np.flatnonzero(position < half)
    first, second = order[first_half], order[first_half + half[first_half]]
    differ = groups[first] != groups[second]
    return first[differ], second[differ]
