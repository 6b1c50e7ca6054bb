"""The Pk game's best answer: the pair of row and record with the largest posterior."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import RankedAnswers
from attacks.base.transition_matrix import cell_codes, column_matrix, values
from attacks.pram.posterior_from_counts import posterior_from_counts
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats

TABLES = ("worst", "drawn")


class BestPosterior(Attack):
    """Knows the whole table and names the row and record that belong together with the largest exact posterior.

    Nothing wins the Pk game more often on the same table: given what is seen, a pair wins with its posterior.

    Parameters
    ----------
    table : {"worst", "drawn"}
        Pick the table that the mechanism protects least, one record alone in its category and all others together in
        one other, or leave the table to be drawn from real records.

    Raises
    ------
    ValueError
        If `table` is neither.

    References
    ----------
    Miura and Hasegawa, appendix A.1, for the game; Ikarashi, Kikuchi, Chida and Takahashi (2015), k-anonymous microdata
    release via post randomisation method, for Pk-anonymity.
    """

    goal: ClassVar[str] = "pk"

    def __init__(self, *, table: str = "worst") -> None:
        if table not in TABLES:
            raise ValueError(f"table must be one of {', '.join(TABLES)}, got {table!r}")
        self.table = table

    def choose(self, knowledge: Knowledge, rng: Generator) -> pd.DataFrame | None:
        """Pick the worst table under the matrix, which the defense run on a table of that form discloses.

        Raises
        ------
        NotApplicable
            If the mechanism is not known or has no transition matrix.
        """
        if self.table == "drawn":
            return None
        if knowledge.simulate is None:
            raise NotApplicable("the worst table takes knowledge of the mechanism")
        column, count = str(knowledge.candidates.columns[0]), len(knowledge.candidates)
        domain = knowledge.auxiliary.domain(column)
        table = _lone_record(knowledge.auxiliary, column, 0, min(1, domain.size - 1), count)
        matrix = column_matrix(knowledge.simulate(table, rng).channel, column, domain)
        alone, others, _ = most_informative_pair(matrix)
        return _lone_record(knowledge.auxiliary, column, alone, others, count).frame

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Name one row and one record, ties at random, with their posterior as score; or nothing.

        Raises
        ------
        NotApplicable
            If the release discloses no transition matrix, or the table has too many matchings.
        """
        column = str(knowledge.candidates.columns[0])
        domain = knowledge.auxiliary.domain(column)
        matrix = column_matrix(release.channel, column, domain)
        cells, rows = np.unique(cell_codes(release.frame[column], domain), return_inverse=True)
        categories, records = np.unique(domain.codes(knowledge.candidates[column]), return_inverse=True)
        likelihood = matrix[np.ix_(cells, categories)]
        try:
            chances = posterior_from_counts(likelihood, np.bincount(rows), np.bincount(records))
        except ValueError as error:
            raise NotApplicable(str(error)) from None
        best = float(chances.max())
        if not self._answers(best, matrix, len(records)):
            return RankedAnswers(len(rows), len(records), *np.empty((3, 0)))
        cell, category = rng.choice(np.argwhere(chances == best))
        row, record = rng.choice(np.flatnonzero(rows == cell)), rng.choice(np.flatnonzero(records == category))
        return RankedAnswers(len(rows), len(records), np.array([row]), np.array([record]), np.array([best]))

    def _answers(self, best: float, matrix: Floats, count: int) -> bool:
        """Whether a posterior is worth an answer."""
        return True


def most_informative_pair(matrix: Floats) -> tuple[int, int, float]:
    """Categories a, b and the largest (P[x, a]/P[x, b]) / (P[y, a]/P[y, b]) over all a, b and releases x, y.

    With one record in a and n - 1 in b, the release of one x among n - 1 of y gives the posterior 1/(1 + (n - 1)/ratio)
    that x is the lone record's, the largest of any table.
    """
    alone, others, largest = 0, 0, 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for a in range(len(matrix)):
            odds = matrix[:, [a]] / matrix
            # A release that neither category has gives no odds.
            spread = np.nanmax(odds, axis=0) / np.nanmin(odds, axis=0)
            b = int(np.argmax(spread))
            if spread[b] > largest:
                alone, others, largest = a, b, float(spread[b])
    return alone, others, largest


def _lone_record(records: Microdata, column: str, alone: int, others: int, count: int) -> Microdata:
    """Records of which the first has one category and all others have another."""
    codes = np.full(count, others)
    codes[:1] = alone
    chosen = values(records.domain(column)).iloc[codes].reset_index(drop=True)
    return records.with_frame(pd.DataFrame({column: chosen}))
