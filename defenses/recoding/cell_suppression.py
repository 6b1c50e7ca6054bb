"""Cells suppressed until every record has k - 1 others like it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.channel import Channel
from defenses.base.channel_parts import Containment
from defenses.base.columns import is_number_column
from defenses.base.defense import released_frame, rowwise_release
from defenses.base.k_anonymous import KAnonymousDefense
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_real
from defenses.base.release import MicrodataRelease
from metrics.arrays import Booleans, Integers
from metrics.cells import SUPPRESSED
from metrics.classes import class_sizes, equivalence_classes
from metrics.domains import format_number

_CHOICES = 10
"""Number of columns of which every set is tried."""


class CellSuppression(KAnonymousDefense):
    """Local suppression: cells of rare combinations become ``*`` until every combination stands at least k times.

    A suppressed cell counts as a value of its own: the released row (30, ``*``) has to stand k times itself. Where it
    may instead pass for any row that it matches, as in other software, fewer cells go, but somebody who knows that a
    person is (30, lawyer), and that (30, teacher) is another, still picks the only row (30, ``*``).

    Parameters
    ----------
    k : int
        Smallest number of records that share a released combination, at least 1.
    columns : sequence of str, optional
        The columns of the combinations, whose cells may go; by default the quasi-identifiers.
    importance : mapping of str to float, optional
        What a cell of each column is worth, above 0; 1 for a column that is not named.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1 or an importance not above 0; on `apply` and `guarantee`, if `k`
        exceeds the number of records or a column is unknown.

    Notes
    -----
    Greedy, from no column over the cheapest sets of columns to all of them (of equal ones, that with the most
    different values first): of the records that are not safe yet, those that agree with k - 1 others of these on all
    but the columns of the set lose these cells and are safe. Fewer than k may be left with nothing to agree on; as
    many records as lack to k, from combinations that can spare them if possible, lose their cells together with them.
    That is a pass over the rare records for each set. Of more than 10 columns those with the most values by their
    importance go first, together, so that there are at most 1025 passes.

    Guarantee: k-anonymity over the columns, and thus over the quasi-identifiers if these are among them. The channel
    is containment. The fewest cells are NP-hard to find (Meyerson and Williams 2004).

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, section 3.2 (local suppression); Templ, Kowarik and
    Meindl (2015), Statistical disclosure control for micro-data using the R package sdcMicro.
    """

    def __init__(
        self, *, k: int = 5, columns: Sequence[str] | None = None, importance: Mapping[str, float] | None = None
    ) -> None:
        super().__init__(k=k, columns=columns)
        for name, value in (importance or {}).items():
            check_real(f"importance[{name!r}]", value, low=0, open_low=True)
        self.importance = importance

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records with their rare cells suppressed."""
        names = self._checked_columns(records)
        frame = released_frame(records)
        columns = [pd.factorize(frame[name], use_na_sentinel=False)[0] for name in names]
        codes = np.reshape(columns, (len(names), len(frame))).astype(np.intp).T
        worth = np.array([(self.importance or {}).get(name, 1.0) for name in names])
        gone = suppressed_cells(codes, self.k, worth)
        changed = [column for column in range(len(names)) if gone[:, column].any()]
        for column in changed:
            frame[names[column]] = _suppressed(frame[names[column]], gone[:, column])
        parts = [Containment(names[column], records.domain(names[column])) for column in changed]
        return rowwise_release(frame, Channel(tuple(parts)))

    def _checked_columns(self, records: Microdata) -> tuple[str, ...]:
        names = super()._checked_columns(records)
        for name in self.importance or ():
            if name not in names:
                raise ValueError(f"importance: column {name!r} is not among {', '.join(names)}")
        return names


def suppressed_cells(codes: Integers, k: int, worth: NDArray[np.float64]) -> Booleans:
    """Cells to suppress so that every row stands k times, shape (n, p).

    Parameters
    ----------
    codes : ndarray of int, shape (n, p)
        One code from 0 for each value of a column, k <= n.
    k : int
        Smallest number of rows alike.
    worth : ndarray of float, shape (p,)
        What a cell of each column is worth.
    """
    n, p = codes.shape
    gone = np.zeros((n, p), dtype=bool)
    waiting = np.arange(n)
    for lost in _sets(codes, worth):
        kept = np.setdiff1d(np.arange(p), lost)
        classes = _classes(codes[np.ix_(waiting, kept)])
        safe = class_sizes(classes)[classes] >= k
        gone[np.ix_(waiting[safe], np.array(lost, dtype=np.intp))] = True
        waiting = waiting[~safe]
        if not waiting.size:
            return gone
    return _without_rest(codes, gone, waiting, k)


def _classes(codes: Integers) -> Integers:
    """Class of each row of codes, shape (n,)."""
    frame = pd.DataFrame(codes).rename(columns=str)
    return equivalence_classes(frame, tuple(frame.columns))


def _sets(codes: Integers, worth: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """Sets of columns from none to all, the cheapest first, of equal ones that with the most values."""
    values = np.log(codes.max(axis=0, initial=0) + 1)
    order = [int(column) for column in np.argsort(-values / worth, kind="stable")]
    first = tuple(order[: max(0, worth.size - _CHOICES)])
    rest = order[len(first) :]
    sets = [first + part for size in range(len(rest) + 1) for part in combinations(rest, size)]
    ranked = sorted(sets, key=lambda part: (worth[list(part)].sum(), -values[list(part)].sum()))
    return [(), *ranked] if first else ranked


def _without_rest(codes: Integers, gone: Booleans, rest: Integers, k: int) -> Booleans:
    """Suppress the rest, fewer than k rows, together with as many others as lack to k."""
    gone = gone.copy()
    gone[rest] = True
    missing = k - rest.size
    others = np.setdiff1d(np.arange(len(gone)), rest)
    classes = _classes(np.where(gone, -1, codes)[others])
    sizes = class_sizes(classes)
    order = np.lexsort((np.arange(classes.size), classes))
    place = np.empty_like(order)
    place[order] = np.arange(classes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    spare = others[place >= k]
    spare = spare[np.argsort(-gone[spare].sum(axis=1), kind="stable")]
    if spare.size >= missing:
        gone[spare[:missing]] = True
    else:
        # Rows of the smallest class go as a whole, since it cannot spare enough of them.
        gone[others[classes == sizes.argmin()]] = True
    return gone


def _suppressed(column: pd.Series[Any], gone: Booleans) -> pd.Series[Any]:
    """Released cells, those that are gone as ``*`` and numbers as text."""
    codes, distinct = pd.factorize(column, use_na_sentinel=True)
    texts = [format_number(value) for value in distinct] if is_number_column(column) else list(distinct)
    cells = np.array([*texts, None], dtype=object)[codes]
    return pd.Series(np.where(gone, SUPPRESSED, cells), name=column.name, dtype=object)
