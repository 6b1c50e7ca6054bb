"""Optimal attack on the Pk game: answer the pair of row and record with the largest posterior."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, NotApplicable, RankedAnswers, cell_codes, column_matrix, given, values
from attacks.pram.posterior_from_counts import posterior_from_counts
from defenses.base import Microdata, MicrodataRelease
from metrics.columns import Floats, check_choice, check_real

TABLES = ("worst", "drawn")


class BestPosterior(Attack):
    """Answer the pair of row and record with the largest exact posterior, knowing the whole table.

    This is the optimal attack on a given table, since a pair wins with the probability of its posterior.

    Parameters
    ----------
    table : {"worst", "drawn"}
        "worst": the adversary picks the table that the mechanism protects least. One record is alone in its category,
        and all others share one other category. "drawn": the table is drawn from real records.

    Raises
    ------
    ValueError
        If `table` is unknown.

    References
    ----------
    Miura and Hasegawa, appendix A.1, for the game; Ikarashi, Kikuchi, Chida and Takahashi (2015), k-anonymous microdata
    release via post randomisation method, for Pk-anonymity.
    """

    goal = "pk"

    def __init__(self, *, table: str = "worst") -> None:
        self.table = check_choice("table", table, TABLES)

    def choose(self, knowledge: Knowledge, rng: Generator) -> pd.DataFrame | None:
        """Worst table under the matrix that the defense discloses when it is simulated on a table of this form.

        Raises
        ------
        NotApplicable
            If the mechanism is unknown or has no transition matrix.
        """
        if self.table == "drawn":
            return None
        simulate = given(knowledge.simulate, "the worst table requires knowledge of the mechanism")
        column, count = str(knowledge.candidates.columns[0]), len(knowledge.candidates)
        domain = knowledge.auxiliary.domain(column)
        table = _lone_record(knowledge.auxiliary, column, 0, min(1, domain.size - 1), count)
        matrix = column_matrix(simulate(table, rng).channel, column, domain)
        alone, others, _ = most_informative_pair(matrix)
        return _lone_record(knowledge.auxiliary, column, alone, others, count).frame

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Answer one row and one record with their posterior as score, ties at random, or abstain.

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
            posteriors = posterior_from_counts(likelihood, np.bincount(rows), np.bincount(records))
        except ValueError as error:
            raise NotApplicable(str(error)) from None
        best = float(posteriors.max())
        if not self._answers(best, matrix, len(records)):
            return RankedAnswers(len(rows), len(records), *np.empty((3, 0)))
        cell, category = rng.choice(np.argwhere(posteriors == best))
        row, record = rng.choice(np.flatnonzero(rows == cell)), rng.choice(np.flatnonzero(records == category))
        return RankedAnswers(len(rows), len(records), np.array([row]), np.array([record]), np.array([best]))

    def _answers(self, best: float, matrix: Floats, count: int) -> bool:
        """Whether to answer rather than abstain."""
        return True


def most_informative_pair(matrix: Floats) -> tuple[int, int, float]:
    """Categories a, b with the largest ratio (P[x, a]/P[x, b]) / (P[y, a]/P[y, b]) over all releases x, y.

    Take one record in a and n - 1 in b. The release of one x among n - 1 of y gives the posterior
    1/(1 + (n - 1)/ratio) that x is the lone record's. This is the largest posterior of any table.

    Returns
    -------
    alone, others : int
        The categories a and b.
    largest : float
        The ratio; 1 if no pair of categories can be distinguished.
    """
    alone, others, largest = 0, 0, 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for a in range(len(matrix)):
            odds = matrix[:, [a]] / matrix
            # Releases that are impossible under both categories have no odds.
            spread = np.nanmax(odds, axis=0) / np.nanmin(odds, axis=0)
            b = int(np.argmax(spread))
            if spread[b] > largest:
                alone, others, largest = a, b, float(spread[b])
    return alone, others, largest


def _lone_record(records: Microdata, column: str, alone: int, others: int, count: int) -> Microdata:
    """Table whose first record has one category and whose other records all have another."""
    codes = np.full(count, others)
    codes[:1] = alone
    chosen = values(records.domain(column)).iloc[codes].reset_index(drop=True)
    return records.with_frame(pd.DataFrame({column: chosen}))


# Pk attack that answers only after informative releases.


class LeakagePosterior(BestPosterior):
    """Pick the worst table, and abstain unless the posterior is close to the largest of any release.

    The win rate among its answers is about the largest that Pk-anonymity allows. With many records, sufficiently
    informative releases practically never occur.

    Parameters
    ----------
    share : float
        Share of 1/k that a posterior must reach, in (0, 1]; k is the matrix's exact Pk-anonymity.

    Raises
    ------
    ValueError
        If `share` lies outside (0, 1].

    References
    ----------
    Miura and Hasegawa, appendix A.1, for the game.
    """

    def __init__(self, *, share: float = 0.95) -> None:
        super().__init__()
        self.share = check_real("share", share, low=0, high=1, open_low=True)

    def _answers(self, best: float, matrix: Floats, count: int) -> bool:
        _, _, ratio = most_informative_pair(matrix)
        # Rounding may put a posterior of exactly 1/k slightly below it.
        return best * (1 + 1e-9) >= self.share / (1 + (count - 1) / ratio)
