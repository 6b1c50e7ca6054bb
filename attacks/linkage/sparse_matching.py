"""One-to-one matching where each row has some candidates only, out of very many."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.base.claims import Decisions, RankedAnswers
from attacks.linkage.candidate_search import Near
from attacks.linkage.row_matching import SMALLEST
from metrics.arrays import Floats

# What it costs, in log-likelihood, to leave a row without any of its candidates.
LEFT_OVER = 1e4


def sparse_one_to_one(near: Near, candidates: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Assign as many rows as possible to different ones of their candidates, with the largest total log-likelihood.

    Parameters
    ----------
    near : Near
        The candidates of each row.
    candidates : int
        How many there are in all.

    Returns
    -------
    ndarray of int, shape (rows,)
        Column of `near` that each row is assigned, -1 for rows that are left over.

    References
    ----------
    Jonker and Volgenant (1987), A shortest augmenting path algorithm for dense and sparse linear assignment problems
    (`scipy.sparse.csgraph.min_weight_full_bipartite_matching`).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, kept = near.candidate.shape
    # Every row has a stand-in of its own, so that a full matching exists; costs must differ from 0.
    loss = 1.0 + near.log_likelihood.max() - near.log_likelihood
    weight = np.column_stack([loss, np.full(rows, LEFT_OVER + loss.max())]).ravel()
    column = np.column_stack([near.candidate, candidates + np.arange(rows)]).ravel()
    start = np.arange(rows + 1) * (kept + 1)
    graph = csr_array((weight, column, start), shape=(rows, candidates + rows))
    graph.sort_indices()
    row, matched = min_weight_full_bipartite_matching(graph)
    assigned = np.empty(rows, dtype=np.intp)
    assigned[row] = matched
    same = near.candidate == assigned[:, None]
    return np.where(same.any(axis=1), same.argmax(axis=1), -1)


def sparse_posterior(near: Near, candidates: int, rounds: int = 10) -> tuple[Floats, Floats]:
    """Loopy belief propagation of `attacks.linkage.row_matching.propagated_posterior` on the candidates of each row.

    The candidates that a row was not compared with count together: they are as free as candidates are on average,
    and the row's need of them is spread over all.

    Parameters
    ----------
    near : Near
        The candidates of each row, and how likely the others are.
    candidates : int
        How many there are in all.
    rounds : int
        Rounds of messages.

    Returns
    -------
    posterior : ndarray of float, shape (rows, kept)
        Probability that each row stems from each of its candidates.
    members : ndarray of float, shape (candidates,)
        Sum of each candidate's probabilities.
    """
    highest = np.maximum(near.log_likelihood.max(axis=1), near.elsewhere)
    weight, other = np.exp(near.log_likelihood - highest[:, None]), np.exp(near.elsewhere - highest)
    posterior, others = weight.copy(), other.copy()
    position = near.candidate.ravel()
    for _ in range(rounds):
        whole = posterior.sum(axis=1) + others
        need = weight / np.maximum(whole[:, None] - posterior, SMALLEST)
        spread = (others / np.maximum(whole, SMALLEST)).sum() / candidates
        demand = np.bincount(position, weights=need.ravel(), minlength=candidates) + spread
        posterior = weight / (1 + np.maximum(demand[near.candidate] - need, 0))
        others = other * np.mean(1 / (1 + demand))
    whole = np.maximum(posterior.sum(axis=1) + others, SMALLEST)
    posterior /= whole[:, None]
    members = np.bincount(position, weights=posterior.ravel(), minlength=candidates)
    return posterior, members + (others / whole).sum() / candidates


def sparse_answers(near: Near, candidates: int, rng: Generator, depth: int = 10) -> RankedAnswers:
    """Answer with the best sparse assignment first and the others in the order of their posterior.

    Where rows outnumber candidates, those that the assignment leaves over are not answered.

    Parameters
    ----------
    near : Near
        The candidates of each row.
    candidates : int
        How many there are in all.
    rng : Generator
        Breaks ties between equal candidates of a row.
    depth : int
        How many answers to keep for each row.
    """
    rows = len(near.candidate)
    order = rng.permutation(rows)
    turned = np.empty(rows, dtype=np.intp)
    turned[order] = sparse_one_to_one(
        Near(near.candidate[order], near.log_likelihood[order], near.elsewhere[order]), candidates
    )
    posterior, members = sparse_posterior(near, candidates)
    score = posterior.copy()
    found = np.flatnonzero(turned >= 0)
    score[found, turned[found]] += 1.0
    first = np.argsort(-score, axis=1, kind="stable")[:, :depth]
    answered = np.repeat((turned >= 0) | (rows <= candidates), first.shape[1])
    target = np.repeat(np.arange(rows), first.shape[1])[answered]
    answer = np.take_along_axis(near.candidate, first, axis=1).ravel()[answered].astype(np.intp)
    scores = np.take_along_axis(score, first, axis=1).ravel()[answered]
    sure = np.clip(np.take_along_axis(posterior, first, axis=1).ravel()[answered], 0, 1)
    return RankedAnswers(rows, candidates, target, answer, scores, Decisions(members), sure)
