"""What a setting does to the whole table, which no play shows: classes, columns, and numbers inside bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from leaderboard.results.result import label
from metrics.columns import Domain
from scenarios.assessment.choosing.column_costs import column_costs
from scenarios.assessment.choosing.goals import REAL_ROWS, is_of
from scenarios.assessment.reporting.findings import class_findings
from scenarios.running.plan import NamedMethod
from scenarios.tables.dataset import Dataset
from scenarios.tables.note import Note
from scenarios.tables.review.coarse_bins import hidden_differences
from scenarios.tables.review.rows_of_people import RowsOfPeople, person_numbers


@dataclass(frozen=True)
class Effect:
    """What one release of the whole table does.

    Attributes
    ----------
    costs : mapping of str to str
        What happened to each column, in words.
    classes : mapping of str to float
        Risks of the classes of people alike by title, as a report counts them; none for synthetic rows.
    hidden : tuple of Note
        Warnings of columns that differ inside their public bins, which utility does not see.
    """

    costs: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, float] = field(default_factory=dict)
    hidden: tuple[Note, ...] = ()

    def above(self, bound: float) -> dict[str, float]:
        """Risks of classes above a bound: a report on the release calls them above the threshold."""
        return {title: risk for title, risk in self.classes.items() if risk > bound}


@dataclass(frozen=True)
class WholeTable:
    """Releases the whole table by settings, each once.

    Parameters
    ----------
    dataset : Dataset
        The table.
    sensitive : tuple of str
        Sensitive columns that are asked about.
    bound : float
        Bound of the worst advantage, in (0, 1).
    seed : int
        Seed of each release.
    """

    dataset: Dataset
    sensitive: tuple[str, ...]
    bound: float
    seed: int
    _effects: dict[str, Effect] = field(default_factory=dict, init=False, repr=False)

    def effect(self, entry: NamedMethod) -> Effect:
        """The effect of a setting."""
        name = label(entry.name, entry.parameters)
        if name not in self._effects:
            self._effects[name] = self._measured(entry)
        return self._effects[name]

    def refused(self, entry: NamedMethod) -> bool:
        """Whether a report on a release of the whole table would call its classes above the bound."""
        return bool(self.effect(entry).above(self.bound))

    def _measured(self, entry: NamedMethod) -> Effect:
        records, dates = self.dataset.records, self.dataset.written.dates
        release = entry.method.apply(records, np.random.default_rng(self.seed))
        frame = release.frame
        released = [name for name in records.quasi_identifiers if name in frame]
        classes = {}
        if released and len(frame) and is_of(entry, REAL_ROWS):
            sensitive = {name: records.domain(name) for name in self.sensitive if name in frame}
            several = RowsOfPeople.of(records)
            told = several is not None and bool((release.origin >= 0).all())
            people = person_numbers(records)[release.origin] if told else None
            person = None if several is None else several.person
            found = class_findings(frame, released, sensitive, self.bound, counts=True, people=people, person=person)
            classes = {finding.title: finding.value for finding in found}
        numbers: dict[str, Domain] = {name: records.domain(name) for name in frame.columns if dates(name) is None}
        costs = column_costs(records, release, self.dataset.written.date_units)
        return Effect(costs, classes, tuple(hidden_differences(records.frame, frame, numbers)))
