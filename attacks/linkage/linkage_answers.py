"""Answers from the likelihoods of pairs of row and candidate, one-to-one or many-to-one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge, RankedAnswers, derived_table, shared_distance, shared_table
from defenses.base import MicrodataRelease
from metrics.columns import Array, Booleans, Floats, Integers, Integers32, scattered

# One-to-one matching of released rows and candidates: optimal assignment and posterior of each pair.

# Lower bounds that keep messages finite if a row has only one candidate, in double and in single precision.
SMALLEST, SMALLEST_SINGLE = 1e-200, 1e-30
# Largest number of candidates for the exact posterior, which enumerates their subsets: 2^12 of them.
EXACT = 12
# Lower bound of a pair's log-likelihood relative to its row's best in the exact posterior, so that a matching of
# positive weight always exists.
LEAST = -50.0


def one_to_one(scores: Floats) -> Integers:
    """Assign rows to different candidates with the largest total of finite scores; -1 for rows that are left over.

    Source: Crouse (2016), On implementing 2D rectangular assignment algorithms
    (`scipy.optimize.linear_sum_assignment`).
    """
    from scipy.optimize import linear_sum_assignment

    rows, candidates = linear_sum_assignment(scores, maximize=True)
    return scattered(candidates, rows, scores.shape[0])


def matching_posterior(log_likelihood: Array, rounds: int = 10) -> Array:
    """Posterior probability that each row is matched with each candidate, under random one-to-one matchings.

    Every row has exactly one candidate, and every candidate at most one row. If rows outnumber candidates, every
    candidate has exactly one row instead. The probabilities of a row then add up to at most 1, and all sets of
    left-over rows are equally likely a priori.

    It is exact for at most 12 candidates, or rows if these outnumber candidates (`enumerated_posterior`). Larger
    problems use loopy belief propagation (`propagated_posterior`).

    Log-likelihoods are finite or -inf, with a finite entry in each row, and in each column if rows outnumber
    candidates.
    """
    rows, candidates = log_likelihood.shape
    if rows > candidates:
        return matching_posterior(np.ascontiguousarray(log_likelihood.T), rounds).T
    if candidates <= EXACT:
        return enumerated_posterior(log_likelihood).astype(log_likelihood.dtype, copy=False)
    return propagated_posterior(log_likelihood, rounds)


def enumerated_posterior(log_likelihood: Floats) -> Floats:
    """Exact marginals of a random one-to-one matching, by dynamic programming over sets of candidates.

    Let F_i(S) be the total weight of the matchings of the first i rows with the candidates of the set S, |S| = i. Let
    B_i(S) be that of the matchings of rows i, i + 1, … with candidates outside S. Row i has candidate j with weight
    w_ij sum of F_i(S) B_{i+1}(S + j) over the S without j. These weights are permanents. The recursion takes candidates
    x 2^candidates steps.

    Log-likelihoods are finite or -inf, with a finite entry in each row, and rows do not outnumber candidates.

    Source: Ryser (1963), Combinatorial mathematics, chapter 2, for permanents; Held and Karp (1962), A dynamic
    programming approach to sequencing problems, for the recursion over sets.
    """
    rows, candidates = log_likelihood.shape
    weight = np.exp(np.maximum(log_likelihood - log_likelihood.max(axis=1, keepdims=True), LEAST))
    of_size = _sets_by_size(candidates)
    forward, backward = np.zeros(2**candidates), np.zeros(2**candidates)
    backward[of_size[rows][0]] = 1.0
    for (sets, free, larger), likelihood in zip(reversed(of_size[:rows]), weight[::-1], strict=True):
        backward[sets] = (free * likelihood * backward[larger]).sum(axis=1)
    posterior: Floats = np.empty_like(weight)
    forward[0] = 1.0
    for row, (sets, free, larger) in enumerate(of_size[:rows]):
        step = forward[sets, None] * free * weight[row]
        posterior[row] = (step * backward[larger]).sum(axis=0)
        forward = np.asarray(np.bincount(larger.ravel(), weights=step.ravel(), minlength=forward.size), dtype=float)
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior


@cache
def _sets_by_size(candidates: int) -> list[tuple[Integers, Booleans, Integers]]:
    """For each size: the sets of so many candidates, which candidates are outside, and the set with each of these."""
    sets, alone = np.arange(2**candidates), 1 << np.arange(candidates)
    free = sets[:, None] & alone == 0
    larger = np.where(free, sets[:, None] | alone, 0)
    chosen = (np.flatnonzero(candidates - free.sum(axis=1) == size) for size in range(candidates + 1))
    return [(of_size, free[of_size], larger[of_size]) for of_size in chosen]


def propagated_posterior(log_likelihood: Array, rounds: int = 10) -> Array:
    """Approximate marginals of a random one-to-one matching, by loopy belief propagation.

    Messages pass between rows, each matched with exactly one candidate, and candidates, each matched with at most one
    row. Let w be the likelihoods. A row sends each candidate the message need = w / sum of w x free over the other
    candidates. A candidate sends each row the message free = 1 / (1 + sum of the needs of the other rows). The
    posterior is w x free, normalised by row. It is exact for one row. If few rows compete for each candidate, its error
    is a few hundredths at most. Log-likelihoods are finite or -inf, with a finite entry in each row.

    Source: Williams and Lau (2014), Approximate evaluation of marginal association probabilities with belief
    propagation.
    """
    weight = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    posterior: Array = weight.copy()
    message = np.empty_like(weight)
    # Numpy's maximum with an array takes half the time of that with a scalar.
    least = SMALLEST_SINGLE if weight.dtype == np.float32 else SMALLEST
    smallest = np.full(weight.shape[1], least, dtype=weight.dtype)
    row_sums: Array | None = None
    for _ in range(rounds):
        # In place: need = weight / (sum of posteriors of the others), then posterior = weight / (1 + others' needs).
        before, row_sums = row_sums, posterior.sum(axis=1, keepdims=True)
        np.subtract(row_sums, posterior, out=message)
        np.maximum(message, smallest, out=message)
        np.divide(weight, message, out=message)
        # A rounded sum of numbers of at least 0 is at least each of them, so that differences are not negative.
        np.subtract(message.sum(axis=0), message, out=message)
        message += 1
        np.divide(weight, message, out=message)
        posterior, message = message, posterior
        # If the posteriors repeat to the last digit, so do those of all later rounds. Equal sums hint at it.
        if before is not None and np.array_equal(row_sums, before) and np.array_equal(posterior, message):
            break
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior


# Whether several rows may stem from one candidate.

# Loss of log-likelihood by which one-to-one matchings are left: for each row, and for each row that equals another one.
# In one-to-one releases of shipped defenses it stayed below .2, and 3.2 for equal rows. With several rows a person it
# was 1 where 30 % of all cells were replaced, and 27 for equal rows of a copy.
MOST_LOSS, MOST_LOSS_OF_EQUALS = 0.3, 6.0
# Least probability that a row stems from another candidate than its likeliest one, so that one row cannot decide.
LEAST_REST = 1e-12


def several_rows(
    posterior: Floats, candidate: Integers32 | Integers | None, candidates: int, groups: Callable[[], Integers]
) -> bool:
    """Whether some candidates have several rows, by marginal likelihood against one-to-one matchings.

    If every row's candidate is drawn by itself, no two rows have one candidate with a prior and a posterior
    probability. Their ratio is that of the two marginal likelihoods. Both are approximated as if candidates were
    independent. Equal rows of a group look alike in a one-to-one release, too. They count less, unless rows that are
    not equal suffice.

    - posterior, shape (rows, candidates), or (rows, depth) with `candidate`: Probability that each row stems from each
      candidate if it is matched by itself.
    - candidate, shape (rows, depth): Candidates of the posterior's entries; None if these are all candidates.
    - groups: Gives a number to each row, equal for equal rows. Called where the answer depends on it.

    Source: Kass and Raftery (1995), Bayes factors.
    """
    rows = len(posterior)
    excess = loss_one_to_one(posterior, candidate, candidates) - MOST_LOSS * rows - 1
    if excess <= 0:
        return False
    first = np.unique(groups(), return_index=True)[1]
    of_first = None if candidate is None else candidate[first]
    unequal = loss_one_to_one(posterior[first], of_first, candidates) - MOST_LOSS * first.size - 1
    return bool(unequal > 0 or excess > MOST_LOSS_OF_EQUALS * (rows - first.size))


def loss_one_to_one(posterior: Floats, candidate: Integers32 | Integers | None, candidates: int) -> float:
    """Loss of log-likelihood if no two rows have one candidate; for the arguments, see `several_rows`."""
    if candidates < 2:
        return 0.0
    rows, chance = len(posterior), 1 / candidates
    rest = np.maximum(1 - posterior, LEAST_REST)
    log_rest, odds = np.log(rest), posterior / rest
    if candidate is None:
        lone, alone = log_rest.sum(axis=0), odds.sum(axis=0)
    else:
        lone, alone = (
            np.bincount(candidate.ravel(), weights=table.ravel(), minlength=candidates) for table in (log_rest, odds)
        )
    prior = candidates * (rows * np.log1p(-chance) + np.log1p(rows * chance / (1 - chance)))
    return float(prior - (lone + np.log1p(alone)).sum())


# Ranked answers with notes on how they were found.

SEVERAL = "several released rows seem to stem from one candidate, so that each row is answered by itself"


@dataclass(frozen=True)
class NotedAnswers(RankedAnswers):
    """Ranked answers with notes for the reader.

    - notes: How the answers were found.
    - several: Whether several rows may have one candidate.
    """

    notes: tuple[str, ...] = ()
    several: bool = False


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

    def posterior(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Floats:
        """Probability that each released row stems from each candidate, shape (rows, candidates)."""
        return evidence_posterior(release, knowledge, self.evidence(release, knowledge, rng))


def evidence_posterior(release: MicrodataRelease, knowledge: Knowledge, evidence: Floats) -> Floats:
    """`matching_posterior` of evidence, shape (rows, candidates); of shared evidence once for all attacks on a release.

    For the evidence, see `Linkage.evidence`.
    """
    return derived_table(release, knowledge, evidence, "posterior", lambda: matching_posterior(evidence))


def distance_posterior(release: MicrodataRelease, knowledge: Knowledge, sharpness: float) -> Floats:
    """`matching_posterior` of ``-sharpness * Gower distance``, once for all attacks on a release, and read-only.

    It has shape (rows, candidates).
    """
    distance = shared_distance(release, knowledge)
    name = ("posterior", "Gower's distance", sharpness)
    return shared_table(release, knowledge, name, lambda: matching_posterior(-sharpness * distance))


def assignment_answers(scores: Floats, posterior: Floats, rng: Generator, *, calibrated: bool = True) -> RankedAnswers:
    """Answer with the best one-to-one assignment first and the others in the order of their posterior.

    - scores, shape (rows, candidates): Finite; the assignment maximizes their sum. Where rows outnumber candidates, the
      rows that it leaves over are not answered.
    - posterior, shape (rows, candidates): In [0, 1]; its sum over rows is the membership score of each candidate.
    - rng: Breaks ties. Rows and candidates are assigned in random order, since the solver breaks ties by position.
    - calibrated: Whether answers state `posterior` as their confidence; otherwise they state none.
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

    The posterior is the confidence of each pair, and its sum over rows the membership score of each candidate.
    """
    members = Decisions(posterior.sum(axis=0))
    return RankedAnswers.from_scores(posterior, rng, membership=members, confidence=np.clip(posterior, 0, 1))
