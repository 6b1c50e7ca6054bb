"""Channel parts for cells that hold reports under local differential privacy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.channel_parts.part import ColumnPart, ColumnsPart, Likelihood
from metrics.columns import Booleans, Domain, Floats, NumericDomain, read_cells, require


@dataclass(frozen=True)
class ReportedSet(ColumnPart):
    """The cell is the set of the values that a person's report supports; ``*`` supports none.

    The log-likelihood is `outside` for a value outside the set, and `outside` + `odds` for one in it. It is known up to
    a constant for each cell: it compares values, not cells. It is -inf for a missing value, unless that counts as a
    value.

    Parameters
    ----------
    size : int
        Number of values: those of the domain, and one more where a missing value counts as one.
    odds : float
        Log-likelihood ratio of a report between a value that it supports and one that it does not.
    outside : float
        Log-likelihood of a report under a value that it does not support.

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
        values = self.domain.codes(original[self.column])
        return Likelihood((codes,), (values,), lambda cell, value: table[cell, value])


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

    Parameters
    ----------
    column : Series, shape (n,)
        Released cells.
    domain : Domain
        Domain of the original values; numbers are read as bins.

    Returns
    -------
    codes : ndarray of int, shape (n,)
        Distinct cell of each row.
    members : ndarray of bool, shape (distinct, domain.size + 1)
        Whether each distinct cell holds each category or bin, and a missing value last; ``*`` holds none.

    Raises
    ------
    ValueError
        If a cell is none of this domain; names column, row (from 0) and cell.
    """
    cells = read_cells(column, domain)
    if isinstance(domain, NumericDomain):
        members = cells.contains(np.array([domain.low, *domain.cuts, np.nan]))
    else:
        members = cells.contains(np.array([*domain.categories, None], dtype=object))
    return cells.codes, members & ~cells.suppressed[:, None]
