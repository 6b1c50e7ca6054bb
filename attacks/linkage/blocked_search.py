"""Search for the likeliest candidates of every row among those that blocking passes propose."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attacks.linkage.blocking_pass import BlockingPass, members
from attacks.linkage.blocking_plan import BlockingPlan
from attacks.linkage.likeliest_candidates import TIE, LikeliestCandidates
from attacks.linkage.pair_scores import ColumnScore, Single, total_scores
from attacks.linkage.sampled_learning import log_sum
from metrics.arrays import Booleans, Floats, Integers

# Likeliest candidates that are kept of each row, and how far below the likeliest one they may be.
DEPTH, FURTHEST = 12, 9.0
# Pairs and rows of one chunk, and chunks that are searched at the same time.
CHUNK_PAIRS, CHUNK_ROWS, THREADS = 2**20, 8192, 2
# A row is looked up in further passes until it has so many times the pairs of one pass.
MOST_IN_ALL = 2
# Log-likelihood of an empty place in the list of a row.
NOBODY = -1e9


@dataclass(frozen=True)
class Found:
    """Likeliest candidates of some rows.

    Attributes
    ----------
    candidate : ndarray of int, shape (rows, depth)
        Positions of the candidates; 0 in empty places.
    score : ndarray of float, shape (rows, depth)
        Log-likelihoods; -1e9 in empty places.
    elsewhere : ndarray of float, shape (rows,)
        Log of the sum of the likelihoods of other candidates.
    pairs : int
        Number of pairs that were compared.
    """

    candidate: NDArray[np.int32]
    score: Single
    elsewhere: Floats
    pairs: int


def blocked_search(
    plan: BlockingPlan, scores: Sequence[ColumnScore], others: Floats
) -> tuple[LikeliestCandidates, int]:
    """Find the likeliest candidates of every row, and count the pairs that were compared.

    Candidates that no pass proposes count as a whole. Their number is estimated for each set of columns whose windows
    hold their values, as if columns were independent.

    Parameters
    ----------
    plan : BlockingPlan
        The passes.
    scores : sequence of ColumnScore
        Log-likelihoods of all columns, which add up.
    others : ndarray of float, shape (rows,)
        Log of the mean likelihood of a row over all candidates in the columns that no pass uses.
    """
    rows, candidates = plan.search[0].column.codes.size, plan.search[0].column.values.size
    everybody = np.arange(candidates)
    passes = [BlockingPass([plan.search[column] for column in one], everybody) for one in plan.passes]
    step = int(np.clip(CHUNK_PAIRS / max(1.0, plan.pairs), 64, CHUNK_ROWS))
    chunks = [np.arange(start, min(start + step, rows)) for start in range(0, rows, step)]
    depth = min(DEPTH, candidates)
    near = LikeliestCandidates(
        np.zeros((rows, depth), dtype=np.int32), np.full((rows, depth), NOBODY), np.full(rows, NOBODY)
    )
    pairs = 0
    with ThreadPoolExecutor(THREADS) as pool:
        for chunk, found in zip(
            chunks, pool.map(lambda chunk: _searched(plan, passes, scores, others, chunk, depth), chunks), strict=True
        ):
            near.candidate[chunk], near.log_likelihood[chunk] = found.candidate, found.score
            near.elsewhere[chunk] = found.elsewhere
            pairs += found.pairs
    return near, pairs


def _searched(
    plan: BlockingPlan,
    passes: list[BlockingPass],
    scores: Sequence[ColumnScore],
    others: Floats,
    rows: Integers,
    depth: int,
) -> Found:
    used = np.zeros((rows.size, len(passes)), dtype=bool)
    spent = np.zeros(rows.size)
    best = np.full(rows.size, -np.inf, dtype=np.float32)
    row_parts, candidate_parts, score_parts = [], [], []
    for number, one in enumerate(passes):
        ranges, wide = one.ranges(rows)
        count = np.bincount(ranges.row, weights=ranges.high - ranges.low, minlength=rows.size)
        count[wide] = np.inf
        taken = (count <= plan.most_pairs) & (spent + count <= MOST_IN_ALL * plan.most_pairs)
        used[:, number] = taken
        spent[taken] += count[taken]
        take = taken[ranges.row]
        row, position = members(type(ranges)(ranges.row[take], ranges.low[take], ranges.high[take]))
        if not row.size:
            continue
        candidate = np.take(one.order, position)
        score = total_scores(scores, row + rows[0], candidate)
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        best[row[starts]] = np.maximum(best[row[starts]], np.maximum.reduceat(score, starts))
        near = np.flatnonzero(score >= np.take(best, row) - FURTHEST)
        row_parts.append(row[near])
        candidate_parts.append(candidate[near])
        score_parts.append(score[near])
    row = np.concatenate([*row_parts, np.zeros(0, dtype=np.intp)])
    candidate = np.concatenate([*candidate_parts, np.zeros(0, dtype=np.intp)])
    score = np.concatenate([*score_parts, np.zeros(0, dtype=np.float32)])
    near = np.flatnonzero(score >= best[row] - FURTHEST)
    row, candidate, score = row[near], candidate[near], score[near]
    _, first = np.unique(row * (np.int64(2) ** 32) + candidate, return_index=True)
    row, candidate, score = row[first], candidate[first], score[first]
    order = np.lexsort((-score - TIE * _mixed(rows[row], candidate), row))
    row, candidate, score = row[order], candidate[order], score[order]
    rank = np.arange(row.size) - np.searchsorted(row, row)
    listed = rank < depth
    result = np.zeros((rows.size, depth), dtype=np.int32)
    likelihood = np.full((rows.size, depth), NOBODY, dtype=np.float32)
    result[row[listed], rank[listed]] = candidate[listed]
    likelihood[row[listed], rank[listed]] = score[listed]
    beyond = np.bincount(row[~listed], weights=np.exp(score[~listed] - best[row[~listed]]), minlength=rows.size)
    with np.errstate(divide="ignore"):
        beyond = np.log(beyond) + np.where(np.isfinite(best), best, 0.0)
    elsewhere = np.logaddexp(np.maximum(beyond, NOBODY), _unsearched(plan, used, rows) + others[rows])
    return Found(result, likelihood, elsewhere, int(spent.sum()))


def _mixed(rows: Integers, candidates: Integers) -> Floats:
    """Numbers in [0, 1) that look random, one for each pair, to break ties; the same on any number of threads."""
    mixed = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ candidates.astype(np.uint64) * np.uint64(
        0xC2B2AE3D27D4EB4F
    )
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray((mixed >> np.uint64(40)) / 2.0**24)


def _unsearched(plan: BlockingPlan, used: Booleans, rows: Integers) -> Floats:
    """Log of the expected likelihood of all candidates that no pass proposes, in the plan's columns, shape (rows,)."""
    inner = np.column_stack([column.inner[column.column.codes[rows]] for column in plan.search])
    outer = np.column_stack([column.outer[column.column.codes[rows]] for column in plan.search])
    table, covered = plan.patterns, plan.covered()
    candidates = plan.search[0].column.values.size
    result = np.full(rows.size, NOBODY)
    kinds, kind = np.unique(used, axis=0, return_inverse=True)
    for number, passes in enumerate(kinds):
        missed = ~covered[passes].any(axis=0)
        if missed.any():
            some = np.flatnonzero(kind.ravel() == number)
            log = inner[some] @ table[missed].T + outer[some] @ (~table[missed]).T
            result[some] = log_sum(log) + np.log(candidates)
    return result
