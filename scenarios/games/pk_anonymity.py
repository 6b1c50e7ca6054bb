"""The Pk-anonymity game: link one released row to its record in a table that the adversary knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import Claims, Knowledge, NotApplicable, RankedAnswers
from attacks.base import cell_codes, column_matrix
from attacks.pram.posteriors import posterior_from_counts
from defenses import Defense, Microdata, MicrodataRelease
from defenses.pram.matrix import pk
from metrics import Estimate, Score, Scores, TableUtility, wilson
from metrics.columns import check_integer, refuse, require
from scenarios.games.game import Secret
from scenarios.games.table_game import TableGame

# Summary of many plays of the Pk-anonymity game.


@dataclass(frozen=True)
class PkSummary:
    """Win rate, answer rate and posteriors over many plays of `PkAnonymity`.

    Attributes
    ----------
    win : Estimate
        Share of plays won.
    answered : Estimate
        Share of plays in which the adversary answered.
    win_answered : Estimate or None
        Share of correct answers; None if the adversary never answered.
    worst, typical : float
        Maximum and mean over the releases of the largest posterior that each of them gives.
    bound : float
        1/k.
    """

    win: Estimate
    answered: Estimate
    win_answered: Estimate | None
    worst: float
    typical: float
    bound: float


def summarize_pk(plays: Sequence[Mapping[str, float | None]]) -> PkSummary:
    """Summarize the measures of many plays of `PkAnonymity`.

    Parameters
    ----------
    plays : sequence of mapping of str to float or None
        Measures of each play (`PkAnonymity.score`).

    Raises
    ------
    ValueError
        If there is no play, or a play has no posterior.
    """
    posteriors = [play["posterior"] for play in plays if play["posterior"] is not None]
    refuse(
        not posteriors or len(posteriors) < len(plays), "plays: at least one is needed, and each must have a posterior"
    )
    wins, answers = (sum(play[name] or 0.0 for play in plays) for name in ("win", "answered"))
    return PkSummary(
        win=wilson(wins, len(plays)),
        answered=wilson(answers, len(plays)),
        win_answered=wilson(wins, int(answers)) if answers else None,
        worst=max(posteriors),
        typical=sum(posteriors) / len(posteriors),
        bound=max(float(play["bound"] or 0.0) for play in plays),
    )


@dataclass(frozen=True)
class PkSecret(Secret):
    """The table of one play.

    - records: The table, one column. The secret is which released row stems from which record.
    - query_rng: Draws the queries that measure the release's utility. It is only copied, never drawn from.
    """

    query_rng: Generator = field(repr=False)


class PkAnonymity(TableGame):
    """Re-identification of one row by an adversary that chooses the table; Pk-anonymity bounds its posterior by 1/k.

    The adversary chooses a table of one column, or has it drawn from real records. The mechanism releases the table
    with its rows in random order. The adversary knows the table and the mechanism. It names one row and one record, or
    abstains.

    Parameters
    ----------
    records : Microdata
        The population; records with a missing value in the column are left out.
    column : str
        The column; numbers are replaced by their public bins.
    size : int
        Number of records in a table.

    Raises
    ------
    ValueError
        If the column does not exist or has no value, or `size` is not an integer of at least 1.

    References
    ----------
    Miura and Hasegawa, appendix A.1; Ikarashi, Kikuchi, Chida and Takahashi (2015), Definition 6.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"pk": RankedAnswers}
    lets_choose: ClassVar[bool] = True

    def __init__(self, *, records: Microdata, column: str, size: int = 6) -> None:
        refuse(
            column not in records.frame.columns,
            f"column: there is no column {column!r}; the table has {', '.join(records.frame.columns)}",
        )
        require(records.frame[column].notna().any(), f"column: {column!r} has no value in any row")
        self.size = check_integer("size", size, low=1)
        super().__init__(records=records, attacker_knows="mechanism")
        self.column = column

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
        """Give the adversary a drawn table, which it may replace by another of the same column and size."""
        table = self._drawn(rng)
        return Knowledge(table.frame, table.take([]), self.simulation(defense))

    def draw(self, rng: Generator, choice: Any = None) -> PkSecret:
        """Take the adversary's table, or draw real records with replacement.

        Raises
        ------
        ValueError
            If the table has other columns or another size, or a value that is missing or outside the domain.
        """
        table_rng, query_rng = rng.spawn(2)
        if choice is None:
            return PkSecret(self._drawn(table_rng), query_rng)
        refuse(
            list(choice.columns) != [self.column] or len(choice) != self.size,
            f"the table must have only the column {self.column!r} and {self.size} rows",
        )
        table = self._table(choice.reset_index(drop=True))
        domain = table.domain(self.column)
        refuse(
            (domain.codes(choice[self.column]) == domain.size).any(),
            f"the table must have no missing value in column {self.column!r}",
        )
        return PkSecret(table, query_rng)

    def knowledge(self, secret: PkSecret, defense: Defense) -> Knowledge:
        """Give the table in clear and the mechanism."""
        return Knowledge(secret.records.frame.copy(), secret.records.take([]), self.simulation(defense))

    def score(self, secret: PkSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Score the pair with the highest score; ties are broken at random.

        Returns
        -------
        Scores
            ``pk``: 1 if the pair is correct, 0 if not, None if the adversary abstains; chance is 1 / size. Measures:
            ``answered`` and ``win``: 0 or 1, also if the adversary abstains; ``posterior``: largest posterior of any
            pair given this release (None if it takes too long to compute); ``bound``: 1/k, with the exact k of the
            release's matrix.

        Raises
        ------
        TypeError
            If the claims are not ranked answers.
        ValueError
            If the claims have another number of rows or records.
        """
        answers: RankedAnswers = self.taken(claims)
        rows = len(published.frame)
        refuse(
            (answers.targets, answers.answers) != (rows, self.size),
            f"the answers are about {answers.targets} rows and {answers.answers} records, "
            f"but there are {rows} and {self.size}",
        )
        answered = answers.score.size > 0
        win = 0.0
        if answered:
            pair = rng.choice(np.flatnonzero(answers.score == answers.score.max()))
            win = float(published.origin[answers.target[pair]] == answers.answer[pair])
        posterior, bound = self._largest_posterior(secret.records, published)
        return Scores.of(
            Score("pk", win if answered else None, 1 / self.size, 1),
            answered=float(answered),
            win=win,
            posterior=posterior,
            bound=bound,
        )

    def utility(self, secret: PkSecret, release: MicrodataRelease) -> dict[str, float | None]:
        """Anchored utility of the table, and ``pk``, the exact k of the release's matrix.

        The measure ``associations`` is None, since a single column has none.
        """
        domains = {self.column: secret.records.domain(self.column)}
        utility = TableUtility(
            secret.records.frame, domains, secret.records.frame.iloc[:0], None, deepcopy(secret.query_rng)
        )
        _, bound = self._largest_posterior(secret.records, release)
        return {
            **utility.score(release.analyst_table),
            "associations": None,
            "pk": None if bound is None else 1 / bound,
        }

    def _largest_posterior(self, table: Microdata, release: MicrodataRelease) -> tuple[float | None, float | None]:
        """Largest posterior of a pair in a release, and 1/k of its matrix; None where it cannot be computed."""
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
