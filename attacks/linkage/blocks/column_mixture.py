"""Model of one ordered column: released values are kept, disturbed or replaced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attacks.base.text_errors import TextErrors
from attacks.linkage.blocks.run_coded_column import RunCodedColumn
from attacks.linkage.fitting.column_tables import PRIOR, START, covering_weights, interval_lengths
from metrics.columns import Array, Booleans, Floats, Integers, Singles

# Lower bound of a share, so that no pair is impossible.
SMALLEST_SHARE = 1e-6
# Released rows that a smoothed density of numbers counts, and candidates that stand for all in means over them.
SMOOTHED, POINTS = 50, 500


@dataclass(frozen=True)
class Parts:
    """Probabilities of cells given values, by what happened to the value; arrays of one shape.

    - kept, disturbed, replaced: Share of this event times the probability of the cell.
    - squares: Squared distance of number and value where the cell is a number, in units of the squared deviation.
    """

    kept: Floats
    disturbed: Floats
    replaced: Floats
    squares: Floats

    @property
    def total(self) -> Floats:
        """Probability of the cell."""
        return self.kept + self.disturbed + self.replaced


class ColumnMixture:
    """Mixture model of a column, as in `ExpectationMaximizationLinkage`, evaluated pair by pair.

    A value is kept with probability a: the cell covers it. It gets Gaussian noise with probability b, where at least
    half of the rows hold plain numbers. It is replaced with probability c by the value of any row. In a column with
    noise, a cell that is no number covers the value with probability a + b. In a column with typing errors, b is the
    probability of such an error, and a plain cell equals the value with probability a.

    - shares, shape (3,): The probabilities a, b and c.
    - deviation: Standard deviation of the noise, in the column's unit.
    """

    def __init__(self, column: RunCodedColumn) -> None:
        self.column = column
        rows = max(1, column.codes.size)
        frequency = column.count / rows
        number = np.isfinite(column.written)
        self.noisy = bool(2 * column.count[number].sum() >= rows and column.size > 2)
        self.number: Booleans = number & self.noisy
        # Suppression says nothing about the value: it is as probable for all of them.
        self.suppressed: Booleans = column.over_runs(np.ones(column.size)) == column.size
        self._flat = self.number | self.suppressed
        other = np.where(self._flat, 0.0, frequency)
        # Where cells overlap, a kept value shows as one of those that cover it.
        weight = covering_weights(other / max(other.sum(), 1e-12), column.share, column.over_cells, column.over_runs)
        reached = column.over_cells(weight)
        self._kept_value = np.divide(1.0, reached, out=np.zeros(column.size), where=reached > 1e-12)
        self._kept_cell = np.where(self.number, 1.0, np.where(self.suppressed, frequency, weight * other.sum()))
        mean = np.where(self._flat, column.over_runs(column.share), column.over_runs(column.share * self._kept_value))
        self._kept_mean = self._kept_cell * mean
        self._replaced = (column.count + PRIOR * self._kept_mean) / (rows + PRIOR)
        # Cells that show what happened to the value.
        self.telling: Booleans = self.number if self.noisy else ~self.suppressed
        # Cells that equal the value where it was kept; others cover it where it was disturbed, too.
        self.plain: Booleans = self.number
        if column.errors is not None:
            self.plain = column.single >= 0
            pairs, weight = column.errors.pairs, column.errors.ratio * column.errors.share[column.errors.pairs.value]
            self._mistyped_mean = np.bincount(pairs.cell, weights=weight, minlength=column.cells) * self._replaced
        disturbed = self.noisy or column.errors is not None
        self.shares = START.copy() if disturbed else START * [1, 0, 1] / START[[0, 2]].sum()
        self.deviation = 1.0
        self._width = np.ones(column.cells)
        if self.noisy:
            self._prepare_noise()

    def _prepare_noise(self) -> None:
        column = self.column
        present, share = column.numbers[:-1], column.share[:-1]
        written = column.written[self.number]
        self._width[self.number] = interval_lengths(written, np.r_[written, present])
        density = _density(written, column.count[self.number]) / max(1, column.codes.size)
        self._replaced[self.number] = density * self._width[self.number]
        total = max(share.sum(), 1e-12)
        middles = (np.arange(POINTS) + 0.5) / POINTS
        self._points = present[np.minimum(np.searchsorted(np.cumsum(share) / total, middles), present.size - 1)]
        self._present = total
        mean = (present * share).sum() / total
        self.deviation = 0.3 * float(np.sqrt((share * (present - mean) ** 2).sum() / total)) or 1.0
        self._least_deviation = float(np.quantile(self._width[self.number], 0.1)) / 2

    def parts(self, cells: Array, positions: Array) -> Parts:
        """Probabilities of distinct cells given the values at positions; both are broadcast."""
        kept = self._kept_cell[cells] * np.where(self._flat[cells], 1.0, self._kept_value[positions])
        truthful = np.where(self.plain[cells], self.shares[0], 1 - self.shares[2])
        kept = kept * truthful * self.column.covers(cells, positions)
        squares = np.zeros(kept.shape)
        disturbed = np.zeros(kept.shape)
        if self.noisy:
            squares, disturbed = self._noise(cells, self.column.numbers[positions])
        elif self.column.errors is not None:
            disturbed = self.shares[1] * self._replaced[cells] * self.column.errors.ratios_at(cells, positions)
        return Parts(kept, disturbed, np.broadcast_to(self.shares[2] * self._replaced[cells], kept.shape), squares)

    def mean_parts(self, cells: Array) -> Parts:
        """Means of `parts` over all candidates, shape (cells,).

        The mean of the squares weighs candidates by the probability of noise.
        """
        truthful = np.where(self.plain[cells], self.shares[0], 1 - self.shares[2])
        kept = truthful * self._kept_mean[cells]
        squares, disturbed = np.zeros(kept.shape), np.zeros(kept.shape)
        if self.noisy:
            squares, noise = self._noise(cells[:, None], self._points)
            disturbed = noise.mean(axis=1)
            squares = (squares * noise).mean(axis=1) / np.maximum(disturbed, 1e-300)
            disturbed *= self._present
        elif self.column.errors is not None:
            disturbed = self.shares[1] * self._mistyped_mean[cells]
        return Parts(kept, disturbed, self.shares[2] * self._replaced[cells], squares)

    def of_numbers(self) -> tuple[float, Floats, Floats]:
        """Share of kept numbers, and by distinct cell the greatest probability of noise and that of replacement."""
        height = np.minimum(1.0, self._width / (self.deviation * np.sqrt(2 * np.pi)))
        return float(self.shares[0]), self.shares[1] * height, self.shares[2] * self._replaced

    def window_parts(self, share: Floats, width: float, inside: float) -> tuple[Floats, Floats]:
        """Mean probability of each cell over all candidates, from values in its window and from others.

        Both have shape (cells,) and add up to the mean over all candidates.

        - share, shape (cells,): Share of candidates in the window of each cell.
        - width: Half the width of windows around numbers, in standard deviations.
        - inside: Share of the noise within the window; 0 if windows hold equal numbers only.
        """
        truthful = np.where(self.plain, self.shares[0], 1 - self.shares[2])
        inner = truthful * self._kept_mean + self.shares[2] * self._replaced * share
        outer = self.shares[2] * self._replaced * np.maximum(1 - share, 0.0)
        if self.noisy and inside:
            # As if candidates were uniform around each number.
            noise = np.where(self.number, self.shares[1] * self._width * share / (2 * width * self.deviation), 0.0)
            inner, outer = inner + noise * inside, outer + noise * (1 - inside)
        elif self.column.errors is not None:
            mistyped = self.shares[1] * self._mistyped_mean
            inner, outer = inner + mistyped * inside, outer + mistyped * (1 - inside)
        return inner, outer

    def _noise(self, cells: Array, numbers: Floats) -> tuple[Floats, Floats]:
        """Squared standardized distance, and the share of noise times the probability of the cell."""
        squares = ((self.column.written[cells] - numbers) / self.deviation) ** 2
        squares = np.where(np.isfinite(squares) & self.number[cells], squares, np.inf)
        density = np.exp(-0.5 * squares) * np.minimum(1.0, self._width[cells] / (self.deviation * np.sqrt(2 * np.pi)))
        return np.where(np.isfinite(squares), squares, 0.0), self.shares[1] * density

    def update(self, kept: float, disturbed: float, replaced: float, squares: float) -> float:
        """Set shares and deviation to their most likely values, and return the largest change of a share.

        - kept, disturbed, replaced: Expected numbers of rows.
        - squares: Sum of squared standardized noise over disturbed rows.
        """
        totals = np.array([kept, disturbed, replaced])
        if not totals.sum() > 0:
            return 0.0
        before = self.shares
        shares = np.maximum(totals / totals.sum(), SMALLEST_SHARE * (before > 0))
        self.shares = shares / shares.sum()
        if self.noisy and disturbed > 0:
            self.deviation = max(self.deviation * float(np.sqrt(squares / disturbed)), self._least_deviation)
        return float(np.abs(self.shares - before).max())

    def log_likelihood(self, cells: Array, positions: Array) -> Singles:
        """Log-probability of distinct cells given the values at positions; both are broadcast."""
        return np.asarray(np.log(self.parts(cells, positions).total), dtype=np.float32)

    def log_likelihoods(self, cells: Array) -> Singles:
        """Log-probability of distinct cells given the value at every position, shape (cells, size)."""
        positions = np.arange(self.column.size)
        if self.column.errors is not None:
            table, plain = np.empty((cells.size, positions.size), dtype=np.float32), self.plain[cells]
            table[plain] = self._of_texts(cells[plain], self.column.errors)
            table[~plain] = self.log_likelihood(cells[~plain, None], positions)
            return table
        if not self.noisy:
            return self.log_likelihood(cells[:, None], positions[None, :])
        table = np.empty((cells.size, self.column.size), dtype=np.float32)
        number = self.number[cells]
        if not number.all():
            table[~number] = self.log_likelihood(cells[~number, None], positions[None, :])
        cells, scale = cells[number], 1 / (self.deviation * np.sqrt(2))
        middle = float(self.column.numbers[self.column.size // 2 - 1])
        kept, height, replaced = self.of_numbers()
        density = np.subtract.outer(
            ((self.column.written[cells] - middle) * scale).astype(np.float32),
            ((np.nan_to_num(self.column.numbers) - middle) * scale).astype(np.float32),
        )
        density *= -density
        np.exp(density, out=density)
        density *= height[cells, None].astype(np.float32)
        density[:, -1] = 0.0
        # The run of a number is the position of the equal value, if there is one.
        first = np.minimum(self.column.starts[cells], max(0, self.column.runs.owner.size - 1))
        equal = (
            np.flatnonzero(self.column.runs.owner[first] == cells)
            if self.column.runs.owner.size
            else np.zeros(0, dtype=int)
        )
        density[equal, self.column.runs.low[first[equal]]] += np.float32(kept)
        density += replaced[cells, None].astype(np.float32)
        table[number] = np.log(density, out=density)
        return table

    def _of_texts(self, cells: Array, errors: TextErrors) -> Singles:
        """`log_likelihoods` of plain cells in a column with typing errors: most values are as likely as replaced."""
        replaced = self.shares[2] * self._replaced[cells]
        table = np.repeat(np.log(replaced)[:, None], self.column.size, axis=1).astype(np.float32)
        place, pair = errors.of_cells(cells)
        mistyped = self.shares[1] * self._replaced[cells[place]] * errors.ratio[pair]
        table[place, errors.pairs.value[pair]] = np.log(mistyped + replaced[place])
        every = np.arange(cells.size)
        equal = self.column.single[cells]
        table[every, equal] = self.log_likelihood(cells, equal)
        return table


def _density(numbers: Floats, count: Integers) -> Floats:
    """Released rows for a unit of length around each distinct number, in a window of about `SMOOTHED` rows."""
    order = np.argsort(numbers)
    ascending, counts = numbers[order], count[order]
    lengths = interval_lengths(ascending, ascending)
    beside = int(np.ceil(SMOOTHED / 2 / max(counts.mean(), 1))) if counts.mean() < SMOOTHED / 4 else 0
    edges, rows = np.r_[0.0, np.cumsum(lengths)], np.r_[0.0, np.cumsum(counts)]
    first = np.maximum(np.arange(ascending.size) - beside, 0)
    last = np.minimum(np.arange(ascending.size) + beside + 1, ascending.size)
    density = np.empty(ascending.size)
    density[order] = (rows[last] - rows[first]) / (edges[last] - edges[first])
    return density
