"""Pipelines of defenses on tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import (
    Channel,
    Guarantee,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    released_frame,
    rowwise_release,
)
from metrics.columns import holds_generalized, plain_values, require


class Pipeline(MicrodataDefense):
    """Defenses on tables, applied one after the other.

    Parameters
    ----------
    steps : sequence of MicrodataDefense
        The defenses in order; each gets the table that the previous one released. Columns with generalized cells pass
        unchanged through later steps that do not touch them.

    Raises
    ------
    ValueError
        If there is no step, or a step is not a defense on tables.

    Notes
    -----
    Channels combine where the steps change disjoint columns: given the record, these columns are released
    independently, and log-likelihoods add up. Otherwise the pipeline has no channel. The guarantee is empty, since a
    later step may invalidate what an earlier step guaranteed for its own output.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Microdata, Pipeline, Rounding, TopBottomCoding
    >>> records = Microdata(pd.DataFrame({"age": [3, 34, 97]}), quasi_identifiers=("age",))
    >>> pipeline = Pipeline(steps=[TopBottomCoding(thresholds={"age": (18, 80)}), Rounding(base=10)])
    >>> pipeline.apply(records, np.random.default_rng(0)).frame["age"].tolist()
    [20, 30, 80]
    """

    def __init__(self, *, steps: Sequence[MicrodataDefense]) -> None:
        self.steps = steps
        require(steps, "steps must name at least one defense")
        for step in steps:
            require(isinstance(step, MicrodataDefense), f"steps must be defenses on tables, got {step!r}")

    @property
    def columnwise(self) -> bool:
        """Whether the cells of all steps follow from the values in their columns."""
        return all(step.columnwise for step in self.steps)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Apply each step to the table that the previous one released."""
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
        """Return no guarantee: a later step may invalidate the guarantee of an earlier one."""
        return Guarantee()


def _as_records(frame: pd.DataFrame, records: Microdata) -> Microdata:
    """A released table as records for a later step: plain cells become values again, generalized cells stay."""
    generalized = frozenset(str(name) for name in frame.columns if holds_generalized(frame[name]))
    values = {
        str(name): column if name in generalized else plain_values(column, records.domains.get(str(name)))
        for name, column in frame.items()
    }
    person = None if records.person in records.identifiers else records.person
    return replace(
        records, frame=pd.DataFrame(values, index=frame.index), identifiers=(), person=person, generalized=generalized
    )
