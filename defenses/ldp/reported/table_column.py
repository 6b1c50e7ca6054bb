"""The contract of a column of a table of local reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.channel_parts import ChannelPart
from metrics.columns.arrays import Floats
from metrics.columns.domains import Domain


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
