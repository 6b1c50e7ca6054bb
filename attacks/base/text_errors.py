"""Which columns of a release hold typing errors, and what a pair of nearly equal texts tells there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attacks.base.text_similarity import LEVELS, SIMILAR, SPELLING, TextComparison, TextPairs, each_of_ranges, evenly
from metrics.columns import Array, Floats, Integers


@dataclass(frozen=True)
class TextErrors:
    """Typing errors of a column, learned.

    - pairs: Cells and values that are nearly equal, and not equal.
    - rates, shape (LEVELS,): Share of each level among values that were released with an error.
    - share, shape (values,): Share of candidates with each value.
    - least: Similarity from which texts are compared in this column.
    - recall: Estimated share of nearly equal pairs that are known; 1 where all texts were compared.
    """

    pairs: TextPairs
    rates: Floats
    share: Floats
    least: float
    recall: float = 1.0

    @cached_property
    def mass(self) -> Floats:
        """Share of candidates that have the level of each pair with its cell, shape (pairs,)."""
        cell, value, _, level = self.pairs
        key = cell * LEVELS + level
        return np.asarray(np.maximum(np.bincount(key, weights=self.share[value])[key], 1e-12))

    @cached_property
    def ratio(self) -> Floats:
        """Likelihood of each pair if the value was released with an error, over that of any cell, shape (pairs,).

        The rarer the values that resemble the cell, the more a pair says.
        """
        return np.asarray(self.rates[self.pairs.level] / self.mass)

    def levels(self, shape: tuple[int, int]) -> NDArray[np.int8]:
        """Level of each distinct cell with each distinct value, shape (cells, values), -1 where equal or different."""
        return self._filled(np.full(shape, -1, dtype=np.int8), self.pairs.level)

    def rarity(self, equal: Floats, count: Integers) -> tuple[Floats, Floats]:
        """Log-ratio of the mean share of candidates at a level of agreement to their share for one cell.

        Returned are those of candidates that equal a cell, shape (cells,), and of nearly equal pairs, shape (pairs,).

        - equal, shape (cells,): Share of candidates that equal each cell.
        - count, shape (cells,): Number of released rows with each cell.

        Source: Winkler (1989), Frequency-based matching in Fellegi-Sunter model of record linkage.
        """
        rows = max(1, count.sum())
        level, share = self.pairs.level, self.share[self.pairs.value]
        means = np.bincount(level, weights=share * count[self.pairs.cell], minlength=LEVELS) / rows
        mean = (equal * count).sum() / rows
        return _log_ratio(mean, equal), _log_ratio(means[level], self.mass)

    def distance(self, shape: tuple[int, int]) -> Floats:
        """Distance of each distinct cell to each distinct value, shape (cells, values), 1 where they are different.

        It grows linearly from 0 for one spelling to 1 for the least similarity that counts.
        """
        return self._filled(np.ones(shape), (1 - self.pairs.similarity) / max(1 - self.least, 1e-6))

    def ratios_at(self, cells: Array, values: Array) -> Floats:
        """`ratio` of cells and values, which are broadcast; 0 where they are equal or different."""
        wanted = np.asarray(cells, dtype=np.int64) * self.share.size + values
        place = np.minimum(np.searchsorted(self._places, wanted), self._places.size - 1)
        return np.where(self._places[place] == wanted, self.ratio[place], 0.0)

    @cached_property
    def _places(self) -> Integers:
        """Place of each pair in a table of cells and values, ascending, shape (pairs,)."""
        return self.pairs.cell * self.share.size + self.pairs.value

    def of_cells(self, cells: Integers) -> tuple[Integers, Integers]:
        """Pairs of some cells: the place of the cell among these, and the number of the pair, shape (found,)."""
        low, high = (np.searchsorted(self.pairs.cell, cells, side) for side in ("left", "right"))
        return each_of_ranges(low, high)

    def among(self, cells: Integers) -> TextErrors:
        """Return what is known of some distinct cells, which are numbered anew; ascending."""
        place, pair = self.of_cells(cells)
        return replace(self, pairs=self.pairs.where(pair)._replace(cell=place))

    def ratio_table(self, shape: tuple[int, int]) -> Floats:
        """`ratio` of each distinct cell and distinct value, shape (cells, values); 0 where equal or different."""
        return self._filled(np.zeros(shape), self.ratio)

    def _filled(self, table: Array, entries: Array) -> Array:
        """Fill in what is known of each pair, shape (pairs,), in a table over distinct cells and values."""
        table[self.pairs.cell, self.pairs.value] = entries
        return table


@dataclass(frozen=True)
class TextSides:
    """A column of categories, as texts.

    - cells, values: Distinct texts; empty for missing values and for cells that hold several values.
    - cell_codes, value_codes: The distinct text of each released row, shape (rows,), and of each candidate, shape
      (candidates,).
    - itself: Whether both sides are one table, each of whose rows is compared with all others.
    """

    cells: Sequence[str]
    values: Sequence[str]
    cell_codes: Integers
    value_codes: Integers
    itself: bool = False


def _log_ratio(mean: Floats, share: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(mean, 1e-12) / np.maximum(share, 1e-12)))


# Released rows whose nearest candidates show whether a column has typing errors, and the largest number of pairs.
ROWS, PAIRS = 400, 2**24
# A level tells something if pairs of nearest rows and candidates have it more often than chance gives, by so many
# standard deviations and pairs. With up to ten columns and three levels, a column without errors passes in a few
# of 10,000 releases.
DEVIATIONS, ADDED = 4.0, 1.0
# Pairs that each level counts for beforehand.
PRIOR = 0.5
TIE = 1e-5


def text_errors(
    columns: Sequence[TextSides | None], distance: Callable[[int, Integers], Array]
) -> list[TextErrors | None]:
    """Typing errors of each column; None where a column is no text or its nearly equal texts tell nothing.

    A column is compared as text only if released cells hold texts that no candidate has. In a table beside itself, no
    other row may have them. Some rows with such cells are answered by the nearest candidates in all other columns. A
    level of similarity counts if these candidates have it more often than other candidates do. One spelling always
    counts. Where the other columns show no level, or there are none, a level counts if unknown texts have it more often
    than candidates' values among themselves.

    Names are compared by Jaro-Winkler similarity, and codes by the distance of optimal string alignment (Damerau and
    Levenshtein). Phrases such as addresses are compared by their common bigrams
    (`attacks.base.text_similarity.measure_of`).

    - columns: None for columns that are no text.
    - distance: Distance of some rows to all candidates in a column, by number, shape (rows, candidates), in [0, 1].

    Source: Winkler (1990), String comparator metrics and enhanced decision rules in the Fellegi-Sunter model of record
    linkage; Christen (2012), Data matching, chapter 5.
    """
    every = range(len(columns))
    return [
        None if column is None else _errors(column, [other for other in every if other != number], distance)
        for number, column in enumerate(columns)
    ]


def _errors(column: TextSides, others: Sequence[int], distance: Callable[[int, Integers], Array]) -> TextErrors | None:
    """Typing errors of one column, learned from the nearest candidates in the other ones, given by number."""
    comparison = TextComparison(column.cells, column.values)
    unknown = (
        comparison.filled & (np.bincount(column.cell_codes, minlength=len(column.cells)) == 1)
        if column.itself
        else comparison.unknown
    )
    rows = np.flatnonzero(unknown[column.cell_codes])
    rows = rows[evenly(rows.size, min(ROWS, max(1, PAIRS // column.value_codes.size)))]
    if not rows.size:
        return None
    cells, of_row = np.unique(column.cell_codes[rows], return_inverse=True)
    some = comparison.of_cells(cells)
    if not some.cell.size:
        return None
    share = np.bincount(column.value_codes, minlength=len(column.values)) / max(1, column.value_codes.size)
    levels = np.full((cells.size, len(column.values)), LEVELS, dtype=np.int8)
    levels[np.searchsorted(cells, some.cell), some.value] = some.level
    if others:
        apart = np.zeros((rows.size, column.value_codes.size), dtype=np.float32)
        for other in others:
            apart += distance(other, rows)
        near = apart <= apart.min(axis=1, keepdims=True) + TIE
        of_pairs, near = levels[of_row][:, column.value_codes], near / near.sum(axis=1, keepdims=True)
        found = np.stack([(near * (of_pairs == level)).sum(axis=1) for level in range(LEVELS)])
        expected = np.stack([(levels == level) @ share for level in range(LEVELS)])[:, of_row]
    else:
        found, expected = _among_values(column.values, levels)
    chance = expected.sum(axis=1)
    # A share may exceed 1 by its last bit.
    variance = np.maximum(0.0, expected * (1 - expected)).sum(axis=1)
    tells = found.sum(axis=1) - chance > DEVIATIONS * np.sqrt(variance) + ADDED
    tells[SPELLING] = True
    if others and tells.sum() == 1:
        # Other columns may be few or hold errors themselves; unknown texts are then compared with known ones.
        return _errors(column, [], distance)
    pairs, recall = comparison.all_pairs()
    pairs = pairs.where(tells[pairs.level])
    if not pairs.cell.size:
        return None
    occurs = np.bincount(pairs.level, minlength=LEVELS) > 0
    rates = np.where(occurs, np.maximum(found.sum(axis=1) - chance, 0) + PRIOR, 0)
    return TextErrors(
        pairs,
        rates / rates.sum(),
        share,
        least=comparison.measure.similar if tells[SIMILAR] else comparison.measure.near,
        recall=recall,
    )


def _among_values(values: Sequence[str], levels: NDArray[np.int8]) -> tuple[Floats, Floats]:
    """Whether each cell has each level with some value, and how often values have it, shape (LEVELS, cells)."""
    sample = evenly(len(values), ROWS)
    pairs = TextComparison(values, values).of_cells(sample)
    have = np.array(
        [
            (np.unique(pairs.cell[pairs.level == level]).size + PRIOR) / (sample.size + 2 * PRIOR)
            for level in range(LEVELS)
        ]
    )
    found = np.stack([(levels == level).any(axis=1) for level in range(LEVELS)]).astype(float)
    return found, np.broadcast_to(have[:, None], found.shape)
