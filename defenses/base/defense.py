"""The contract of a defense."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base.channel import Channel
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.parameters import Parametrized
from defenses.base.release import MicrodataRelease, Release
from metrics.cells import escape_column


class Defense(Parametrized, ABC):
    """A way to publish records.

    Attributes
    ----------
    kind : str
        The kind of release that `apply` makes.
    """

    kind: ClassVar[str] = "microdata"

    @abstractmethod
    def apply(self, records: Microdata, rng: Generator) -> Release:
        """Make a release of `records`, which stay as they are.

        Raises
        ------
        ValueError
            If the parameters do not fit these records.
        """

    def check(self, records: Microdata) -> None:
        """Say before anything is drawn whether the parameters fit these records.

        Raises
        ------
        ValueError
            If they do not; names the parameter.
        """
        self.guarantee(records)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return what every release of these records is promised to hold; nothing unless a defense says more.

        Raises
        ------
        ValueError
            If the parameters do not fit these records.
        """
        return Guarantee()


class MicrodataDefense(Defense):
    """A defense that publishes a table."""

    @abstractmethod
    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Make a table of `records`: rows in the records' order, identifiers dropped."""


def released_frame(records: Microdata) -> pd.DataFrame:
    """Return the records without identifiers, as released cells, rows numbered from 0."""
    columns = {}
    for name in records.released_columns:
        column = records.frame[name].reset_index(drop=True)
        columns[name] = column if name in records.generalized else escape_column(column)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(records)))


def rowwise_release(frame: pd.DataFrame, channel: Channel | None) -> MicrodataRelease:
    """Return a release whose row i stems from record i."""
    return MicrodataRelease(frame, np.arange(len(frame)), channel)


def chosen_columns(records: Microdata, columns: Sequence[str] | None, default: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a defense works on: those asked for, or its default.

    Raises
    ------
    ValueError
        If a column asked for does not exist or names a person.
    """
    names = tuple(default if columns is None else columns)
    for name in names:
        if name not in records.released_columns:
            raise ValueError(
                f"columns: there is no released column {name!r}; released are {', '.join(records.released_columns)}"
            )
    return names
