"""A column that persons report through a protocol, with its reports as released cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import category_cells
from defenses.base.channel_parts import ChannelPart, ReportedSet
from defenses.ldp import FrequencyOracle, GeneralizedRandomizedResponse, PureOracle
from defenses.ldp.report_batch import ReportBatch, chunks
from metrics.columns import SUPPRESSED, Booleans, Domain, Floats, Integers, Integers64

# The contract of a column of a table of local reports.


@dataclass(frozen=True)
class TableColumn(ABC):
    """A column that persons report, with its reports as released cells.

    Reports are what `privatize` returns. They have a length and a method `take`.

    Attributes
    ----------
    name : str
        The column.
    domain : Domain
        Its public domain.
    protocol : FrequencyOracle or NumberMechanism
        What makes the reports.
    """

    name: str
    domain: Domain
    protocol: Any

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of categories or public bins, and one more where a missing value counts as one."""

    @property
    @abstractmethod
    def part(self) -> ChannelPart:
        """The part of a channel for this column alone."""

    @abstractmethod
    def privatize(self, values: NDArray[Any], rng: Generator) -> Any:
        """Report each person's value, shape (n,)."""

    @abstractmethod
    def cells(self, reports: Any) -> NDArray[np.object_]:
        """Return each report as a released cell, shape (n,)."""

    @abstractmethod
    def shares(self, reports: Any) -> Floats:
        """Estimated distribution of the values, shape (size,); uniform without any report."""

    @abstractmethod
    def indicators(self, reports: Any, shares: Floats) -> Floats:
        """Estimate of each person's indicator vector, shape (n, size), given the estimated distribution.

        The mean of products of two columns' indicators serves to estimate their joint distribution.
        """


@dataclass(frozen=True)
class ReportedColumn(TableColumn):
    """A column and the protocol that reports it.

    Attributes
    ----------
    name : str
        The column.
    domain : Domain
        Its public domain; numbers are reported as bins.
    protocol : FrequencyOracle
        The protocol. Its values are the positions in the domain, and one more where a missing value counts as one.
    """

    protocol: FrequencyOracle

    @property
    def size(self) -> int:
        """Number of values."""
        return int(self.protocol.d)

    @property
    def odds(self) -> float:
        """Log-likelihood ratio of a report between a value that it supports and one that it does not."""
        protocol = self.protocol
        return protocol.support_odds if isinstance(protocol, PureOracle) else float(protocol.epsilon)

    @property
    def outside(self) -> float:
        """Log-likelihood of a report under a value that it does not support; known for randomized response only."""
        return float(np.log(self.protocol.q)) if isinstance(self.protocol, GeneralizedRandomizedResponse) else 0.0

    @property
    def part(self) -> ReportedSet:
        """The part of a channel for this column alone."""
        return ReportedSet(self.name, self.domain, self.size, self.odds, self.outside)

    def privatize(self, values: Integers64, rng: Generator) -> ReportBatch:
        """Report each person's value, shape (n,)."""
        return self.protocol.privatize(values, rng)

    def supports(self, reports: ReportBatch) -> Booleans:
        """Return for each report and value whether the report supports the value, shape (n, size)."""
        if isinstance(self.protocol, PureOracle):
            return self.protocol.supports(reports)
        return np.asarray(self.protocol.log_likelihood(reports) > 0)

    def cells(self, reports: ReportBatch) -> NDArray[np.object_]:
        """Return each report as a released cell, shape (n,): the set of the values that it supports.

        A report that supports no value is ``*``. The set keeps all that a report says about the value, since its
        likelihood depends on the value's support alone.
        """
        names = category_cells(self.domain)[: self.size]
        if isinstance(self.protocol, GeneralizedRandomizedResponse):
            return np.asarray(names[reports.parts["value"]])
        packed = [np.packbits(self.supports(reports.take(rows)), axis=1) for rows in chunks(len(reports), self.size)]
        codes, distinct = _distinct_rows(np.concatenate([np.empty((0, -(-self.size // 8)), np.uint8), *packed]))
        members = np.unpackbits(distinct, axis=1, count=self.size)
        listed = names[np.nonzero(members)[1]].tolist()
        ends = [0, *np.cumsum(members.sum(axis=1, dtype=np.int64)).tolist()]
        sets = np.empty(len(distinct), dtype=object)
        sets[:] = [_set_cell(listed[start:end]) for start, end in pairwise(ends)]
        return np.asarray(sets[codes])

    def shares(self, reports: ReportBatch) -> Floats:
        """Estimated distribution of the values, shape (size,), unbiased; uniform without any report."""
        if not len(reports):
            return np.full(self.size, 1 / self.size)
        return self.protocol.estimate(reports) / len(reports)

    def indicators(self, reports: ReportBatch, shares: Floats) -> Floats:
        """Unbiased estimate of each person's indicator vector, shape (n, size); the `shares` are not needed."""
        return self.protocol.indicators(reports)


def _distinct_rows(rows: NDArray[np.uint8]) -> tuple[Integers, NDArray[np.uint8]]:
    """Position of each row among the distinct ones, and these."""
    width = rows.shape[1]
    if width <= 8:
        keys = np.zeros((len(rows), 8), dtype=np.uint8)
        keys[:, :width] = rows
        codes, distinct = pd.factorize(keys.view(np.uint64).ravel())
        return codes, np.asarray(distinct).view(np.uint8).reshape(-1, 8)[:, :width]
    codes, words = pd.factorize(np.ascontiguousarray(rows).view(f"S{width}").ravel().astype(object))
    padded = np.array([bytes(word).ljust(width, b"\0") for word in words], dtype=f"S{width}")
    return codes, np.frombuffer(padded.tobytes(), dtype=np.uint8).reshape(-1, width)


def _set_cell(names: list[str | None]) -> str | None:
    """Cell of some values by their names; that of the missing value is None."""
    if len(names) == 1:
        return names[0]
    return "{" + "|".join([name or "" for name in names]) + "}" if names else SUPPRESSED
