"""Column models learned by expectation maximization on a sample of rows, each compared with all candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from attacks.linkage.blocks.column_mixture import ColumnMixture
from attacks.linkage.blocks.run_coded_column import RunCodedColumn
from attacks.linkage.likeliest_candidates import LikeliestCandidates, likeliest_of_all, log_sum
from metrics.columns import Array, Floats, Integers, Singles

# Pairs of one search, the largest and the smallest number of sampled rows, and the candidates kept of each row.
PAIRS, MOST_ROWS, FEWEST_ROWS, DEPTH = 4 * 10**8, 1000, 100, 200
# Searches, rounds of expectation maximization after each, and the change of a share below which they end.
SEARCHES, ROUNDS, SETTLED = 5, 12, 2e-3
# Log-likelihood of an empty place in the list of a row.
NOBODY = -1e9
# Rows that are compared with all candidates at a time.
CHUNK_ROWS = 16


@dataclass(frozen=True)
class LearnedModels:
    """Column models, and the mean information that a released cell of each gives about the candidate.

    - bits, shape (columns,): In bits.
    """

    models: list[ColumnMixture]
    bits: Floats


def learned_models(columns: list[RunCodedColumn], rng: Generator) -> LearnedModels:
    """Learn the shares of kept, disturbed and replaced values of every column, and the deviation of its noise.

    The candidates beyond the likeliest 200 of a row enter as a whole, as if their columns were independent. `rng` draws
    the sample of rows.
    """
    models = [ColumnMixture(column) for column in columns]
    rows, candidates = columns[0].codes.size, columns[0].values.size
    size = min(rows, MOST_ROWS, max(FEWEST_ROWS, PAIRS // candidates))
    sample = np.sort(rng.choice(rows, size, replace=False))
    bits = np.zeros(len(models))
    for _ in range(SEARCHES):
        near = among_all(models, sample, min(DEPTH, candidates))
        before = np.array([model.shares for model in models])
        for _ in range(ROUNDS):
            moved, bits = _maximized(models, sample, near)
            if moved < SETTLED:
                break
            near = LikeliestCandidates(near.candidate, _rescored(models, sample, near.candidate), near.elsewhere)
        if np.abs(np.array([model.shares for model in models]) - before).max() < 5 * SETTLED:
            break
    return LearnedModels(models, bits)


def among_all(models: list[ColumnMixture], rows: Integers, depth: int) -> LikeliestCandidates:
    """The `depth` likeliest candidates of some rows among all candidates, where columns' log-likelihoods add up."""
    candidates = models[0].column.values.size

    def scores(chunk: Integers) -> Singles:
        total = np.zeros((chunk.size, candidates), dtype=np.float32)
        for model in models:
            cells, position = np.unique(model.column.codes[rows[chunk]], return_inverse=True)
            table = model.log_likelihoods(cells)
            for row, cell in enumerate(position.tolist()):
                total[row] += table[cell][model.column.values]
        return total

    near = likeliest_of_all(scores, rows.size, candidates, None, CHUNK_ROWS, depth)
    return replace(near, elsewhere=np.maximum(near.elsewhere, NOBODY))


def finite_log_sum(table: Floats) -> Floats:
    """Log of the sum of exponentials of each row, shape (rows,); -1e9 for a row without finite entries."""
    return np.maximum(log_sum(table), NOBODY)


def _rescored(models: list[ColumnMixture], rows: Integers, candidates: Array) -> Floats:
    parts: Iterable[Array] = (
        model.log_likelihood(model.column.codes[rows][:, None], model.column.values[candidates]) for model in models
    )
    return np.asarray(sum(parts, np.zeros(candidates.shape)))


def _maximized(models: list[ColumnMixture], rows: Integers, near: LikeliestCandidates) -> tuple[float, Floats]:
    """One round of expectation maximization: the largest change of a share, and bits of information by column."""
    everything = np.column_stack([near.log_likelihood, near.elsewhere])
    weight = np.exp(everything - finite_log_sum(everything)[:, None])
    inside, outside = weight[:, :-1], weight[:, -1]
    moved, bits = 0.0, np.zeros(len(models))
    for number, model in enumerate(models):
        cells = model.column.codes[rows]
        pairs, means = model.parts(cells[:, None], model.column.values[near.candidate]), model.mean_parts(cells)
        total, mean = np.maximum(pairs.total, 1e-300), np.maximum(means.total, 1e-300)
        bits[number] = (inside * np.log2(total / mean[:, None])).sum() / rows.size
        use = model.telling[cells]
        inner = np.where(use[:, None], inside / total, 0.0)
        outer = np.where(use, outside / mean, 0.0)
        noise, noises = inner * pairs.disturbed, outer * means.disturbed
        moved = max(
            moved,
            model.update(
                float((inner * pairs.kept).sum() + (outer * means.kept).sum()),
                float(noise.sum() + noises.sum()),
                float((inner * pairs.replaced).sum() + (outer * means.replaced).sum()),
                float((noise * pairs.squares).sum() + (noises * means.squares).sum()),
            ),
        )
    return moved, bits
