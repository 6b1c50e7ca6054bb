"""Pairs of released cell and candidates' value that are nearly equal as texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.columns import Booleans, Floats, Integers, Singles, chunks, folded

# Levels of agreement below equality: one spelling, nearly equal, similar. All other pairs are different.
LEVELS = 3
SPELLING, NEAR, SIMILAR = range(LEVELS)
# Characters of a text that are compared, and texts so short that only one spelling counts.
LONGEST, SHORTEST = 100, 3
# Pairs of distinct texts up to which all are compared, those compared at a time, and cells that measure the recall.
MOST_COMPARED, CHUNK, SAMPLED = 2**27, 2**22, 200


class Measure(NamedTuple):
    """Name of a measure of similarity, and the least similarity of nearly equal and of similar texts."""

    name: str
    near: float
    similar: float


NAMES = Measure("Jaro-Winkler", 0.88, 0.78)
CODES = Measure("optimal string alignment", 0.84, 0.7)
PHRASES = Measure("bigrams", 0.7, 0.5)


def measure_of(texts: Sequence[str]) -> Measure:
    """Measure that suits texts: most characters of codes are digits, and most phrases have several words."""
    joined = "".join(texts)
    if 2 * len(re.sub(r"\D", "", joined)) > len(joined):
        return CODES
    several = sum(len(text.split()) > 1 for text in texts)
    return PHRASES if 2 * several > len(texts) else NAMES


class TextPairs(NamedTuple):
    """Pairs of distinct cell and distinct value, by ascending cell, then value; arrays of shape (pairs,).

    - cell, value: Positions of the two texts.
    - similarity: In (0, 1]; 1 for one spelling.
    - level: `SPELLING`, `NEAR` or `SIMILAR`.
    """

    cell: Integers
    value: Integers
    similarity: Singles
    level: NDArray[np.int8]

    def where(self, those: Booleans | Integers) -> TextPairs:
        """Return some of the pairs: those that a mask marks, or at these positions."""
        return TextPairs(self.cell[those], self.value[those], self.similarity[those], self.level[those])


class TextComparison:
    """Comparison of released cells with candidates' values as texts, by `folded` spelling.

    Texts are distinct, and empty ones resemble nothing.
    """

    def __init__(self, cells: Sequence[str], values: Sequence[str]) -> None:
        spelled = [[folded(text) for text in side] for side in (cells, values)]
        without_blanks = [[text.replace(" ", "") for text in side] for side in spelled]
        ends = len(cells), len(values)
        self._exact, self._spelling = (
            np.split(pd.factorize(np.array([*left, *right], dtype=object))[0], ends[:1])
            for left, right in ((cells, values), without_blanks)
        )
        self._cells, self._values = ([text[:LONGEST] for text in side] for side in spelled)
        self.measure = measure_of([text for text in self._values if text])
        self._lengths = [np.array([len(text) for text in side], dtype=np.intp) for side in spelled]

    @property
    def filled(self) -> Booleans:
        """Which cells are texts, shape (cells,)."""
        return np.asarray(self._lengths[0] > 0)

    @cached_property
    def unknown(self) -> Booleans:
        """Which cells are texts that no candidate has, shape (cells,)."""
        return np.asarray(~np.isin(self._exact[0], self._exact[1]) & self.filled)

    def of_cells(self, cells: Integers) -> TextPairs:
        """Pairs of some cells and all values."""
        parts = []
        for part in chunks(max(1, cells.size), len(self._values), CHUNK):
            chunk = cells[part]
            table = self._table(chunk)
            # One spelling counts however short the texts are.
            table[self._spelling[0][chunk][:, None] == self._spelling[1]] = 1.0
            row, value = np.nonzero(table >= self.measure.similar)
            parts.append(self._levelled(chunk[row], value, table[row, value]))
        return TextPairs(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def all_pairs(self) -> tuple[TextPairs, float]:
        """All pairs, and the share of the nearly equal ones that is found.

        Up to `MOST_COMPARED` pairs are all compared. Of more, those are compared that share a key (`shared_keys`).
        """
        cells, size = np.arange(len(self._cells)), len(self._values)
        if cells.size * size <= MOST_COMPARED:
            return self.of_cells(cells), 1.0
        cell, value = shared_keys(self._cells, self._values)
        starts = range(0, cell.size, CHUNK)
        similarity = [self._of_pairs(cell[one : one + CHUNK], value[one : one + CHUNK]) for one in starts]
        found = self._levelled(cell, value, np.concatenate([*similarity, np.zeros(0, dtype=np.float32)]))
        every = self.of_cells(evenly(cells.size, SAMPLED))
        every = every.where(every.level <= NEAR)
        known = np.isin(every.cell * size + every.value, found.cell * size + found.value)
        return found, float(known.mean()) if known.size else 1.0

    def _table(self, cells: Integers) -> Singles:
        """Similarity of some cells and all values, shape (cells, values)."""
        if self.measure is PHRASES:
            left, right = self._bigrams[0][cells], self._bigrams[1]
            shared = np.asarray((left @ right.T).toarray(), dtype=np.float32)
            return np.asarray(shared / np.maximum(np.add.outer(_sizes(left), _sizes(right)) / 2, 1), dtype=np.float32)
        from rapidfuzz.process import cdist

        texts = [self._cells[cell] for cell in cells.tolist()]
        table: Singles = cdist(texts, self._values, scorer=_scorer(self.measure), score_cutoff=self.measure.similar)
        return table

    def _of_pairs(self, cells: Integers, values: Integers) -> Singles:
        """Similarity of each cell and the value beside it, shape (pairs,)."""
        if self.measure is PHRASES:
            left, right = self._bigrams[0][cells], self._bigrams[1][values]
            shared = _sizes(left.multiply(right))
            return np.asarray(shared / np.maximum((_sizes(left) + _sizes(right)) / 2, 1), dtype=np.float32)
        from rapidfuzz.process import cpdist

        sides = [self._cells[cell] for cell in cells.tolist()], [self._values[value] for value in values.tolist()]
        return np.asarray(cpdist(*sides, scorer=_scorer(self.measure)), dtype=np.float32)

    @cached_property
    def _bigrams(self) -> tuple[Any, Any]:
        """Which pairs of adjacent characters occur in the words of each cell and of each value, sparse."""
        return bigrams(self._cells, self._values)

    def _levelled(self, cell: Integers, value: Integers, similarity: Singles) -> TextPairs:
        """Those of the pairs that count, with their levels."""
        spelled = self._spelling[0][cell] == self._spelling[1][value]
        long = np.minimum(self._lengths[0][cell], self._lengths[1][value]) >= SHORTEST
        counts = (spelled & (self._lengths[0][cell] > 0)) | (long & (similarity >= self.measure.similar))
        counts &= self._exact[0][cell] != self._exact[1][value]
        level = np.where(spelled, SPELLING, np.where(similarity >= self.measure.near, NEAR, SIMILAR)).astype(np.int8)
        return TextPairs(cell, value, np.where(spelled, 1, similarity).astype(np.float32), level).where(counts)


def _scorer(measure: Measure) -> Any:
    from rapidfuzz.distance import OSA, JaroWinkler

    return (OSA if measure is CODES else JaroWinkler).normalized_similarity


# Keys that nearly equal texts often share, where there are too many texts to compare all of them.

# Characters of a prefix and of an ending; MinHash values in one key, and keys of this kind.
ENDS, JOINED, BANDS = 4, 2, 8
# Pairs that one key may give; keys of more are as common as to tell nothing.
MOST_OF_KEY = 10_000
# Consonants of one sound, and letters that are not heard.
_SOUNDS = str.maketrans("bfpvcgjkqsxzdtlmnr", "111122222222334556", "aeiouyhw")


def bigrams(left: Sequence[str], right: Sequence[str]) -> tuple[Any, Any]:
    """Which pairs of adjacent characters occur in the words of two lists of texts, sparse matrices of 0 and 1."""
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer(analyzer="char_wb", ngram_range=(2, 2), binary=True, dtype=np.float32, lowercase=False)
    table = counts.fit_transform(["a", *left, *right])[1:]
    return table[: len(left)], table[len(left) :]


def _sizes(rows: Any) -> Floats:
    """Sum of each row of a sparse matrix."""
    return np.asarray(rows.sum(axis=1), dtype=float).ravel()


def shared_keys(left: Sequence[str], right: Sequence[str]) -> tuple[Integers, Integers]:
    """Positions in two lists of texts of all pairs that share a key.

    Keys are the first and last characters, the first letter with the sounds of the consonants, and bands of MinHash
    values of bigrams.

    Source: Broder (1997), On the resemblance and containment of documents, for MinHash; Russell (1918), US patent
    1,261,167, for phonetic keys; Christen (2012), Data matching, chapter 4, for keys of blocks.
    """
    ends = len(left)
    texts = pd.Series([*left, *right], dtype=object)
    keys = [texts.str[:ENDS], texts.str[-ENDS:], pd.Series([_sound(text) for text in texts], dtype=object)]
    codes = [pd.factorize(key)[0] for key in keys] + _minhash_codes(left, right)
    size = max(1, len(right))
    pairs = [np.zeros(0, dtype=np.int64)]
    filled = (texts != "").to_numpy()
    for code in codes:
        table = pd.DataFrame({"key": code, "place": np.arange(code.size)})[filled]
        sides = table[table.place < ends], table[table.place >= ends]
        count = [np.bincount(side.key, minlength=int(code.max(initial=0)) + 1) for side in sides]
        usual = count[0] * count[1] <= MOST_OF_KEY
        joined = sides[0][usual[sides[0].key]].merge(sides[1], on="key")
        pairs.append(np.unique(joined.place_x.to_numpy() * size + joined.place_y.to_numpy() - ends))
    cell, value = np.divmod(np.unique(np.concatenate(pairs)), size)
    return cell.astype(np.intp), value.astype(np.intp)


def _sound(text: str) -> str:
    """First letter and the sounds of the consonants after it, each run of one sound once."""
    return text[:1] + re.sub(r"(.)\1+", r"\1", text[1:].translate(_SOUNDS))


def _minhash_codes(left: Sequence[str], right: Sequence[str]) -> list[Integers]:
    """Codes of texts, equal for two texts with a probability that grows with the share of common bigrams."""
    from scipy.sparse import vstack

    table = vstack(bigrams(left, right)).tocsr()
    filled = np.flatnonzero(np.diff(table.indptr))
    rng = np.random.default_rng(0)
    codes = []
    for _ in range(BANDS):
        key = np.full(table.shape[0], -1, dtype=np.int64)
        key[filled] = 0
        for _ in range(JOINED):
            order = rng.permutation(table.shape[1])
            least = np.minimum.reduceat(order[table.indices], table.indptr[:-1][filled])
            key[filled] = key[filled] * table.shape[1] + least
        codes.append(np.asarray(pd.factorize(key)[0], dtype=np.intp))
    return codes


def each_of_ranges(low: NDArray[np.integer], high: NDArray[np.integer]) -> tuple[Integers, Integers]:
    """All integers of each range, shape (total,): the range's index and the integer."""
    lengths = np.asarray(high - low, dtype=np.int64)
    source = np.repeat(np.arange(lengths.size), lengths)
    first = np.asarray(low, dtype=np.int64) - (np.cumsum(lengths) - lengths)
    return source, np.repeat(first, lengths) + np.arange(source.size)


def evenly(size: int, most: int) -> Integers:
    """At most so many positions, in even steps."""
    return np.unique(np.linspace(0, size - 1, min(most, size)).astype(np.intp))
