"""One-to-one matching of released rows and candidates with a sparse set of pairs."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.base import Decisions, RankedAnswers, SharedColumn
from attacks.linkage.blocks.auction import EMPTY
from attacks.linkage.likeliest_candidates import DEPTH, LikeliestCandidates, likeliest_of_all, log_sum
from attacks.linkage.linkage_answers import SMALLEST, NotedAnswers
from metrics.columns import Floats, Integers, Singles, scattered

# Cost of leaving a row unassigned, as a loss of log-likelihood.
LEFT_OVER = 1e4


def sparse_one_to_one(near: LikeliestCandidates, candidates: int) -> Integers:
    """Assign rows to different candidates, as many as possible, with the largest total log-likelihood.

    Returned is the column of `near` with each row's candidate, shape (rows,); -1 for rows that are left over.

    Source: Jonker and Volgenant (1987), A shortest augmenting path algorithm for dense and sparse linear assignment
    problems (`scipy.sparse.csgraph.min_weight_full_bipartite_matching`).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, depth = near.candidate.shape
    # A dummy candidate for each row ensures that a full matching exists. Costs must differ from 0.
    loss = 1.0 + near.log_likelihood.max() - near.log_likelihood
    weight = np.column_stack([loss, np.full(rows, LEFT_OVER + loss.max())]).ravel()
    column = np.column_stack([near.candidate, candidates + np.arange(rows)]).ravel()
    start = np.arange(rows + 1) * (depth + 1)
    graph = csr_array((weight, column, start), shape=(rows, candidates + rows))
    graph.sort_indices()
    row, matched = min_weight_full_bipartite_matching(graph)
    assigned = scattered(matched, row, rows)
    same = near.candidate == assigned[:, None]
    return np.where(same.any(axis=1), same.argmax(axis=1), -1)


def sparse_posterior(near: LikeliestCandidates, candidates: int, rounds: int = 10) -> tuple[Floats, Floats]:
    """Approximate posterior of a one-to-one matching, by loopy belief propagation on the candidates of each row.

    It is the sparse form of `attacks.linkage.linkage_answers.propagated_posterior`. All other candidates of a row count
    as one. Their message is the mean over all candidates. The row's messages to them are spread evenly over all.

    - posterior, shape (rows, depth): Probability that each row stems from each of its candidates.
    - members, shape (candidates,): Probability that each candidate is the original of a row: the sum of its posteriors.
    """
    highest = np.maximum(near.log_likelihood.max(axis=1), near.elsewhere)
    weight, other = np.exp(near.log_likelihood - highest[:, None]), np.exp(near.elsewhere - highest)
    posterior, others = weight.copy(), other.copy()
    position = near.candidate.ravel()
    for _ in range(rounds):
        norm = posterior.sum(axis=1) + others
        need = weight / np.maximum(norm[:, None] - posterior, SMALLEST)
        spread = (others / np.maximum(norm, SMALLEST)).sum() / candidates
        demand = np.bincount(position, weights=need.ravel(), minlength=candidates) + spread
        posterior = weight / (1 + np.maximum(demand[near.candidate] - need, 0))
        others = other * np.mean(1 / (1 + demand))
    norm = np.maximum(posterior.sum(axis=1) + others, SMALLEST)
    posterior /= norm[:, None]
    members = np.bincount(position, weights=posterior.ravel(), minlength=candidates)
    return posterior, members + (others / norm).sum() / candidates


# Entries of a column's table over distinct cells and values that is held for all chunks.
LARGEST_TABLE = 2**22


def nearest_candidates(columns: list[SharedColumn], sharpness: float, rng: Generator) -> LikeliestCandidates:
    """Candidates of the smallest Gower distance of every row, with -sharpness times the distance as log-likelihood."""
    sizes = [column.cells.missing.size * len(column.values) for column in columns]
    tables = [
        column.distance().astype(np.float32) if size <= LARGEST_TABLE else None
        for column, size in zip(columns, sizes, strict=True)
    ]

    def closeness(rows: Integers) -> Singles:
        # Candidates come first, so that whole rows of memory are gathered.
        total: Singles = np.zeros((columns[0].codes.size, rows.size), dtype=np.float32)
        for column, table in zip(columns, tables, strict=True):
            if table is None:
                part = column.of_rows(rows)
                distance = part.distance().astype(np.float32)[part.cells.codes]
            else:
                distance = table[column.cells.codes[rows]]
            total += np.take(np.ascontiguousarray(distance.T), column.codes, axis=0)
        total *= -sharpness / len(columns)
        return np.ascontiguousarray(total.T)

    return likeliest_of_all(closeness, columns[0].cells.codes.size, columns[0].codes.size, rng)


