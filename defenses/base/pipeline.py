"""Pipelines of defenses on tables."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import (
    Channel,
    ClassCells,
    CodedColumn,
    CountedDefense,
    CountedTable,
    Guarantee,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    Needs,
    Recoding,
    released_frame,
    rowwise_release,
)
from metrics.columns import holds_generalized, plain_values, require


class Pipeline(CountedDefense):
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

    @property
    def needs(self) -> Needs:
        """Rows if all steps are columnwise; combinations if others follow that only suppress records."""
        return "rows" if self.columnwise else super().needs

    @property
    def works_on_counts(self) -> bool:
        """Whether columnwise steps, or none, are followed by steps on combinations that only suppress records."""
        suppressions = self._suppressions
        return bool(suppressions) and len(self._recodings) + len(suppressions) == len(self.steps)

    @property
    def _recodings(self) -> list[MicrodataDefense]:
        """The first steps, as far as they are columnwise."""
        return list(itertools.takewhile(lambda step: step.columnwise, self.steps))

    @property
    def _suppressions(self) -> list[CountedDefense]:
        """The steps after these that work on combinations and only suppress records."""
        later = self.steps[len(self._recodings) :]
        return [step for step in later if isinstance(step, CountedDefense) and step.only_suppresses]

    def counted_columns(self, roles: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns that define the classes or are recoded; no sensitive ones."""
        names = [name for step in self._suppressions for name in step.counted_columns(roles)[0]]
        return tuple(dict.fromkeys([*names, *sorted(_changed(roles, self._recoded(roles)))])), ()

    def recode(self, records: CountedTable) -> Recoding:
        """Recode the columns, then suppress records."""
        roles, release = records.roles, self._recoded(records.roles)
        cells = {
            name: ClassCells.of(records.columns[name].codes, release.frame[name].to_numpy()[records.rows(name)])
            for name in _changed(roles, release)
        }
        columns = dict(records.columns) | {
            name: CodedColumn(each.cells, each.codes.astype(np.intp), each.cells.size) for name, each in cells.items()
        }
        classes = np.arange(records.counts.size)
        for step in self._suppressions:
            left = replace(records, columns=columns, counts=np.where(classes < 0, 0, records.counts))
            classes = np.where(step.recode(left).classes < 0, -1, classes)
        return Recoding(classes, cells, self.guarantee(roles), release.channel or Channel())

    def _recoded(self, roles: Microdata) -> MicrodataRelease:
        """The first steps, applied to the values that occur; nothing is drawn."""
        return self._applied(self._recodings, roles, np.random.default_rng(0))

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Apply each step to the table that the previous one released."""
        return super().apply(records, rng) if self.works_on_counts else self._applied(self.steps, records, rng)

    def _applied(self, steps: Sequence[MicrodataDefense], records: Microdata, rng: Generator) -> MicrodataRelease:
        release = rowwise_release(released_frame(records), Channel())
        current = records
        for step, generator in zip(steps, rng.spawn(len(steps)), strict=True):
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
    group = None if records.group in records.identifiers else records.group
    released = pd.DataFrame(values, index=frame.index)
    return replace(records, frame=released, identifiers=(), person=person, group=group, generalized=generalized)


def _changed(roles: Microdata, release: MicrodataRelease) -> tuple[str, ...]:
    """The columns that a columnwise release changes."""
    return roles.released_columns if release.channel is None else tuple(release.channel.columns)
