"""From how likely each pair of row and candidate is to answers, one-to-one or many-to-one."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import Decisions, RankedAnswers
from attacks.linkage.row_matching import matching_posterior, one_to_one
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats


class Linkage(Attack):
    """An attack that weighs every pair of released row and candidate, and answers by the best one-to-one matching.

    Where rows outnumber candidates, those that the matching leaves over are not answered.
    """

    @abstractmethod
    def evidence(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Floats:
        """Log-likelihood of each released row under each candidate, shape (rows, candidates).

        Finite, and comparable between rows where they outnumber the candidates; else up to a constant for each row.
        """

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Weigh all pairs and assign one to one."""
        scores = self.evidence(release, knowledge, rng)
        return assignment_answers(scores, matching_posterior(scores), rng)


def assignment_answers(scores: Floats, posterior: Floats, rng: Generator, *, calibrated: bool = True) -> RankedAnswers:
    """Answer with the best one-to-one assignment first and the others in the order of their posterior.

    Parameters
    ----------
    scores : ndarray of float, shape (rows, candidates)
        What the assignment maximises, finite. Rows that it leaves over, where they outnumber the candidates, are not
        answered.
    posterior : ndarray of float, shape (rows, candidates)
        In [0, 1]; summed over rows it says how surely a candidate is among the originals.
    rng : Generator
        Breaks ties: rows and candidates are assigned in random order, since equal assignments are found by position.
    calibrated : bool
        Whether `posterior` is what answers state as their confidence; they state none otherwise.
    """
    rows, candidates = rng.permutation(scores.shape[0]), rng.permutation(scores.shape[1])
    shuffled = one_to_one(scores[np.ix_(rows, candidates)])
    found = shuffled >= 0
    ranked = posterior.copy()
    ranked[rows[~found]] = -np.inf
    ranked[rows[found], candidates[shuffled[found]]] += 1.0
    members = Decisions(posterior.sum(axis=0))
    confidence = np.clip(posterior, 0, 1) if calibrated else None
    return RankedAnswers.from_scores(ranked, rng, membership=members, confidence=confidence)


def surest_answers(posterior: Floats, rng: Generator) -> RankedAnswers:
    """Answer every row with the candidate that it most probably stems from, though another row may have it as well.

    Parameters
    ----------
    posterior : ndarray of float, shape (rows, candidates)
        In [0, 1], the confidence of each pair; summed over rows it says how surely a candidate is among the originals.
    rng : Generator
        Breaks ties.
    """
    members = Decisions(posterior.sum(axis=0))
    return RankedAnswers.from_scores(posterior, rng, membership=members, confidence=np.clip(posterior, 0, 1))
