"""Records that resemble each other trade some of their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from defenses.base.columns import category_codes, check_columns
from defenses.base.defense import MicrodataDefense, chosen_columns, released_frame, rowwise_release
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_real
from defenses.base.release import MicrodataRelease
from metrics.arrays import Integers
from metrics.classes import class_sizes, equivalence_classes


class RecordSwapping(MicrodataDefense):
    """Some records trade chosen columns, as a census trades places of residence, with similar ones of another group.

    Records are in one group where they agree on the columns to swap. Partners are of different groups and agree on as
    many as possible of the columns in `similar`, from the first on (numbers by their public bins). The table keeps
    how often each combination of swapped values occurs, and everything about the other columns. It guarantees
    nothing, and has no channel: whom a record trades with depends on the others.

    Parameters
    ----------
    columns : sequence of str
        The columns to swap, all at once.
    similar : sequence of str, optional
        The columns on which partners should agree, the most important first; where not given, the quasi-identifiers
        that are not swapped.
    rate : float
        Share of the records drawn for swapping, in (0, 1]. One stays as it is where no other drawn record that has no
        partner yet is of another group.

    Raises
    ------
    ValueError
        If the rate lies outside (0, 1], no column is to be swapped, or one is both swapped and similar; on `apply`,
        if a column does not exist or a value is no category of its domain.

    Notes
    -----
    One round for every number of leading columns of `similar`, from all to none: of the c records without a partner
    that agree on these, in the order of their groups, the i-th trades with the one h = floor(c / 2) places on,
    i < h. Only if more than half of them are of one group are two partners of the same; these wait for the next
    round.

    References
    ----------
    Dalenius and Reiss (1982), Data-swapping: a technique for disclosure control; Fienberg and McIntyre (2004), Data
    swapping: variations on a theme by Dalenius and Reiss, section 5.
    """

    def __init__(self, *, columns: Sequence[str], similar: Sequence[str] | None = None, rate: float = 0.1) -> None:
        check_columns(columns)
        check_columns(similar)
        check_real("rate", rate, low=0, high=1, open_low=True)
        if not columns:
            raise ValueError("columns must name at least one column to swap")
        both = [name for name in similar or () if name in columns]
        if both:
            raise ValueError(f"similar: column {both[0]!r} is to be swapped and cannot be kept alike")
        self.columns = columns
        self.similar = similar
        self.rate = rate

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records with their swapped columns."""
        frame = released_frame(records)
        names = list(chosen_columns(records, self.columns, ()))
        kept = [name for name in records.quasi_identifiers if name not in names]
        similar = chosen_columns(records, self.similar, kept)
        drawn = np.sort(rng.permutation(len(records))[: round(self.rate * len(records))])
        groups = equivalence_classes(frame, names)
        partner = np.arange(len(records))
        for agreeing in _coarser_and_coarser(records, similar):
            left = drawn[partner[drawn] == drawn]
            first, second = _pairs(agreeing[left], groups[left], rng)
            partner[left[first]], partner[left[second]] = left[second], left[first]
        for name in names:
            frame[name] = frame[name].iloc[partner].reset_index(drop=True)
        return rowwise_release(frame, None)


def _coarser_and_coarser(records: Microdata, names: Sequence[str]) -> list[Integers]:
    """Classes of records that agree on all columns, on all but the last, …, on none, each of shape (n,)."""
    classes = [np.zeros(len(records), dtype=np.intp)]
    for name in names:
        if records.frame[name].notna().any():
            codes = category_codes(records, name)
            classes.append(np.unique(classes[-1] * (codes.max() + 1) + codes, return_inverse=True)[1])
    return classes[::-1]


def _pairs(classes: Integers, groups: Integers, rng: Generator) -> tuple[Integers, Integers]:
    """Positions of partners: of one class and of different groups, two arrays of shape (pairs,)."""
    if classes.size == 0:
        return classes, classes
    order = np.lexsort((rng.random(classes.size), groups, classes))
    sizes = class_sizes(np.unique(classes, return_inverse=True)[1])
    half = np.repeat(sizes // 2, sizes)
    place = np.arange(classes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    here = np.flatnonzero(place < half)
    first, second = order[here], order[here + half[here]]
    differ = groups[first] != groups[second]
    return first[differ], second[differ]
