"""Log-likelihoods of many pairs of row and candidate under learned column models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attacks.linkage.blocks.column_mixture import ColumnMixture
from metrics.columns import Integers, Singles, chunks

# Entries of a table over the cells and positions of one column, of several columns, and pairs computed at a time.
LARGEST, JOINT, CHUNK = 2**23, 2**19, 2**20
# Range of the numbers, in standard deviations of the noise, beyond which they are kept in double precision, and the
# share of kept numbers below which they are not looked for.
PRECISE, LEAST_KEPT = 1e4, 1e-3


class TableScore:
    """Log-likelihoods of columns with few distinct cells and values, in a table of joint cells and joint positions."""

    def __init__(self, models: Sequence[ColumnMixture]) -> None:
        table = np.zeros((1, 1), dtype=np.float32)
        cells, values = np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.int32)
        for model in models:
            column = model.column
            own = model.log_likelihoods(np.arange(column.cells))
            table = (table[:, None, :, None] + own[None, :, None, :]).reshape(
                table.shape[0] * column.cells, table.shape[1] * column.size
            )
            cells = cells * column.cells + column.codes
            values = values * np.int32(column.size) + column.values
        self._table = table.ravel()
        self._first = cells * table.shape[1]
        self._values = values

    def add_to(self, total: Singles, rows: Integers, candidates: NDArray[np.integer]) -> None:
        """Add the log-likelihoods of pairs to `total`; all three have shape (pairs,)."""
        entry = np.take(self._first, rows)
        entry += np.take(self._values, candidates)
        total += np.take(self._table, entry)


class ComputedScore:
    """Log-likelihoods of a column with many distinct cells and values, computed pair by pair."""

    def __init__(self, model: ColumnMixture) -> None:
        self._model = model

    def add_to(self, total: Singles, rows: Integers, candidates: NDArray[np.integer]) -> None:
        """Add the log-likelihoods of pairs to `total`; all three have shape (pairs,)."""
        column = self._model.column
        for part in chunks(rows.size, 1, CHUNK):
            total[part] += self._model.log_likelihood(column.codes[rows[part]], column.values[candidates[part]])


class NoiseScore:
    """Log-likelihoods of numbers with noise, where released cells are plain numbers or suppressed."""

    def __init__(self, model: ColumnMixture) -> None:
        column = model.column
        present = column.numbers[:-1]
        middle, scale = float(np.median(present)), 1 / (model.deviation * np.sqrt(2))
        kind = np.float64 if float(np.ptp(present)) * scale > PRECISE else np.float32
        written = np.where(model.number, column.written, middle)
        self._written = ((written - middle) * scale).astype(kind)[column.codes]
        # A missing value is infinitely far from all numbers.
        numbers = np.where(np.isnan(column.numbers), 1e15, (column.numbers - middle) * scale)
        self._numbers = numbers.astype(kind)[column.values]
        kept, height, replaced = model.of_numbers()
        constant = np.where(model.number, replaced, model.mean_parts(np.arange(column.cells)).total)
        self._height = np.where(model.number, height, 0.0).astype(np.float32)[column.codes]
        self._constant = constant.astype(np.float32)[column.codes]
        self._kept = np.float32(kept)
        # The position of the equal value, if there is one and numbers were kept at all.
        equal = np.full(column.cells, -1, dtype=np.int32)
        equal[column.runs.owner] = np.where(model.number[column.runs.owner], column.runs.low, -1)
        self._equal = equal[column.codes] if kept >= LEAST_KEPT else None
        self._values = column.values

    def add_to(self, total: Singles, rows: Integers, candidates: NDArray[np.integer]) -> None:
        """Add the log-likelihoods of pairs to `total`; all three have shape (pairs,)."""
        distance = np.take(self._written, rows)
        distance -= np.take(self._numbers, candidates)
        distance *= distance
        density = distance.astype(np.float32, copy=False)
        np.negative(density, out=density)
        np.exp(density, out=density)
        density *= np.take(self._height, rows)
        density += np.take(self._constant, rows)
        if self._equal is not None:
            density += self._kept * (np.take(self._equal, rows) == np.take(self._values, candidates))
        np.log(density, out=density)
        total += density


# How log-likelihoods of pairs in one or several columns are computed.
ColumnScore = TableScore | ComputedScore | NoiseScore


def column_scores(models: Sequence[ColumnMixture]) -> list[ColumnScore]:
    """Log-likelihoods of all columns, each in the form that suits its size."""
    scores: list[ColumnScore] = []
    small = sorted(
        (model for model in models if model.column.cells * model.column.size <= LARGEST),
        key=lambda model: model.column.cells * model.column.size,
    )
    while small:
        # The largest column that is left takes the smallest ones along.
        joint, size = [small[-1]], small[-1].column.cells * small[-1].column.size
        small.pop()
        while small and size * small[0].column.cells * small[0].column.size <= JOINT:
            joint.append(small.pop(0))
            size *= joint[-1].column.cells * joint[-1].column.size
        scores.append(TableScore(joint))
    for model in models:
        if model.column.cells * model.column.size > LARGEST:
            plain = model.noisy and bool((model.number | model.suppressed).all())
            scores.append(NoiseScore(model) if plain else ComputedScore(model))
    return scores


def total_scores(scores: Sequence[ColumnScore], rows: Integers, candidates: NDArray[np.integer]) -> Singles:
    """Total log-likelihood of each pair, shape (pairs,)."""
    total = np.zeros(rows.size, dtype=np.float32)
    for score in scores:
        score.add_to(total, rows, candidates)
    return total
