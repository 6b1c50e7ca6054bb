"""A column of numbers that persons report through a mechanism for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import Microdata
from defenses.base.channel_parts import ReportedNumber
from defenses.ldp import HybridMechanism, NumberMechanism, PiecewiseMechanism, TwoPointMechanism
from defenses.ldp.local_reports import refuse_missing
from defenses.ldp.report_batch import chunks
from defenses.ldp.reported.reported_column import TableColumn
from metrics.columns import Domain, Floats, Integers64, NumericDomain, format_number, refuse_rows

# Mechanisms for numbers, by class name.
NUMBERS: dict[str, type[NumberMechanism]] = {
    make.__name__: make for make in (PiecewiseMechanism, HybridMechanism, TwoPointMechanism)
}
# EM ends when a round adds less than this to the log-likelihood of all reports, or after this many rounds.
SMALLEST_GAIN, ROUNDS = 0.01, 1000
# Number of reports above which EM works on this many groups of neighbouring reports.
GROUPS = 4096


@dataclass(frozen=True)
class ReportedNumericColumn(TableColumn):
    """A column of numbers and the mechanism that reports it.

    Attributes
    ----------
    name : str
        The column.
    domain : NumericDomain
        Its public domain. Its range is mapped onto [-1, 1].
    protocol : NumberMechanism
        The mechanism.
    missing : bool
        Whether missing values send blank reports.
    """

    domain: NumericDomain
    protocol: NumberMechanism
    missing: bool

    @cached_property
    def part(self) -> ReportedNumber:
        """The part of a channel for this column."""
        return ReportedNumber(
            self.name, self.domain, float(self.protocol.epsilon), float(self.protocol.share), self.missing
        )

    @property
    def size(self) -> int:
        """Number of bins, and one more where missing values send reports."""
        return self.part.size

    def privatize(self, values: Floats, rng: Generator) -> Floats:
        """Report each person's number, in the column's unit, shape (n,); NaN sends a blank report.

        The mean of the reports is the person's number. The map to the column's unit, with its rounding, is
        post-processing.
        """
        return self.part.published(self.protocol.law.draw(self.part.scaled(values), rng))

    def cells(self, reports: Floats) -> NDArray[np.object_]:
        """Return each report as a released cell, shape (n,): a number."""
        return reports.astype(object)

    def shares(self, reports: Floats) -> Floats:
        """Estimated distribution of the values over the public bins, shape (size,); uniform without any report.

        The estimate maximizes the likelihood of the reports by expectation maximization (EM) from equal shares. Values
        are taken to be uniform within a bin. EM ends when a round adds less than 0.01 to the log-likelihood: further
        rounds fit the noise.

        More than 4,096 reports are sorted and cut into as many groups, with the mean likelihood for each group.

        Li et al. also smooth the shares of neighbouring bins in every round. That is not done here, since public bins
        are few and of unequal widths. With 20,000 reports of Adult's capital gain at epsilon = 4, nine tenths of which
        are 0, it raised the total variation distance from .04 to .58.

        References
        ----------
        Li, Wang, Lopuhaä-Zwakenberg, Skoric and Li (2020), Estimating numerical distributions under local differential
        privacy, section 5.
        """
        shares, last = np.full(self.size, 1 / self.size), -np.inf
        likelihood, counts = self._grouped(reports)
        for _ in range(ROUNDS if len(reports) else 0):
            mixture = likelihood @ shares
            total = float(counts @ np.log(mixture))
            if total - last < SMALLEST_GAIN:
                break
            shares, last = shares * (likelihood.T @ (counts / mixture)) / len(reports), total
        return shares

    def indicators(self, reports: Floats, shares: Floats) -> Floats:
        """Probability of each bin given each report and the estimated distribution, shape (n, size).

        At the maximum of the likelihood their mean is that distribution. They attenuate the association with other
        columns, and show none where there is none.
        """
        joint = self._likelihood(reports) * shares
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    def _likelihood(self, reports: Floats) -> Floats:
        """Likelihood of each report under each bin, shape (n, size), scaled to a maximum of 1 for each report."""
        logs = self.part.bin_log_likelihoods(pd.Series(reports, name=self.name))
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf)))

    def _grouped(self, reports: Floats) -> tuple[Floats, Integers64]:
        """Likelihoods as `_likelihood` of groups of neighbouring reports, and the number of reports of each group."""
        n = len(reports)
        if n <= GROUPS:
            return self._likelihood(reports), np.ones(n, dtype=np.int64)
        ordered, ends = np.sort(reports), np.arange(GROUPS + 1) * n // GROUPS
        counts, parts = np.diff(ends), []
        for groups in chunks(GROUPS, self.size * (1 + n // GROUPS)):
            first, last = ends[groups.start], ends[groups.stop]
            logs = self.part.bin_log_likelihoods(pd.Series(ordered[first:last], name=self.name))
            starts, rows = ends[groups] - first, counts[groups]
            tops = np.repeat(np.maximum.reduceat(logs.max(axis=1), starts), rows)
            parts.append(np.add.reduceat(np.exp(logs - tops[:, None]), starts) / rows[:, None])
        return np.concatenate(parts), counts


def is_range(domain: Domain) -> TypeGuard[NumericDomain]:
    """Return whether a domain is a range of numbers with more than one number."""
    return isinstance(domain, NumericDomain) and domain.low < domain.high


def ranged_numbers(records: Microdata, column: str, domain: NumericDomain, missing: str, parameter: str) -> Floats:
    """Numbers of a column in their public range, shape (n,); NaN where missing.

    Parameters
    ----------
    records : Microdata
        The records.
    column : str
        One of their columns.
    domain : NumericDomain
        Its public range.
    missing : {"category", "refuse"}
        Whether a missing value raises an error.
    parameter : str
        The parameter that error messages name.

    Raises
    ------
    ValueError
        If a value is no number of the range, or a missing value is refused. Names the column and the row, from 1, but
        not the value.
    """
    values = records.frame[column]
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    absent = values.isna().to_numpy()
    outside = ~absent & ~((numbers >= domain.low) & (numbers <= domain.high))
    bounds = f"[{format_number(domain.low)}, {format_number(domain.high)}]"
    refuse_rows(
        outside,
        lambda row: f"{parameter}: column {column!r} holds no number of its domain {bounds} in row {row + 1}",
    )
    if missing == "refuse":
        refuse_missing(column, absent)
    return numbers
