"""Defenses on tables, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base.channel import Channel
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from metrics.cells import holds_generalized, plain_values


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
