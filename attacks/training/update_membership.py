"""Membership inference from the updates that a server sees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge, applicable
from defenses.base import TrainingRelease
from metrics.columns import Floats, Integers, check_choice

STATISTICS = ("alignment", "loss")
ROUNDS = ("all", "first", "last")
# Largest number of rounds used, evenly spaced; the same records take part in each.
LOOKED_AT = 5
# Number of people whose gradients estimate mean and covariance.
STUDIED = 300


class UpdateMembership(Attack):
    r"""Membership inference by gradient alignment or by loss, in one round or over all.

    With "alignment", the test statistic is a likelihood ratio of an update u of B records and a candidate's gradient g.
    Non-members' gradients have mean m and covariance S, estimated on the attacker's people. If the candidate is not
    in the batch, u has mean m and covariance S/B plus that of the noise. If it is, u has mean m + (g - m)/B and nearly
    the same covariance. Let W be the inverse of S plus the noise's B sigma^2 and a ridge. Then B/(B - 1) times

    .. math:: (g - m)^T W (u - m) - |g - m|_W^2 / (2 B) - |u - m|_W^2 / 2

    is the log-likelihood ratio up to a constant. It is averaged over at most five rounds, in which the same records
    take part. The score is the largest average over clients.

    With "loss", the score is the negative mean loss of the candidate after these rounds.

    Parameters
    ----------
    statistic : {"alignment", "loss"}
        Test statistic.
    rounds : {"all", "first", "last"}
        Rounds that are used.

    Raises
    ------
    ValueError
        If a parameter has another value.

    References
    ----------
    Nasr, Shokri and Houmansadr (2019), Comprehensive privacy analysis of deep learning; Li, Li and Ribeiro (2023),
    Effective passive membership inference attacks in federated learning against overparameterized models (alignment);
    Yeom et al. (2018), Privacy risk in machine learning (loss).
    """

    kind = "training"
    goal = "membership"

    def __init__(self, *, statistic: str = "alignment", rounds: str = "all") -> None:
        self.statistic = check_choice("statistic", statistic, STATISTICS)
        self.rounds = check_choice("rounds", rounds, ROUNDS)

    def run(self, release: TrainingRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            With "alignment", if the attacker has fewer than two people.
        """
        encoding = release.encoding
        candidates = encoding.features(knowledge.candidates), encoding.labels(knowledge.candidates)
        last = len(release.aggregates)
        turns: Sequence[int] = {"all": range(last), "first": range(1), "last": range(last - 1, last)}[self.rounds]
        turns = sorted({turns[round(index)] for index in np.linspace(0, len(turns) - 1, LOOKED_AT)})
        if self.statistic == "loss":
            losses = [release.network.losses(release.models[turn + 1], *candidates) for turn in turns]
            return Decisions(-np.mean(losses, axis=0))
        people = knowledge.auxiliary.frame
        applicable(len(people) >= 2, "alignment needs at least two people of the attacker's own")
        people = people.iloc[rng.permutation(len(people))[:STUDIED]]
        own = encoding.features(people), encoding.labels(people)
        alone = any(release.updates)
        sizes = np.array(release.sizes if alone else [sum(release.sizes)])
        scores, seen = np.zeros((len(knowledge.candidates), sizes.size)), np.zeros(sizes.size)
        for turn in turns:
            updates = release.updates[turn] if alone else {0: release.aggregates[turn]}
            who = list(updates)
            gradients, reference = (release.contributions(turn, *part) for part in (candidates, own))
            steps = np.stack([updates[client] for client in who]) / release.local_epochs
            noise = release.noise / release.local_epochs
            scores[:, who] += alignment(gradients, reference, steps, sizes[who], noise)
            seen[who] += 1
        return Decisions((scores[:, seen > 0] / seen[seen > 0]).max(axis=1))


def alignment(gradients: Floats, reference: Floats, updates: Floats, sizes: Integers, noise: float) -> Floats:
    """Log-likelihood ratios of membership in an update, up to a constant, shape (candidates, updates).

    - gradients, shape (candidates, weights): Gradients of candidates.
    - reference, shape (people, weights): Gradients of known non-members.
    - updates, shape (updates, weights): Observed updates: mean gradients over the records of each.
    - sizes, shape (updates,): Number of records of each update.
    - noise: Standard deviation of the noise on an update's coordinates.
    """
    mean = reference.mean(axis=0)
    spread = (reference - mean) / np.sqrt(len(reference))
    # (A'A + r I)^-1 = (I - A' U (L + r I)^-1 U' A) / r with A A' = U L U', in as many dimensions as there are people.
    values, vectors = np.linalg.eigh(spread @ spread.T)
    away, moved = gradients - mean, updates - mean
    turned, seen = (part @ spread.T @ vectors for part in (away, moved))
    plain = away @ moved.T
    squares, seen_squares = (np.einsum("ij,ij->i", part, part) for part in (away, moved))
    result = np.empty((len(gradients), len(updates)))
    for size in np.unique(sizes):
        ridge = max(1e-3 * values.mean(), size * noise**2, 1e-300)
        inverse = 1 / (np.maximum(values, 0) + ridge)
        own = sizes == size
        inner = plain[:, own] - (turned * inverse) @ seen[own].T
        norms = squares - np.square(turned) @ inverse
        seen_norms = seen_squares[own] - np.square(seen[own]) @ inverse
        result[:, own] = (inner - norms[:, None] / (2 * size) - seen_norms / 2) / ridge * size / max(1, size - 1)
    return result
