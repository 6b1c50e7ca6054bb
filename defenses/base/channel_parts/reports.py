"""Channel parts for cells that hold reports under local differential privacy: sets of values, and numbers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.channel_parts.part import ColumnPart, ColumnsPart, Likelihood
from defenses.base.columns import plain_numbers
from defenses.base.number_law import NumberLaw
from metrics.columns import SUPPRESSED, Booleans, Domain, Floats, NumericDomain, read_cells, require


@dataclass(frozen=True)
class ReportedSet(ColumnPart):
    """The cell is the set of the values that a person's report supports; ``*`` supports none.

    The log-likelihood is `outside` for a value outside the set, and `outside` + `odds` for one in it. It is known up to
    a constant for each cell: it compares values, not cells. It is -inf for a missing value, unless that counts as a
    value.

    - size: Number of values: those of the domain, and one more where a missing value counts as one.
    - odds: Log-likelihood ratio of a report between a value that it supports and one that it does not.
    - outside: Log-likelihood of a report under a value that it does not support.

    References
    ----------
    Wang, Blocki, Li and Jha (2017), Locally differentially private protocols for frequency estimation, section 3, for
    reports that support values.
    """

    kind: ClassVar[str] = "reported_set"
    size: int
    odds: float
    outside: float

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        codes, supported = read_sets(released[self.column], self.domain)
        table = np.where(supported, self.outside + self.odds, self.outside)
        table[:, self.size :] = -np.inf
        return Likelihood((codes,), (self.domain.codes(original[self.column]),), lambda cell, value: table[cell, value])


@dataclass(frozen=True)
class ReportAmongFakes(ColumnsPart):
    r"""Every cell is a report, but only one column's, drawn uniformly, is of the person's value; the others are fake.

    Let L_j(y \| x) be the likelihood of column j's cell under a value x, and F_j(y) its probability as a fake. The row
    has the likelihood (1/m) sum_j L_j(y_j \| x_j) prod_{i != j} F_i(y_i) for m columns. Up to a constant for each row
    its logarithm is log((1/m) sum_j r_j) with r_j = L_j(y_j \| x_j)/F_j(y_j).

    A fake is the report of a uniformly random value, or of none (all bits 0 before randomization). In the first case
    F_j is the mean of L_j over the values. A set of s among d values thus has r = d e^odds/(s e^odds + d - s) for the
    values in it, and r = d/(s e^odds + d - s) for others. In the second case r is e^(odds + blank) and e^blank.

    Parameters
    ----------
    names : tuple of str
        The columns.
    domains : tuple of Domain
        Their domains; numbers are read as bins.
    sizes : tuple of int
        Number of values of each column, with one for missing where that counts as a value.
    odds : tuple of float
        See `ReportedSet`, for each column.
    blank : tuple of float
        For each column, log-likelihood ratio of a report between a value outside its set and no value; empty where
        fakes are reports of random values.
    others : int
        Number of further columns, one of which may be the person's, but which are not read.

    Raises
    ------
    ValueError
        If the lengths do not fit.

    References
    ----------
    Arcolezi, Couchot, Al Bouna and Xiao (2021), Random sampling plus fake data, section 4.
    """

    kind: ClassVar[str] = "report_among_fakes"
    sizes: tuple[int, ...]
    odds: tuple[float, ...]
    blank: tuple[float, ...]
    others: int

    def __post_init__(self) -> None:
        lengths = {len(self.names), len(self.domains), len(self.sizes), len(self.odds), len(self.blank or self.names)}
        require(
            len(lengths) <= 1 and self.names,
            "report_among_fakes: names, domains, sizes, odds and blank must have one entry a column",
        )

    def restricted(self, columns: Collection[str]) -> ReportAmongFakes | None:
        """Return the exact part for some of the columns: where another column was drawn, all of these are fake."""
        chosen = [position for position, name in enumerate(self.names) if name in columns]
        if not chosen:
            return None
        return ReportAmongFakes(
            tuple(self.names[position] for position in chosen),
            tuple(self.domains[position] for position in chosen),
            tuple(self.sizes[position] for position in chosen),
            tuple(self.odds[position] for position in chosen),
            tuple(self.blank[position] for position in chosen) if self.blank else (),
            self.others + len(self.names) - len(chosen),
        )

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        cells, values, ratios = [], [], []
        for position, (name, domain) in enumerate(zip(self.names, self.domains, strict=True)):
            codes, supported = read_sets(released[name], domain)
            cells.append(codes)
            values.append(domain.codes(original[name]))
            ratios.append(self._ratio(position, supported))
        total = len(self.names) + self.others

        @np.errstate(divide="ignore", invalid="ignore")
        def kernel(*sides: NDArray[np.intp]) -> Floats:
            result: Any = float(self.others)
            for ratio, cell, value in zip(ratios, sides[: len(ratios)], sides[len(ratios) :], strict=True):
                result = result + ratio[cell, value]
            return np.asarray(np.where(np.isnan(result), -np.inf, np.log(result / total)))

        return Likelihood(tuple(cells), tuple(values), kernel)

    def _ratio(self, position: int, supported: Booleans) -> Floats:
        """The ratio r of each distinct cell and value, shape (cells, domain.size + 1); NaN for impossible values."""
        size, lift = self.sizes[position], np.exp(self.odds[position])
        if self.blank:
            ratio = np.exp(self.blank[position]) * np.where(supported, lift, 1.0)
        else:
            count = supported[:, :size].sum(axis=1, keepdims=True)
            ratio = np.where(supported, lift, 1.0) * size / (count * lift + size - count)
        ratio[:, size:] = np.nan
        return np.asarray(ratio)


def read_sets(column: pd.Series[Any], domain: Domain) -> tuple[NDArray[np.intp], Booleans]:
    """Read a column of sets by the values that each distinct cell holds.

    - column of shape (n,): Released cells.
    - domain: Domain of the original values; numbers are read as bins.
    - returns codes of shape (n,): Distinct cell of each row.
    - returns members of shape (distinct, domain.size + 1): Whether each distinct cell holds each category or bin, and a
      missing value last; ``*`` holds none.

    Raises ValueError if a cell is none of this domain; names column, row (from 0) and cell.
    """
    cells = read_cells(column, domain)
    if isinstance(domain, NumericDomain):
        members = cells.contains(np.array([domain.low, *domain.cuts, np.nan]))
    else:
        members = cells.contains(np.array([*domain.categories, None], dtype=object))
    return cells.codes, members & ~cells.suppressed[:, None]


@dataclass(frozen=True)
class ReportedNumber(ColumnPart):
    """The cell is the report of a number by a piecewise, two-point or hybrid mechanism; ``*`` is no report.

    Numbers are mapped from the domain's range onto [-1, 1], and reports back by the same map. They lie outside of the
    range, too. The log-likelihood is that of `defenses.base.number_law.NumberLaw`: a density where the report is
    piecewise, and a probability where it is an atom. It is the same for all values where there is no report, and -inf
    for values outside of the range.

    Cells are doubles in the column's unit, and readers of files may miss their last digit. So a cell is compared with
    atoms and ends of pieces up to four units in the last place of the largest report. A cell that is both an atom and
    in a piece is read as the atom. This matters at a large epsilon in a narrow range far from 0 only.

    - share: Probability that a report is piecewise, in [0, 1].
    - missing: Whether missing values send blank reports; otherwise they are impossible.

    Raises ValueError if the domain is not that of numbers, its range is empty or too wide for its reports, or a
    parameter is out of range.

    References
    ----------
    Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu (2019), Collecting and analyzing multidimensional data with local
    differential privacy, section 3.
    """

    kind: ClassVar[str] = "reported_number"
    epsilon: float
    share: float
    missing: bool

    def __post_init__(self) -> None:
        require(
            isinstance(self.domain, NumericDomain) and self.domain.low < self.domain.high,
            f"reported_number: column {self.column!r} needs a numeric domain with low below high",
        )
        require(
            0 < self.epsilon <= 700 and 0 <= self.share <= 1,
            "reported_number: epsilon must lie in (0, 700] and share in [0, 1]",
        )
        require(
            np.isfinite(self._half * max(self.law.reach, self.law.atom)),
            f"reported_number: the range of column {self.column!r} is too wide for its reports",
        )

    @cached_property
    def law(self) -> NumberLaw:
        """Law of a report given a number in [-1, 1]."""
        return NumberLaw(self.epsilon, self.share)

    @property
    def size(self) -> int:
        """Number of bins, and one more where missing values send reports."""
        return self.domain.size + self.missing

    @property
    def _middle(self) -> float:
        return self._range.low / 2 + self._range.high / 2

    @property
    def _half(self) -> float:
        return self._range.high / 2 - self._range.low / 2

    @cached_property
    def _slack(self) -> float:
        """Largest error of a cell that was written and read, in the column's unit."""
        largest = np.abs(self.published(np.array([-1.0, 1.0]) * max(self.law.reach, self.law.atom))).max()
        return float(4 * np.spacing(largest))

    @property
    def _range(self) -> NumericDomain:
        assert isinstance(self.domain, NumericDomain)  # noqa: S101 (checked by the constructor)
        return self.domain

    def scaled(self, values: Floats) -> Floats:
        """Map numbers of the range onto [-1, 1]; NaN where missing or outside of the range."""
        inside = (values >= self._range.low) & (values <= self._range.high)
        return np.where(inside, np.clip((values - self._middle) / self._half, -1, 1), np.nan)

    def published(self, reports: Floats) -> Floats:
        """Map reports of numbers in [-1, 1] to the column's unit."""
        return np.asarray(self._middle + self._half * reports)

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        cells, signs, silent = self._read(released[self.column])
        values = plain_numbers(original[self.column])
        scaled = self.scaled(values)
        impossible = np.isnan(scaled) & ~(np.isnan(values) & self.missing)
        low, high = (self.published(end) for end in self.law.pieces(scaled))
        low, high = low - self._slack, high + self._slack

        def kernel(*sides: Any) -> Floats:
            cell, sign, no_report, start, end, value, never = sides
            logs = self.law.log_density((start <= cell) & (cell <= end), sign, value)
            logs = np.where(np.isfinite(cell), logs, -np.inf)
            return np.asarray(np.where(never > 0, -np.inf, np.where(no_report > 0, 0.0, logs)))

        # Plain numbers throughout: attacks stack these arrays.
        return Likelihood((cells, signs, silent.astype(float)), (low, high, scaled, impossible.astype(float)), kernel)

    def bin_log_likelihoods(self, column: pd.Series[Any]) -> Floats:
        """Log-likelihood of each cell under each bin, and under a missing value last, shape (n, size).

        It is known up to a constant for each cell. Values are taken to be uniform within a bin: uniform integers where
        only integers occur. The likelihood of a piecewise report is then proportional to 1 + (e^epsilon - 1) f, with f
        the share of the bin whose pieces hold the report. That of an atom is its probability for the bin's mean.
        """
        cells, signs, silent = self._read(column)
        reports = (cells - self._middle) / self._half
        low, high = (self.published(end)[:, None] for end in self.law.values(reports))
        first, last = self._bins()
        shares = _overlap(low - self._slack, high + self._slack, first, last, integer=self._range.integer)
        piecewise = np.log1p(np.expm1(self.epsilon) * shares)
        middle = np.clip(((first + last) / 2 - self._middle) / self._half, -1, 1)
        atoms = self.law.log_density(np.zeros((1, 1), dtype=bool), signs[:, None], middle[None, :])
        blank = np.where(signs == 0, -np.log(self.law.uniform), 0.0)
        if self.share < 1:
            blank = np.where(signs == 0, blank, np.log(0.5) + np.log1p(-self.share))
        logs = np.column_stack([np.where(signs[:, None] == 0, piecewise, atoms), blank])[:, : self.size]
        return np.where(silent[:, None], 0.0, logs)

    def _bins(self) -> tuple[Floats, Floats]:
        """Smallest and largest value of each bin; of an integer range the smallest and largest integer."""
        edges = self._range.edges
        if self._range.integer:
            return np.ceil(edges[:-1]), np.ceil(edges[1:]) - 1
        return edges[:-1], edges[1:]

    def _read(self, column: pd.Series[Any]) -> tuple[Floats, Floats, Booleans]:
        """Cells as numbers, NaN where impossible; the sign of atoms, 0 elsewhere; and where there is no report."""
        silent = (column.astype(object) == SUPPRESSED).to_numpy(dtype=bool)
        numbers = plain_numbers(column.mask(silent) if silent.any() else column)
        atom = self.published(np.array([-self.law.atom, self.law.atom]))
        near = (np.abs(numbers[:, None] - atom) <= self._slack) & (self.share < 1)
        signs = near[:, 1].astype(float) - near[:, 0]
        reach = self.published(np.array([-self.law.reach, self.law.reach])) + np.array([-self._slack, self._slack])
        possible = (signs != 0) | ((numbers >= reach[0]) & (numbers <= reach[1]) & (self.share > 0))
        return np.where(silent, 0.0, np.where(possible, numbers, np.nan)), signs, silent


def _overlap(low: Floats, high: Floats, first: Floats, last: Floats, *, integer: bool) -> Floats:
    """Share of each bin's values in each interval [low, high]."""
    start, end = np.maximum(low, first), np.minimum(high, last)
    if integer:
        count = np.floor(end) - np.ceil(start) + 1
        return np.asarray(np.clip(np.nan_to_num(count), 0, None) / np.maximum(last - first + 1, 1))
    width = last - first
    point = (start <= end).astype(float)
    return np.where(width > 0, np.clip(np.nan_to_num(end - start), 0, None) / np.where(width > 0, width, 1), point)
