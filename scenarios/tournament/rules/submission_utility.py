"""Utility of a team's table, and the assignment of its rows to originals by the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.linkage.assignment_linkage import learned_assignment, nearest_assignment
from defenses.base import Microdata
from leaderboard.statistics.pairs import pooled_utility
from metrics.columns import SUPPRESSED, Domain, Floats, Integers, Sentence, refuse
from metrics.profile import original_profile, profile, record_similarity
from metrics.table_utility import TableUtility, anchored
from scenarios.tables.seeds import generator
from scenarios.tournament.rules.contest import Contest
from scenarios.tournament.rules.measures import (
    COMBINATIONS,
    ROUNDING,
    ComparedTables,
    UtilityMeasure,
    escaped,
    measured,
    uninformative,
)

# What each column costs of the utility of a table's records.

SHOWN = 3
"""Number of columns that are named."""
LEAST = 0.0005
"""Smallest loss that is named; three digits show less as 0."""


@dataclass(frozen=True)
class RecordCosts:
    """Losses of the utility of the records; together they are 1 minus that utility, or more where it is 0.

    Attributes
    ----------
    columns : dict of float
        Loss by column: how much less similar its cells are to the originals.
    left_out : float
        Loss by originals without a row.
    suppressed : dict of int
        Number of cells ``*`` by column; 0 for columns without one.
    """

    columns: dict[str, float]
    left_out: float
    suppressed: dict[str, int]

    @property
    def dearest(self) -> list[tuple[str, float]]:
        """The columns that cost most, the dearest first, without those that cost nothing."""
        named = [(name, cost) for name, cost in self.columns.items() if cost >= LEAST]
        return sorted(named, key=lambda one: (-one[1], one[0]))[:SHOWN]

    def words(self) -> str:
        """The dearest columns in one line; empty if nothing is lost."""
        parts = []
        if self.dearest:
            named = Sentence.joined(", ", [self._cost(name, cost) for name, cost in self.dearest])
            parts.append(Sentence("columns that cost the records most utility: {columns}", columns=named))
        if len(self.dearest) > 1:
            cost = sum(self.columns.values())
            parts.append(Sentence("all {count} columns {cost:.3f}", count=len(self.columns), cost=cost))
        if self.left_out >= LEAST:
            parts.append(Sentence("originals without a row cost {cost:.3f}", cost=self.left_out))
        return Sentence.joined("; ", parts)

    def _cost(self, name: str, cost: float) -> str:
        """What a column costs, and how many of its cells are ``*``."""
        count = self.suppressed[name]
        if not count:
            return f"{name} {cost:.3f}"
        return Sentence(
            "{column} {cost:.3f} ({count} cell is *)" if count == 1 else "{column} {cost:.3f} ({count} cells are *)",
            column=name,
            cost=cost,
            count=count,
        )


@dataclass(frozen=True)
class SubmissionUtility:
    """Utilities of a table, in [0, 1].

    Attributes
    ----------
    components : dict of float
        Components of the utility of the table, anchored as on the board: marginals, associations, range counts and a
        classifier. Associations and the classifier are left out where the originals have too little to learn.
    table : float
        Utility of the table's statistics: the mean of the components.
    record : float
        Similarity of the originals to their own rows, with 0 for rows without information; see `Originals.utility`.
    listed : dict of float
        Value of each measure that the contest lists, by its name; empty if it lists none.
    counted : float
        Utility that counts: the measures combined, by default the smaller of both.
    """

    components: dict[str, float]
    table: float
    record: float
    listed: dict[str, float]
    counted: float


@dataclass(frozen=True)
class Originals:
    """A team's originals, against which its table is measured.

    Parameters
    ----------
    frame : DataFrame, shape (originals, columns)
        The records in clear.
    domains : mapping of str to Domain
        Public domains of the columns.
    queries_seed : int
        Seed of the range counts.
    others : DataFrame, optional
        Records of people in no team's table, shape (people, columns). They test the classifier.
    target : str, optional
        Column that the classifier predicts. Without it, or without other people, there is no classifier.
    contest : Contest
        The measures that count, and how they combine.
    folder : Path
        Folder with the files of the host's own measures.
    """

    frame: pd.DataFrame
    domains: Mapping[str, Domain]
    queries_seed: int
    others: pd.DataFrame | None = None
    target: str | None = None
    contest: Contest = field(default_factory=Contest)
    folder: Path = Path()
    _last: list[tuple[pd.DataFrame, Integers]] = field(default_factory=list, init=False, repr=False, compare=False)
    """Table whose origins were learned last, in canonical order, and these origins."""

    @cached_property
    def _utility(self) -> TableUtility:
        held_out = self.frame.iloc[:0] if self.others is None else self.others
        return TableUtility(
            self.frame, self.domains, held_out, self.target, generator(self.queries_seed, "tournament", "queries")
        )

    @cached_property
    def _constant_similarity(self) -> Floats:
        """Similarity of each original to a row without information: constants or ``*``, whichever is more similar."""
        original = original_profile(self.frame, self.domains)
        rows = [
            record_similarity(original, table.take(np.zeros(1, dtype=np.intp)), self.domains)[:, 0]
            for table in (self._utility.constant, self._utility.suppressed)
        ]
        return max(rows, key=lambda similarity: float(similarity.mean()))

    @cached_property
    def _measures(self) -> dict[str, tuple[UtilityMeasure, float]]:
        """Each measure that counts, and the value that becomes 0: the best of tables without information."""
        without = uninformative(self.frame, self.domains)
        built = {one.shown: (one.built(self.folder, "measures"), one.anchored) for one in self.contest.measure}
        return {
            name: (measure, max(measured(measure, one) for one in without) if anchors else 0.0)
            for name, (measure, anchors) in built.items()
        }

    def check_measures(self, path: Path) -> None:
        """Check a contest's measures: each gives the originals 1, and less to tables without information."""
        tables = ComparedTables(self.frame, escaped(self.frame, self.domains), self.domains, 1.0, 1.0)
        for number, (name, (measure, floor)) in enumerate(self._measures.items(), start=1):
            value, wrong = measured(measure, tables), f"{path}: table [measure.{number}]: {name} gives"
            refuse(value < 1 - ROUNDING, f"{wrong} {value:.3f} to the originals themselves; it must give them 1")
            refuse(floor >= 1, f"{wrong} 1 to a table of equal rows, too, so it says nothing of these originals")

    def utility(self, released: pd.DataFrame, origin: Integers) -> SubmissionUtility:
        """Both utilities of a released table.

        Originals are compared with the rows declared as theirs, and with the rows that the host assigns to them
        (`learned_origin`); the smaller similarity counts. An original without a row counts as if its row were the
        constant one. If an original has several rows, their mean similarity counts.

        Parameters
        ----------
        released : DataFrame, shape (rows, columns)
            Released cells.
        origin : ndarray of int, shape (rows,)
            Original from which each row is declared to stem; -1 for none.
        """
        ordered = released.iloc[_canonical_order(released)].reset_index(drop=True)
        utility = pooled_utility([self._utility.score(ordered)])
        assert utility is not None  # noqa: S101 (marginals are always measured)
        similarity = record_similarity(
            original_profile(self.frame, self.domains), profile(released, self.domains), self.domains
        )
        record = min(self._record(similarity, one) for one in (origin, self._learned(released)))
        tables = ComparedTables(self.frame, ordered, self.domains, utility.headline.value, record)
        measures = {name: anchored(measured(one, tables), floor) for name, (one, floor) in self._measures.items()}
        counted = float(COMBINATIONS[self.contest.utility](list(measures.values())))
        listed = measures if self.contest.listed else {}
        return SubmissionUtility(utility.components, utility.headline.value, record, listed, counted)

    def record_costs(self, released: pd.DataFrame, origin: Integers) -> RecordCosts | None:
        """What each column costs of the utility of the records, under the origins by which that utility counts."""
        scale = len(self.frame) * (1 - float(self._constant_similarity.mean()))
        if scale <= 0:
            return None
        by_column = {
            name: record_similarity(
                original_profile(self.frame[[name]], {name: domain}),
                profile(released[[name]], {name: domain}),
                {name: domain},
            )
            for name, domain in self.domains.items()
        }
        similarity = np.mean(list(by_column.values()), axis=0)
        counted = min((origin, self._learned(released)), key=lambda one: self._record(similarity, one))
        rows = np.flatnonzero(counted >= 0)
        count = np.bincount(counted[rows], minlength=len(self.frame))
        weights = 1 / count[counted[rows]]
        return RecordCosts(
            {
                name: float((weights * (1 - own[counted[rows], rows])).sum()) / scale / len(by_column)
                for name, own in by_column.items()
            },
            float((1 - self._constant_similarity)[count == 0].sum()) / scale,
            {name: int((released[name] == SUPPRESSED).sum()) for name in self.domains},
        )

    def _record(self, similarity: Floats, origin: Integers) -> float:
        """Anchored similarity of the originals to their own rows, given the origins of the rows."""
        rows = np.flatnonzero(origin >= 0)
        count = np.bincount(origin[rows], minlength=len(self.frame))
        total = np.bincount(origin[rows], weights=similarity[origin[rows], rows], minlength=len(self.frame))
        own = np.where(count > 0, total / np.maximum(count, 1), self._constant_similarity)
        return anchored(float(own.mean()), float(self._constant_similarity.mean()))

    def _learned(self, released: pd.DataFrame) -> Integers:
        """`learned_origin` with a public seed and independent of the rows' order, so that teams measure the same."""
        order = _canonical_order(released)
        ordered = released.iloc[order].reset_index(drop=True)
        # A check needs them for the utility, and for what each column costs of it.
        learned = next((known for table, known in self._last if table.equals(ordered)), None)
        if learned is None:
            learned = self.learned_origin(ordered, generator(self.queries_seed, "tournament", "map"))
            self._last[:] = [(ordered, learned)]
        origin = np.empty(len(released), dtype=np.intp)
        origin[order] = learned
        return origin

    def best_origin(self, released: pd.DataFrame, rng: Generator) -> Integers:
        """One-to-one assignment of rows to originals of least total Gower distance, shape (rows,).

        Ties are broken at random, so that a table of equal rows reveals nobody.
        """
        return nearest_assignment(released, self._records, rng)

    def learned_origin(self, released: pd.DataFrame, rng: Generator) -> Integers:
        """One-to-one assignment of rows to originals that learns the mechanism of each column, shape (rows,).

        If values were exchanged at random, the nearest original is often wrong, and this assignment is closer to the
        truth. If it equals the truth, declaring false origins gains nothing. Utility is the minimum, and success the
        maximum, over the declared origins and the host's assignments. A truthful declaration is thus measured by a
        subset of the origins by which the same rows are measured under any other declaration.
        """
        return learned_assignment(released, self._records, rng)

    @cached_property
    def _records(self) -> Microdata:
        return Microdata(self.frame, quasi_identifiers=tuple(self.domains), domains=dict(self.domains))

    def origins(self, origin: Integers, released: pd.DataFrame, rng: Generator) -> dict[str, Integers]:
        """Origins under which success is counted: as declared, and by both assignments of the host."""
        return {
            "declared": origin,
            "assigned": self.best_origin(released, rng),
            "learned": self.learned_origin(released, rng),
        }


def _canonical_order(released: pd.DataFrame) -> Integers:
    """Order of the rows, sorted by their cells, so that no measure depends on the order in which a team wrote them."""
    cells = released.fillna("").reset_index(drop=True)
    return cells.sort_values(list(cells.columns), kind="stable").index.to_numpy()
