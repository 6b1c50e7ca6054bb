"""Ways to report several columns under one budget: splitting it, sampling a column, and sampling among fakes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.channel_parts import ChannelPart, ReportAmongFakes
from defenses.ldp.bit_vectors import UnaryEncoding
from defenses.ldp.frequency_oracle import ReportBatch
from defenses.ldp.reported.reported_columns import ReportedColumn, TableColumn
from metrics.columns import Booleans, Floats, Integers, require

NO_NUMBERS = "numbers: RS+FD sends reports of random values as fakes; set splitting to SPL or SMP"


@dataclass(frozen=True)
class SentReports:
    """Reports of one column.

    - reports: The reports, in the order of the senders.
    - senders of shape (m,): Positions of the persons who report this column, ascending.
    """

    column: TableColumn
    reports: Any
    senders: Integers


class Splitting(ABC):
    """Strategy to report several columns of a record under one budget.

    - joint: Whether a person reports the true values of several columns, so that pairs of columns can be estimated.
    """

    joint: ClassVar[bool] = False

    @abstractmethod
    def column_epsilon(self, epsilon: float, columns: int) -> float:
        """Epsilon of the report of one column, for a record with a budget of `epsilon`."""

    @abstractmethod
    def record_epsilon(self, column_epsilon: float, columns: int) -> float:
        """Exact epsilon between any two records, for reports of `column_epsilon` each."""

    @abstractmethod
    def send(self, columns: Sequence[TableColumn], values: Sequence[NDArray[Any]], rng: Generator) -> list[SentReports]:
        """Randomize the values of all persons, of shape (n,) for each column."""

    def parts(self, columns: Sequence[TableColumn]) -> tuple[ChannelPart, ...]:
        """Return the parts of the channel of a table whose cells are the reports, and ``*`` where there is none.

        An empty cell is equally likely under all values, so there is one part for each column.
        """
        return tuple(column.part for column in columns)

    def shares(self, sent: SentReports, columns: int) -> Floats:
        """Estimated distribution of one of the columns, shape (size,), unbiased unless it holds numbers."""
        return sent.column.shares(sent.reports)


class BudgetSplitting(Splitting):
    """Splitting of the budget (SPL): every person reports every column, each with epsilon/m.

    Reports are independent given the record, so that epsilons add up, and the largest ratio of likelihoods between two
    records that differ in all columns is e^epsilon.

    References
    ----------
    Nguyen, Xiao, Yang, Hui, Shin and Shin (2016), Collecting and analyzing data from smart device users with local
    differential privacy, section 2.
    """

    joint = True

    def column_epsilon(self, epsilon: float, columns: int) -> float:
        """Return the m-th part of the budget."""
        return epsilon / max(1, columns)

    def record_epsilon(self, column_epsilon: float, columns: int) -> float:
        """Return the sum over the columns."""
        return column_epsilon * columns

    def send(self, columns: Sequence[TableColumn], values: Sequence[NDArray[Any]], rng: Generator) -> list[SentReports]:
        """Let every person report every column."""
        return [
            SentReports(column, column.privatize(codes, child), np.arange(codes.size))
            for column, codes, child in zip(columns, values, rng.spawn(len(columns)), strict=True)
        ]


class ColumnSampling(Splitting):
    """Sampling of a column (SMP): every person reports one column, drawn uniformly, with the whole epsilon.

    The draw does not depend on the record, so that epsilon holds between any two records. It is visible: the other
    columns of the row are empty.

    References
    ----------
    Nguyen et al. (2016), section 3; Wang et al. (2019), Collecting and analyzing multidimensional data with local
    differential privacy, section 4.
    """

    def column_epsilon(self, epsilon: float, columns: int) -> float:
        """Return the whole budget."""
        return epsilon

    def record_epsilon(self, column_epsilon: float, columns: int) -> float:
        """Return the epsilon of the one report."""
        return column_epsilon if columns else 0.0

    def send(self, columns: Sequence[TableColumn], values: Sequence[NDArray[Any]], rng: Generator) -> list[SentReports]:
        """Let every person report one column, and the other ones only where they are faked."""
        if not columns:
            return []
        choice_rng, *children = rng.spawn(1 + len(columns))
        chosen = choice_rng.integers(len(columns), size=values[0].size)
        return [
            self._sent(column, codes, chosen == number, child)
            for number, (column, codes, child) in enumerate(zip(columns, values, children, strict=True))
        ]

    def _sent(self, column: TableColumn, values: NDArray[Any], own: Booleans, rng: Generator) -> SentReports:
        """Reports of one column, given which persons chose it."""
        senders = np.flatnonzero(own)
        return SentReports(column, column.privatize(values[senders], rng), senders)


class ColumnSamplingAmongFakes(ColumnSampling):
    """Random sampling plus fake data (RS+FD): a sampled column's report among fake reports of all other columns.

    A fake is the report of a uniformly random value, or of no value, all bits being 0 before they are randomized.

    - blank: Whether fakes are reports of no value, which unary encodings alone can send.
    - amplified: Whether the report has epsilon' = ln(m (e^epsilon - 1) + 1) instead of epsilon, as published.

    Notes
    -----
    With r_j the likelihood ratio of column j's report between the person's value and a fake, a row has a likelihood
    proportional to sum_j r_j (`ReportAmongFakes`). Between two records that differ in all columns each r_j may change
    by the factor e^epsilon' of the sampled report in the same direction, hence the sum, too. The exact epsilon is
    therefore that of the report, for any number of columns.

    The published amplification applies to sampling of records: there, the records that are not drawn have no influence
    on the output. Here the report is of a value of the same person whichever column is drawn. Between records that
    differ in one column only, of m columns with d values each, it holds for randomized response:
    (p d + (m - 1) q d)/(q d + (m - 1) q d) = (e^epsilon' + m - 1)/m = e^epsilon. So `amplified` reports have epsilon
    between such neighbours and epsilon' between any two records.

    References
    ----------
    Arcolezi, Couchot, Al Bouna and Xiao (2021), Random sampling plus fake data, sections 4 and 5; Li, Qardaji and Su
    (2012), On sampling, anonymization, and differential privacy, for the amplification by sampling of records.
    """

    def __init__(self, *, blank: bool = False, amplified: bool = False) -> None:
        self.blank = blank
        self.amplified = amplified

    def column_epsilon(self, epsilon: float, columns: int) -> float:
        """Return the whole budget, amplified if asked for."""
        return float(np.log1p(max(1, columns) * np.expm1(epsilon))) if self.amplified else epsilon

    def _sent(self, column: TableColumn, values: NDArray[Any], own: Booleans, rng: Generator) -> SentReports:
        """Reports of one column by all persons, fakes of those who did not choose it."""
        own_rng, fake_rng = rng.spawn(2)
        everyone = np.arange(own.size)
        if not self.blank:
            inputs = np.where(own, values, fake_rng.integers(column.size, size=own.size))
            return SentReports(column, column.protocol.privatize(inputs, own_rng), everyone)
        protocol = blank_protocol(column)
        bits = protocol.blank_reports(own.size, fake_rng).parts["bits"]
        bits[own] = protocol.privatize(values[own], own_rng).parts["bits"]
        return SentReports(column, ReportBatch(protocol, {"bits": bits}), everyone)

    def parts(self, columns: Sequence[TableColumn]) -> tuple[ChannelPart, ...]:
        """Return one part for all columns jointly."""
        if not columns:
            return ()
        # The log-likelihood ratio of a report between a value outside its set and no value: log((1 - p)/(1 - q)).
        unary = map(blank_protocol, columns if self.blank else ())
        blank = tuple(float(np.log(protocol.unset) - np.log1p(-protocol.q)) for protocol in unary)
        odds = tuple(column.odds for column in columns if isinstance(column, ReportedColumn))
        require(len(odds) >= len(columns), NO_NUMBERS)
        names, domains, sizes = zip(*((c.name, c.domain, c.size) for c in columns), strict=True)
        return (ReportAmongFakes(names, domains, sizes, odds, blank, 0),)

    def shares(self, sent: SentReports, columns: int) -> Floats:
        """Unbiased estimate of the distribution of one of the columns, shape (size,).

        The reports estimate f/m + (1 - 1/m) g with g the distribution of the fakes: uniform, or 0 for blank ones.
        """
        if not len(sent.reports):
            return sent.column.shares(sent.reports)
        fakes = 0.0 if self.blank else 1 / sent.column.size
        return np.asarray(columns * sent.column.shares(sent.reports) - (columns - 1) * fakes)


def blank_protocol(column: TableColumn) -> UnaryEncoding:
    """Return the column's protocol, which can report no value.

    Raises ValueError if it is no unary encoding.
    """
    protocol: UnaryEncoding = column.protocol
    require(
        isinstance(protocol, UnaryEncoding),
        f"fakes: {type(protocol).__name__} cannot report no value, only unary encodings can; use 'random'",
    )
    return protocol
