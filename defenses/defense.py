"""The contract of a defense, and pipelines of defenses on tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.channel import Channel
from defenses.guarantee import Guarantee
from defenses.microdata import Microdata
from defenses.parameters import Parametrized
from defenses.release import MicrodataRelease, Release
from metrics.cells import escape_column, holds_generalized, plain_values


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


class Pipeline(MicrodataDefense):
    """Defenses on tables, one after the other.

    Parameters
    ----------
    steps : sequence of MicrodataDefense
        Applied in order; each sees the table that the one before it released. Columns that hold generalized cells
        pass through later steps that leave them alone.

    Notes
    -----
    Channels combine where the steps touch disjoint columns: given the record, those columns are then released
    independently, and log-likelihoods add up. Otherwise the pipeline has no channel. The guarantee is empty, since
    what a step promises of its own output a later step may change.
    """

    def __init__(self, *, steps: Sequence[MicrodataDefense]) -> None:
        self.steps = steps
        if not steps:
            raise ValueError("steps must name at least one defense")
        for step in steps:
            if not isinstance(step, MicrodataDefense):
                raise ValueError(f"steps must be defenses on tables, got {step!r}")

    @classmethod
    def example(cls) -> Self:
        """A pipeline of two disjoint steps."""
        from defenses.additive_noise import AdditiveNoise
        from defenses.global_recoding import GlobalRecoding

        return cls(steps=[AdditiveNoise(columns=["income"]), GlobalRecoding(levels={"city": 1})])

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Apply every step to what the one before it released."""
        release = rowwise_release(released_frame(records), Channel())
        current = records
        for step, generator in zip(self.steps, rng.spawn(len(self.steps)), strict=True):
            result = step.apply(current, generator)
            origin = np.where(result.origin >= 0, release.origin[result.origin], -1)
            channel = None
            if release.channel is not None and result.channel is not None:
                channel = release.channel.combined(result.channel)
            release = replace(result, origin=origin, channel=channel)
            current = _as_records(release.frame, records)
        return release

    def check(self, records: Microdata) -> None:
        """Check every step against the original records."""
        for step in self.steps:
            step.check(records)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return nothing: a later step may undo what an earlier one promised."""
        return Guarantee()


def _as_records(frame: pd.DataFrame, records: Microdata) -> Microdata:
    """A released table as records for a later step: plain cells are values again, the others stay cells."""
    generalized = frozenset(str(name) for name in frame.columns if holds_generalized(frame[name]))
    values = {
        str(name): column if name in generalized else plain_values(column, records.domains.get(str(name)))
        for name, column in frame.items()
    }
    person = None if records.person in records.identifiers else records.person
    return replace(
        records, frame=pd.DataFrame(values, index=frame.index), identifiers=(), person=person, generalized=generalized
    )
