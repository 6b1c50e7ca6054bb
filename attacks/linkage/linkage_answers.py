"""Answers from the likelihoods of pairs of row and candidate, one-to-one or many-to-one."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import Decisions, RankedAnswers
from attacks.base.sides import derived_table, shared_distance, shared_table
from attacks.linkage.row_matching import matching_posterior, one_to_one
from defenses.base.release import MicrodataRelease
from metrics.columns.arrays import Floats


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
        return assignment_answers(scores, evidence_posterior(release, knowledge, scores), rng)


def evidence_posterior(release: MicrodataRelease, knowledge: Knowledge, evidence: Floats) -> Floats:
    """`matching_posterior` of evidence, shape (rows, candidates); of shared evidence once for all attacks on a release.

    Parameters
    ----------
    release, knowledge : MicrodataRelease, Knowledge
        The release under attack, and the attacker's knowledge.
    evidence : ndarray of float, shape (rows, candidates)
        See `Linkage.evidence`.
    """
    return derived_table(release, knowledge, evidence, "posterior", lambda: matching_posterior(evidence))


def distance_posterior(release: MicrodataRelease, knowledge: Knowledge, sharpness: float) -> Floats:
    """`matching_posterior` of ``-sharpness * Gower distance``, once for all attacks on a release, and read-only.

    Shape (rows, candidates).

    Raises
    ------
    ValueError
        As `attacks.base.sides.shared_columns`.
    """
    distance = shared_distance(release, knowledge)
    name = ("posterior", "Gower's distance", sharpness)
    return shared_table(release, knowledge, name, lambda: matching_posterior(-sharpness * distance))


def assignment_answers(scores: Floats, posterior: Floats, rng: Generator, *, calibrated: bool = True) -> RankedAnswers:
    """Answer with the best one-to-one assignment first and the others in the order of their posterior.

    Parameters
    ----------
    scores : ndarray of float, shape (rows, candidates)
        Finite; the assignment maximizes their sum. Where rows outnumber candidates, the rows that it leaves over are
        not answered.
    posterior : ndarray of float, shape (rows, candidates)
        In [0, 1]; its sum over rows is the membership score of each candidate.
    rng : Generator
        Breaks ties. Rows and candidates are assigned in random order, since the solver breaks ties by position.
    calibrated : bool
        Whether answers state `posterior` as their confidence; otherwise they state none.
    """
    rows, candidates = rng.permutation(scores.shape[0]), rng.permutation(scores.shape[1])
    assigned = one_to_one(scores[np.ix_(rows, candidates)])
    answered = assigned >= 0
    ranked = posterior.copy()
    ranked[rows[~answered]] = -np.inf
    ranked[rows[answered], candidates[assigned[answered]]] += 1.0
    members = Decisions(posterior.sum(axis=0))
    confidence = np.clip(posterior, 0, 1) if calibrated else None
    return RankedAnswers.from_scores(ranked, rng, membership=members, confidence=confidence)


def surest_answers(posterior: Floats, rng: Generator) -> RankedAnswers:
    """Answer every row with its most probable candidate; several rows may have the same one.

    Parameters
    ----------
    posterior : ndarray of float, shape (rows, candidates)
        In [0, 1], the confidence of each pair; its sum over rows is the membership score of each candidate.
    rng : Generator
        Breaks ties.
    """
    members = Decisions(posterior.sum(axis=0))
    return RankedAnswers.from_scores(posterior, rng, membership=members, confidence=np.clip(posterior, 0, 1))
