"""Suppression of cells and of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, combinations
from operator import mul
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import (
    Channel,
    Containment,
    CountedDefense,
    CountedTable,
    KAnonymousDefense,
    Microdata,
    MicrodataRelease,
    Recoding,
    chosen_columns,
    is_number_column,
    k_anonymity_over,
    released_frame,
    rowwise_release,
)
from metrics.classes import class_sizes, equivalence_classes, ranks_in_groups
from metrics.columns import SUPPRESSED, Booleans, Integers, check_real, format_number, refuse_any

_CHOICES = 10
"""Largest number of columns for which all sets of columns are tried."""


class CellSuppression(KAnonymousDefense):
    """Local suppression: cells of rare combinations become ``*`` until every released row occurs at least k times.

    A suppressed cell counts as a value of its own: the released row (30, ``*``) must occur k times itself. Other
    software lets such a row match every row that it covers, which suppresses fewer cells but protects less. An attacker
    may know that the target is (30, lawyer), and that the row (30, teacher) belongs to somebody else. The only row (30,
    ``*``) is then the target's.

    Parameters
    ----------
    k : int
        Smallest number of records that share a released combination, at least 1.
    columns : sequence of str, optional
        The columns of the combinations, whose cells may be suppressed; by default the quasi-identifiers.
    importance : mapping of str to float, optional
        Cost of suppressing a cell of each column, above 0; 1 for a column that is not named.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1 or an importance is not above 0. On `apply` and `guarantee`, if `k`
        exceeds the number of records or a column is unknown.

    Notes
    -----
    The search is greedy. It goes through the sets of columns by cost, from the empty set to all columns. Among equally
    cheap sets, the one with the most different values comes first. For each set, it looks at the records that are not
    safe yet. Those that agree with k - 1 others of them on all columns outside the set lose their cells in the set
    and are safe. In the end fewer than k records may remain, which are suppressed on all columns. As many other
    records as are needed to reach k are suppressed with them, if possible from combinations with more than k records.

    This is one pass over the unsafe records for each set. With more than 10 columns, those with the most values
    relative to their importance are always suppressed together, so that there are at most 1025 passes.

    Guarantee: k-anonymity over the columns, and thus over the quasi-identifiers if these are among them. The channel is
    containment. Finding the fewest cells is NP-hard (Meyerson and Williams 2004).

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, section 3.2 (local suppression); Templ, Kowarik and
    Meindl (2015), Statistical disclosure control for micro-data using the R package sdcMicro.
    """

    called = ("Local suppression", "Cell suppression")

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
        importance = np.array([(self.importance or {}).get(name, 1.0) for name in names])
        suppressed = suppressed_cells(codes, self.k, importance)
        changed = [column for column in range(len(names)) if suppressed[:, column].any()]
        for column in changed:
            frame[names[column]] = _suppressed(frame[names[column]], suppressed[:, column])
        parts = [Containment(names[column], records.domain(names[column])) for column in changed]
        return rowwise_release(frame, Channel(tuple(parts)))

    def _checked_columns(self, records: Microdata) -> tuple[str, ...]:
        names = super()._checked_columns(records)
        refuse_any(
            [name for name in self.importance or () if name not in names],
            lambda name: f"importance: column {name!r} is not among {', '.join(names)}",
        )
        return names


def suppressed_cells(codes: Integers, k: int, worth: NDArray[np.float64]) -> Booleans:
    """Return the cells to suppress so that every row occurs at least k times, shape (n, p).

    - codes of shape (n, p): Codes of the values of each column, from 0 on; n >= k.
    - k: Smallest number of equal rows.
    - worth of shape (p,): Cost of suppressing a cell of each column.
    """
    n, p = codes.shape
    suppressed = np.zeros((n, p), dtype=bool)
    unsafe = np.arange(n)
    keys = _keys(codes)
    for chosen in _sets(codes, worth):
        lost = np.zeros(p, dtype=bool)
        lost[list(chosen)] = True
        classes = _classes(codes[unsafe][:, ~lost]) if keys is None else pd.factorize(keys[unsafe] @ ~lost)[0]
        safe = class_sizes(classes)[classes] >= k
        suppressed[unsafe[safe]] |= lost
        unsafe = unsafe[~safe]
        if not unsafe.size:
            return suppressed
    return _without_rest(codes, suppressed, unsafe, k)


def _keys(codes: Integers) -> Integers | None:
    """Terms of a mixed-radix number of each row, shape (n, p); None if the numbers would exceed 63 bits.

    The sum over any columns identifies the row's values in them.
    """
    radices = [int(size) for size in codes.max(axis=0, initial=0) + 1]
    weights = [1, *accumulate(radices, mul)]
    return codes * np.array(weights[:-1], dtype=np.int64) if weights[-1] < 2**63 else None


def _classes(codes: Integers) -> Integers:
    """Equivalence class of each row of codes, shape (n,)."""
    frame = pd.DataFrame(codes).rename(columns=str)
    return equivalence_classes(frame, tuple(frame.columns))


def _sets(codes: Integers, worth: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """Sets of columns from the empty one to all columns, by cost; ties by the number of values, most first."""
    values = np.log(codes.max(axis=0, initial=0) + 1)
    order = [int(column) for column in np.argsort(-values / worth, kind="stable")]
    first = tuple(order[: max(0, worth.size - _CHOICES)])
    rest = order[len(first) :]
    sets = [first + part for size in range(len(rest) + 1) for part in combinations(rest, size)]
    ranked = sorted(sets, key=lambda part: (worth[list(part)].sum(), -values[list(part)].sum()))
    return [(), *ranked] if first else ranked


def _without_rest(codes: Integers, suppressed: Booleans, rest: Integers, k: int) -> Booleans:
    """Suppress the rest, fewer than k rows, together with as many other rows as are needed to reach k."""
    suppressed = suppressed.copy()
    suppressed[rest] = True
    missing = k - rest.size
    others = np.setdiff1d(np.arange(len(suppressed)), rest)
    classes = _classes(np.where(suppressed, -1, codes)[others])
    sizes = class_sizes(classes)
    spare = others[ranks_in_groups(classes) >= k]
    spare = spare[np.argsort(-suppressed[spare].sum(axis=1), kind="stable")]
    if spare.size >= missing:
        suppressed[spare[:missing]] = True
    else:
        # No class can spare enough rows, so the smallest class is suppressed as a whole.
        suppressed[others[classes == sizes.argmin()]] = True
    return suppressed


def _suppressed(column: pd.Series[Any], suppressed: Booleans) -> pd.Series[Any]:
    """Released cells: ``*`` where suppressed, and numbers as text."""
    codes, distinct = pd.factorize(column, use_na_sentinel=True)
    texts = [format_number(value) for value in distinct] if is_number_column(column) else list(distinct)
    cells = np.array([*texts, None], dtype=object)[codes]
    return pd.Series(np.where(suppressed, SUPPRESSED, cells), name=column.name, dtype=object)


class RecordSuppression(KAnonymousDefense, CountedDefense):
    """Records in classes smaller than k are suppressed; all others are released unchanged.

    Parameters
    ----------
    k : int
        Smallest class that is released, at least 1.
    columns : sequence of str, optional
        The columns that define the classes; by default the quasi-identifiers. A missing value is a value of its own.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1. On `apply` and `guarantee`, if it exceeds the number of records or a
        column is unknown.

    Notes
    -----
    Guarantee: k-anonymity over the columns, and thus over the quasi-identifiers if these are among them. The release
    may be empty. Record suppression is usually the last step, after recoding has made most classes large enough.

    References
    ----------
    Samarati (2001), Protecting respondents' identities in microdata release, section 3.
    """

    called = ("Record suppression", "Row suppression")

    only_suppresses = True
    """Records are released unchanged, or not at all."""

    def counted_columns(self, roles: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns that define the classes; no sensitive ones."""
        return chosen_columns(roles, self.columns, roles.quasi_identifiers), ()

    def recode(self, records: CountedTable) -> Recoding:
        """Release the classes with at least k records."""
        names = records.checked_columns(self.k, self.columns)
        classes = records.classes(names)
        sizes = np.bincount(classes, weights=records.counts)
        kept = np.where(sizes[classes] >= self.k, classes, -1)
        return Recoding(kept, {}, k_anonymity_over(self.k, records.roles, names), Channel())
