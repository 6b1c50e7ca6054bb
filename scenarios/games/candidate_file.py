"""The candidate-file game: name, for every released row, the candidate that it stems from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.claims import Claims, RankedAnswers
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.ranking import area_under_curve
from metrics.score import Score, Scores
from scenarios.games.decoys import NearestPeople
from scenarios.games.row_answers import row_scores
from scenarios.games.table_game import CandidatesGame, TableSecret

DECOYS = ("random", "hard")


@dataclass(frozen=True)
class CandidateFileSecret(TableSecret):
    """Who was drawn; the candidates are originals and decoys, shuffled.

    Attributes
    ----------
    answers : ndarray of int, shape (originals,)
        Where each original stands among the candidates.
    """

    answers: NDArray[np.intp] = field(repr=False)


class CandidateFile(CandidatesGame):
    """Re-identification among candidates: the attacker holds a file that contains every original, and decoys.

    Per play some records are drawn as originals and released; the attacker sees the release, rows shuffled, and the
    candidates in clear, and names for each row the candidate that it stems from.

    Parameters
    ----------
    records : Microdata
        The population; at least `candidates` records.
    originals, candidates : int
        How many records are released, and among how many the attacker looks; originals < candidates.
    decoys : {"random", "hard"}
        The other candidates: any people, or for each original in turn the nearest other person (Gower) that is not
        its exact equal.
    auxiliary, held_out : int
        How many further people the attacker has for studying, and how many test what classifiers learn from the
        release; fewer where the population runs out (a half of the rest each).
    attacker_knows : {"mechanism", "nothing"}
        Whether attackers read the release's channel and may repeat the defense on records of their own.

    Raises
    ------
    ValueError
        If a number is out of range or the population too small.

    Examples
    --------
    Nearest neighbours find every row of an unprotected table.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import NearestNeighbour
    >>> from defenses import Identity, Microdata
    >>> from scenarios import CandidateFile, play
    >>> frame = pd.DataFrame({"age": range(18, 78), "height": [160 + row % 30 for row in range(60)]})
    >>> records = Microdata(frame, quasi_identifiers=("age", "height"))
    >>> game = CandidateFile(records=records, originals=10, candidates=20)
    >>> outcome = play(Identity(), NearestNeighbour(), game, np.random.default_rng(1))
    >>> outcome.scores["reidentification"].rate, outcome.utility["marginals"]
    (1.0, 1.0)
    """

    variants = ("decoys",)
    takes: ClassVar[Mapping[str, type[Claims]]] = {"reidentification": RankedAnswers}

    def __init__(
        self,
        *,
        records: Microdata,
        originals: int = 100,
        candidates: int = 200,
        decoys: str = "random",
        auxiliary: int = 2000,
        held_out: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(records=records, auxiliary=auxiliary, held_out=held_out, attacker_knows=attacker_knows)
        self.originals = originals
        self.candidates = candidates
        self.decoys = decoys
        check_integer("originals", originals, low=1)
        check_integer("candidates", candidates, low=originals + 1)
        if decoys not in DECOYS:
            raise ValueError(f"decoys must be one of {', '.join(DECOYS)}, got {decoys!r}")
        if len(records) < candidates:
            raise ValueError(f"candidates: {candidates} are needed and the table has {len(records)} rows")

    @cached_property
    def _nearest_people(self) -> NearestPeople:
        return NearestPeople(self.records)

    def draw(self, rng: Generator, choice: Any = None) -> CandidateFileSecret:
        """Draw originals, decoys and bystanders, all different people.

        The originals, and what their releases are worth, are the same for both kinds of decoys.
        """
        original_rng, decoy_rng, query_rng, order_rng = rng.spawn(4)
        population = original_rng.permutation(len(self.records))
        originals, others = population[: self.originals], population[self.originals :]
        rest = (len(self.records) - self.candidates) // 2
        held_out, others = np.split(others, [min(self.held_out, rest)])
        count = self.candidates - self.originals
        if self.decoys == "hard":
            decoys = self._nearest_people.nearest(originals, others, count)
        else:
            decoys = decoy_rng.choice(others, count, replace=False)
        bystanders = others[~np.isin(others, decoys)][: self.auxiliary]
        order = order_rng.permutation(self.candidates)
        candidates = self.records.take(np.concatenate([originals, decoys])[order])
        records = self.records.take(originals)
        return CandidateFileSecret(
            records,
            candidates.frame[list(candidates.released_columns)],
            self.records.take(bystanders),
            self.table_utility(records, self.records.take(held_out), query_rng),
            np.argsort(order)[: self.originals],
        )

    def score(self, secret: CandidateFileSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Score row by row and candidate by candidate; see `score_answers`."""
        return score_answers(self.taken(claims), published.origin, secret.answers, self.candidates, rng)


def score_answers(
    claims: RankedAnswers, origin: NDArray[np.intp], answers: NDArray[np.intp], candidates: int, rng: Generator
) -> Scores:
    """Score answers about the rows of one table, row by row and candidate by candidate.

    Parameters
    ----------
    claims : RankedAnswers
        What is answered.
    origin : ndarray of int, shape (rows,)
        The original that each row stems from, -1 for none.
    answers : ndarray of int, shape (originals,)
        Where each original stands among the candidates.
    candidates : int
        How many there are.
    rng : Generator
        Breaks ties.

    Returns
    -------
    Scores
        The scores of `scenarios.games.row_answers.row_scores`; ``membership``: share of originals among the
        `originals` candidates of highest membership score; the measure ``membership_auc``.

    Raises
    ------
    ValueError
        If they are about other numbers of rows or candidates.
    """
    rows = row_scores(claims, origin, answers, candidates, rng)
    originals = len(answers)
    member = np.zeros(candidates, dtype=bool)
    member[answers] = True
    decisions = claims.members()
    membership = Score(
        "membership", float(member[decisions.first(originals, rng)].mean()), originals / candidates, originals
    )
    measures = {**rows.measures, "membership_auc": area_under_curve(decisions.scores, member)}
    return Scores({**rows.goals, "membership": membership}, measures)