# Answers of each row.
ANSWERS = 10


def sparse_answers(near: LikeliestCandidates, candidates: int, rng: Generator, depth: int = ANSWERS) -> RankedAnswers:
    """Rank each row's candidates: first the assigned one, then the others by posterior.

    If rows outnumber candidates, the rows that the assignment leaves over are not answered. `depth` is the number of
    answers for each row.
    """
    rows = len(near.candidate)
    order = rng.permutation(rows)
    shuffled = LikeliestCandidates(near.candidate[order], near.log_likelihood[order], near.elsewhere[order])
    assigned = scattered(sparse_one_to_one(shuffled, candidates), order, rows)
    return answers_of_assignment(near, assigned, sparse_posterior(near, candidates), depth)


def answers_among_kept(
    near: LikeliestCandidates, candidates: int, rng: Generator, *, one_to_one: bool = True
) -> NotedAnswers:
    """Answers without confidences from a table of pairs that was too large to hold, and a note that says so.

    If not `one_to_one`, each row names its likeliest candidate, and several rows may name the same one.
    """
    if one_to_one:
        claims = sparse_answers(near, candidates, rng)
    else:
        claims = answers_of_assignment(near, None, posterior_by_row(near, candidates), ANSWERS)
    note = (
        f"every row was compared with all {candidates:,} candidates in chunks; the {min(DEPTH, candidates)} likeliest "
        "of each were kept and matched"
    )
    return NotedAnswers(**{**vars(claims), "confidence": None}, notes=(note,))


def posterior_by_row(near: LikeliestCandidates, candidates: int) -> tuple[Floats, Floats]:
    """`sparse_posterior` if each row's candidate is drawn by itself, so that several rows may have one."""
    total = np.logaddexp(log_sum(near.log_likelihood), near.elsewhere)
    posterior = np.exp(near.log_likelihood - total[:, None])
    members = np.bincount(near.candidate.ravel(), weights=posterior.ravel(), minlength=candidates)
    return posterior, members + np.exp(near.elsewhere - total).sum() / candidates


def answers_of_assignment(
    near: LikeliestCandidates, assigned: Integers | None, posterior: tuple[Floats, Floats], depth: int
) -> RankedAnswers:
    """Rank each row's candidates: first the assigned one, then the others by posterior.

    If rows outnumber candidates, rows without an assigned candidate are not answered. Empty places of `near` have
    log-likelihoods of at most `EMPTY` and are no answers.

    - assigned, shape (rows,): Column of `near` with the assigned candidate; -1 for rows that are left over. None if the
      posterior decides.
    - posterior: The posterior, shape (rows, depth), and its sum for each candidate, as `sparse_posterior` returns them.
    - depth: Number of answers for each row.
    """
    probability, members = posterior
    rows, candidates = len(probability), members.size
    score = np.where(near.log_likelihood > EMPTY, probability, -1.0)
    answered = np.ones(rows, dtype=bool)
    if assigned is not None:
        answered = (assigned >= 0) | (rows <= candidates)
        matched = np.flatnonzero(assigned >= 0)
        score[matched, assigned[matched]] += 1.0
    first = np.argsort(-score, axis=1, kind="stable")[:, :depth]
    score = np.take_along_axis(score, first, axis=1)
    row, place = np.nonzero((score >= 0) & answered[:, None])
    column = first[row, place]
    confidence = np.clip(probability[row, column], 0, 1)
    answer = near.candidate[row, column].astype(np.intp)
    return RankedAnswers(rows, candidates, row, answer, score[row, place], Decisions(members), confidence)
