"""The Pk game: name one released row and the record that it stems from, knowing the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base.attack import Knowledge, NotApplicable
from attacks.base.claims import Claims, RankedAnswers
from attacks.base.transition_matrix import cell_codes, column_matrix
from attacks.pram.posterior_from_counts import posterior_from_counts
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease, Release
from defenses.pram.matrix import pk
from metrics.score import Score, Scores
from metrics.utility import TableUtility
from scenarios.games.game import Game, Secret


@dataclass(frozen=True)
class PkSecret(Secret):
    """The table that is played.

    Attributes
    ----------
    records : Microdata
        The table, one column; which released row stems from which record is the secret.
    query_rng : Generator
        Draws the queries by which the release's utility is measured; never drawn from, only copied.
    """

    records: Microdata = field(repr=False)
    query_rng: Generator = field(repr=False)


class PkAnonymity(Game):
    """One row's re-identification by an adversary that picked the table, as Pk-anonymity bounds it by 1/k.

    The adversary picks a table of one column, or leaves it to be drawn from real records; the mechanism releases it,
    rows shuffled; the adversary, who knows the table and the mechanism, names one row and one record, or abstains.

    Parameters
    ----------
    records : Microdata
        The population; records with a missing value in the column are left out.
    column : str
        The column; numbers are taken in their public bins.
    size : int
        Number of records in a table.

    Raises
    ------
    ValueError
        If there is no such column, it has no value, or `size` is not an integer of at least 1.

    References
    ----------
    Miura and Hasegawa, appendix A.1; Ikarashi, Kikuchi, Chida and Takahashi (2015), Definition 6.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"pk": RankedAnswers}
    lets_choose: ClassVar[bool] = True
    attacker_knows = "mechanism"

    def __init__(self, *, records: Microdata, column: str, size: int = 6) -> None:
        if column not in records.frame.columns:
            raise ValueError(f"column: there is no column {column!r}; the table has {', '.join(records.frame.columns)}")
        if not records.frame[column].notna().any():
            raise ValueError(f"column: {column!r} has no value in any row")
        check_integer("size", size, low=1)
        self.records = records
        self.column = column
        self.size = size

    def _table(self, frame: pd.DataFrame) -> Microdata:
        return Microdata(
            frame,
            quasi_identifiers=(self.column,),
            domains={self.column: self.records.domain(self.column)},
            hierarchies={name: levels for name, levels in self.records.hierarchies.items() if name == self.column},
        )

    @cached_property
    def _population(self) -> Microdata:
        return self._table(self.records.frame[[self.column]].dropna().reset_index(drop=True))

    def _drawn(self, rng: Generator) -> Microdata:
        return self._population.take(rng.integers(len(self._population), size=self.size))

    def briefing(self, defense: Defense, rng: Generator) -> Knowledge:
        """Show a table as it would be drawn, which the adversary may replace by another of its form."""
        table = self._drawn(rng)
        return Knowledge(table.frame, table.take([]), self._simulate(defense))

    def draw(self, rng: Generator, choice: Any = None) -> PkSecret:
        """Take the adversary's table, or draw real records with replacement.

        Raises
        ------
        ValueError
            If the table has other columns, another size, or a value that is missing or none of the column's.
        """
        table_rng, query_rng = rng.spawn(2)
        if choice is None:
            return PkSecret(self._drawn(table_rng), query_rng)
        if list(choice.columns) != [self.column] or len(choice) != self.size:
            raise ValueError(f"the table must have the column {self.column!r} alone and {self.size} rows")
        table = self._table(choice.reset_index(drop=True))
        domain = table.domain(self.column)
        if (domain.codes(choice[self.column]) == domain.size).any():
            raise ValueError(f"the table must have no missing value in column {self.column!r}")
        return PkSecret(table, query_rng)

    def publish(self, release: Release, rng: Generator) -> MicrodataRelease:
        """Shuffle the rows."""
        if not isinstance(release, MicrodataRelease):
            raise TypeError(f"the Pk game publishes tables, got a {release.kind} release")
        return release.shuffled(rng)

    def knowledge(self, secret: PkSecret, defense: Defense) -> Knowledge:
        """Hand over the table in clear."""
        return Knowledge(secret.records.frame.copy(), secret.records.take([]), self._simulate(defense))

    def _simulate(self, defense: Defense) -> Any:
        def simulate(records: Microdata, rng: Generator) -> MicrodataRelease:
            return self.publish(defense.clone().apply(records, rng), rng)

        return simulate

    def score(self, secret: PkSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Score the surest pair; ties are broken at random.

        Returns
        -------
        Scores
            ``pk``: 1 if the pair is right, 0 if wrong, None if the adversary abstains; chance is 1 / size. Measures:
            ``answered`` and ``win``, 0 or 1, over all plays; ``posterior``: the largest that this release gives any
            pair (None if it takes too long to compute); ``bound``: 1/k, with the exact k of the release's matrix.

        Raises
        ------
        TypeError
            If the claims are no ranked answers.
        ValueError
            If they are about other numbers of rows or records.
        """
        answers: RankedAnswers = self.taken(claims)
        rows = len(published.frame)
        if (answers.targets, answers.answers) != (rows, self.size):
            raise ValueError(
                f"the answers are about {answers.targets} rows and {answers.answers} records, "
                f"there are {rows} and {self.size}"
            )
        answered = answers.score.size > 0
        win = 0.0
        if answered:
            pair = rng.choice(np.flatnonzero(answers.score == answers.score.max()))
            win = float(published.origin[answers.target[pair]] == answers.answer[pair])
        posterior, bound = self._largest(secret.records, published)
        return Scores.of(
            Score("pk", win if answered else None, 1 / self.size, 1),
            answered=float(answered),
            win=win,
            posterior=posterior,
            bound=bound,
        )

    def utility(self, secret: PkSecret, release: MicrodataRelease) -> dict[str, float | None]:
        """Anchored utility of the table, and its Pk as measured from the matrix in use.

        One column has no associations with others to keep.
        """
        domains = {self.column: secret.records.domain(self.column)}
        worth = TableUtility(
            secret.records.frame, domains, secret.records.frame.iloc[:0], None, deepcopy(secret.query_rng)
        )
        _, bound = self._largest(secret.records, release)
        return {**worth.score(release.frame), "associations": None, "pk": None if bound is None else 1 / bound}

    def _largest(self, table: Microdata, release: MicrodataRelease) -> tuple[float | None, float | None]:
        """Largest posterior of a pair in a release, and 1/k of its matrix; None where there is none to compute."""
        domain = table.domain(self.column)
        try:
            matrix = column_matrix(release.channel, self.column, domain)
            cells, rows = np.unique(cell_codes(release.frame[self.column], domain), return_counts=True)
        except NotApplicable:
            return None, None
        categories, records = np.unique(domain.codes(table.frame[self.column]), return_counts=True)
        bound = 1 / pk(matrix / matrix.sum(axis=0), self.size)
        try:
            return float(posterior_from_counts(matrix[np.ix_(cells, categories)], rows, records).max()), bound
        except ValueError:
            return None, bound
