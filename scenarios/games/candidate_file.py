"""The candidate-file game: name, for every released row, the candidate that it stems from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.attack import Knowledge
from attacks.claims import Claims, RankedAnswers
from defenses.defense import Defense
from defenses.microdata import Microdata
from defenses.parameters import check_whole
from defenses.release import MicrodataRelease, Release
from metrics.ranking import area_under_curve
from metrics.utility import TableUtility, prediction_target
from scenarios.games.decoys import Neighbours
from scenarios.games.game import KNOWS, Game, Secret
from scenarios.games.table_worth import table_worth

DECOYS = ("random", "hard")


@dataclass(frozen=True)
class CandidateFileSecret(Secret):
    """Who was drawn.

    Attributes
    ----------
    records : Microdata
        The originals.
    candidates : DataFrame, shape (candidates, columns)
        Originals and decoys, shuffled.
    answers : ndarray of int, shape (originals,)
        Where each original stands among the candidates.
    auxiliary : Microdata
        Other people, for the attacker.
    utility : TableUtility
        Scores releases of these originals.
    """

    records: Microdata = field(repr=False)
    candidates: pd.DataFrame = field(repr=False)
    answers: NDArray[np.intp] = field(repr=False)
    auxiliary: Microdata = field(repr=False)
    utility: TableUtility = field(repr=False)


class CandidateFile(Game):
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
    """

    goal: ClassVar[str] = "reidentification"

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
        self.records = records
        self.originals = originals
        self.candidates = candidates
        self.decoys = decoys
        self.auxiliary = auxiliary
        self.held_out = held_out
        self.attacker_knows = attacker_knows
        check_whole("originals", originals, low=1)
        check_whole("candidates", candidates, low=originals + 1)
        check_whole("auxiliary", auxiliary, low=0)
        check_whole("held_out", held_out, low=0)
        if decoys not in DECOYS:
            raise ValueError(f"decoys must be one of {', '.join(DECOYS)}, got {decoys!r}")
        if attacker_knows not in KNOWS:
            raise ValueError(f"attacker_knows must be one of {', '.join(KNOWS)}, got {attacker_knows!r}")
        if not records.released_columns:
            raise ValueError("records: every column is an identifier, so that nothing would be released")
        if len(records) < candidates:
            raise ValueError(f"candidates: {candidates} are needed and the table has {len(records)} rows")

    @cached_property
    def _neighbours(self) -> Neighbours:
        return Neighbours(self.records)

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
            decoys = self._neighbours.nearest(originals, others, count)
        else:
            decoys = decoy_rng.choice(others, count, replace=False)
        bystanders = others[~np.isin(others, decoys)][: self.auxiliary]
        order = order_rng.permutation(self.candidates)
        candidates = self.records.take(np.concatenate([originals, decoys])[order])
        records = self.records.take(originals)
        domains = {name: self.records.domain(name) for name in records.released_columns}
        target = prediction_target(records.sensitive, domains)
        held_out_frame = self.records.take(held_out).frame
        return CandidateFileSecret(
            records,
            candidates.frame[list(candidates.released_columns)],
            np.argsort(order)[: self.originals],
            self.records.take(bystanders),
            TableUtility(records.frame, domains, held_out_frame, target, query_rng),
        )

    def publish(self, release: Release, rng: Generator) -> MicrodataRelease:
        """Shuffle the rows."""
        if not isinstance(release, MicrodataRelease):
            raise TypeError(f"the candidate-file game publishes tables, got a {release.kind} release")
        return release.shuffled(rng)

    def knowledge(self, secret: CandidateFileSecret, defense: Defense) -> Knowledge:
        """Hand over the candidates, other people, and the mechanism where the game discloses it."""

        def simulate(records: Microdata, rng: Generator) -> MicrodataRelease:
            return self.publish(defense.clone().apply(records, rng), rng)

        known = simulate if self.attacker_knows == "mechanism" else None
        return Knowledge(secret.candidates.copy(), secret.auxiliary, known)

    def score(
        self, secret: CandidateFileSecret, published: MicrodataRelease, claims: Claims, rng: Generator
    ) -> dict[str, float | None]:
        """Score row by row and candidate by candidate.

        Returns
        -------
        dict
            ``reidentification``: correct rows / rows that stem from one original, None where there is no such row,
            with their number ``rows`` and its ``chance``, 1 / candidates; ``top3``: the same with three answers
            allowed; ``hits``: correct rows / originals; ``answered``: share of rows answered; ``precision``: correct /
            answered rows of known origin; ``membership``: share of originals among the `originals` surest candidates,
            with their number ``persons``, ``membership_chance`` and ``membership_auc``.

        Raises
        ------
        TypeError
            If the claims are no ranked answers.
        ValueError
            If they are about other numbers of rows or candidates.
        """
        if not isinstance(claims, RankedAnswers):
            raise TypeError(f"the candidate-file game scores ranked answers, got {type(claims).__name__}")
        return score_answers(claims, published.origin, secret.answers, self.candidates, rng)

    def utility(self, secret: CandidateFileSecret, release: MicrodataRelease) -> dict[str, float | None]:
        """Anchored utility of the table (`metrics.utility.TableUtility`), and its k and l as measured."""
        return table_worth(secret.utility, secret.records, release.frame)


def score_answers(
    claims: RankedAnswers, origin: NDArray[np.intp], answers: NDArray[np.intp], candidates: int, rng: Generator
) -> dict[str, float | None]:
    """Score answers about the rows of one table; see `CandidateFile.score`.

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

    Raises
    ------
    ValueError
        If the claims are about other numbers of rows or candidates.
    """
    rows, originals = len(origin), len(answers)
    if (claims.targets, claims.answers) != (rows, candidates):
        raise ValueError(
            f"the answers are about {claims.targets} rows and {claims.answers} candidates, "
            f"there are {rows} and {candidates}"
        )
    known = origin >= 0
    truth = np.where(known, answers[origin], -1)
    right = claims.answer == truth[claims.target]
    rank = claims.ranking(rng)
    correct, close = int((right & (rank == 0)).sum()), int((right & (rank < 3)).sum())
    answered = np.zeros(rows, dtype=bool)
    answered[claims.target] = True
    member = np.zeros(candidates, dtype=bool)
    member[answers] = True
    decisions = claims.members()
    return {
        "reidentification": _rate(correct, int(known.sum())),
        "rows": int(known.sum()),
        "chance": 1 / candidates,
        "top3": _rate(close, int(known.sum())),
        "hits": correct / originals,
        "answered": _rate(int(answered.sum()), rows),
        "precision": _rate(correct, int((answered & known).sum())),
        "membership": float(member[decisions.first(originals, rng)].mean()),
        "persons": originals,
        "membership_chance": originals / candidates,
        "membership_auc": area_under_curve(decisions.scores, member),
    }


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None
