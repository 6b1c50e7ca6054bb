"""Sequence fragment puzzle: frequent words are assembled from fragments, without a dictionary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.ldp.count_mean_sketches import CountMeanSketch
from defenses.ldp.encoding.hashing import buckets, seeds_of
from defenses.ldp.frequency_oracle import LARGEST_DOMAIN, FrequencyOracle, Part, ReportBatch, numbers_to
from metrics.columns import Floats, Integers64, check_integer, check_real, refuse, require

# Number of values of the 8-bit hash that links the fragments of a word.
PUZZLE = 256
_FAMILY = 0x50555A5A


@dataclass(frozen=True)
class FrequentWords:
    """Discovered words, the most frequent first.

    - values of shape (words,): The words as numbers; `SequenceFragmentPuzzle.decode` returns their text.
    - counts of shape (words,): Estimated counts.
    """

    values: Integers64
    counts: Floats


class SequenceFragmentPuzzle(FrequencyOracle):
    """Sequence fragment puzzle: discovers frequent words without a dictionary.

    Each person sends the whole word through one sketch. Through another sketch goes a random fragment of the word with
    an 8-bit hash of the word. A word is the number whose digits are its `length` letters, so that d = letters^length.
    Each person draws which of the length/fragment fragments to report, independently of the word. The fragment and its
    hash cost epsilon fragment_share, and the word costs the rest; together they cost epsilon.

    `estimate` and `variance` are those of the word's sketch over the whole domain, which must be small. `discover`
    needs no list of words. At every place it takes the frequent pairs of fragment and hash. It joins fragments with
    equal hashes over all places to candidates, keeps the candidates that have this hash, and scores them by the word's
    sketch.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, both parts together, in [1e-6, 100].
    letters : str
        The alphabet; its first letter pads short words.
    length, fragment : int
        Number of letters of a word, and of a fragment, which divides it.
    fragment_share : float
        Share of epsilon for the fragment, in (0, 1).
    m, k : int
        Number of columns and of hash functions of both sketches.
    hash_seed : int
        Public seed of the functions.

    Raises
    ------
    ValueError
        If a parameter is out of range, the alphabet repeats a letter, or there are more than 2^32 words.

    References
    ----------
    Apple (2017), Learning with privacy at scale, section 3.3.
    """

    called = ("SFP",)

    def __init__(
        self,
        *,
        epsilon: float = 8.0,
        letters: str = "_abcdefghijklmnopqrstuvwxyz",
        length: int = 6,
        fragment: int = 2,
        fragment_share: float = 0.5,
        m: int = 1024,
        k: int = 2048,
        hash_seed: int = 0,
    ) -> None:
        require(
            isinstance(letters, str) and len(letters) >= 2 and len(set(letters)) >= len(letters),
            "letters must be a text of at least two different letters",
        )
        self.length = check_integer("length", length, low=1)
        self.fragment = check_integer("fragment", fragment, low=1)
        refuse(length % fragment, f"fragment must divide length, got {fragment} and {length}")
        self.fragment_share = check_real("fragment_share", fragment_share, low=0, high=1, open_low=True, open_high=True)
        longest = int(math.log(LARGEST_DOMAIN, len(letters)) + 1e-9)
        require(length <= longest, f"length must be at most {longest} for {len(letters)} letters, got {length}")
        super().__init__(epsilon=epsilon, d=len(letters) ** length)
        self.letters = letters
        self.m = m
        self.k = k
        self.hash_seed = hash_seed
        # Created here, so that bad parameters of the sketches are refused at once.
        self.word_sketch, self.fragment_sketch  # noqa: B018

    @cached_property
    def word_sketch(self) -> CountMeanSketch:
        """Sketch of whole words."""
        epsilon = self.epsilon * (1 - self.fragment_share)
        return CountMeanSketch(epsilon=epsilon, d=self.d, m=self.m, k=self.k, hash_seed=self.hash_seed)

    @cached_property
    def fragment_sketch(self) -> CountMeanSketch:
        """Sketch of pairs of fragment and hash, as numbers 256 fragment + hash."""
        epsilon, d = self.epsilon * self.fragment_share, len(self.letters) ** self.fragment * PUZZLE
        return CountMeanSketch(epsilon=epsilon, d=d, m=self.m, k=self.k, hash_seed=self.hash_seed + 1)

    @property
    def places(self) -> int:
        """Number of fragments in a word."""
        return self.length // self.fragment

    @property
    def parts(self) -> dict[str, Part]:
        """The place, and the parts of both sketches' reports."""
        sketches = {"word": self.word_sketch, "fragment": self.fragment_sketch}
        formats = {f"{name} {part}": form for name, sketch in sketches.items() for part, form in sketch.parts.items()}
        return {"place": numbers_to(self.places - 1), **formats}

    def encode(self, words: Sequence[str]) -> Integers64:
        """Return the numbers of words, shape (n,); short words are padded.

        Raises
        ------
        ValueError
            If a word is too long or has a letter outside of the alphabet.
        """
        digit = {letter: number for number, letter in enumerate(self.letters)}
        for row, word in enumerate(words):
            refuse(
                len(word) > self.length or not digit.keys() >= set(word),
                f"words must have at most {self.length} letters of the alphabet; row {row} does not",
            )
        powers = [len(digit) ** place for place in reversed(range(self.length))]
        numbers = {
            word: sum(digit[letter] * power for letter, power in zip(word, powers, strict=False)) for word in set(words)
        }
        return np.array([numbers[word] for word in words], dtype=np.int64)

    def decode(self, values: ArrayLike) -> list[str]:
        """Return the text of words given as numbers, without padding."""
        digits = self._digits(np.asarray(values, dtype=np.int64), len(self.letters), self.length)
        return ["".join(self.letters[digit] for digit in row).rstrip(self.letters[0]) for row in digits.tolist()]

    def discover(self, reports: ReportBatch, most: int = 100) -> FrequentWords:
        """Discover frequent words.

        Estimates are tested against a Gaussian approximation of their noise. For pairs of fragment and hash, the
        threshold allows one false alarm in expectation over all pairs. For candidates, the false-alarm probability is
        5 % over all candidates together.

        Parameters
        ----------
        reports : ReportBatch
            Reports of this protocol, at least one.
        most : int
            Largest number of pairs kept at each place.

        Raises
        ------
        ValueError
            If there is no report, another protocol made them, or `most` is below 1.
        """
        from scipy.special import ndtri

        check_integer("most", most, low=1)
        self.check_reports(reports)
        require(len(reports), "reports are empty: there is nothing to estimate from")
        frequent = [self._frequent(reports, position, most, ndtri) for position in range(self.places)]
        joined = [self._joined([pairs[pairs % PUZZLE == tag] // PUZZLE for pairs in frequent]) for tag in range(PUZZLE)]
        candidates = np.concatenate([words[_tags(words) == tag] for tag, words in enumerate(joined)])
        if not candidates.size:
            return FrequentWords(candidates, np.empty(0))
        part, sketch = self._part(reports, "word"), self.word_sketch
        counts = sketch.estimate_of(sketch.sketch(part), candidates, len(part))
        significant = counts > ndtri(1 - 0.05 / candidates.size) * self._noise(sketch, len(part))
        order = np.argsort(-counts[significant], kind="stable")
        return FrequentWords(candidates[significant][order], counts[significant][order])

    def _frequent(self, reports: ReportBatch, position: int, most: int, ndtri: Any) -> Integers64:
        """Pairs of fragment and hash with a significant estimate at one place."""
        rows = np.flatnonzero(reports.parts["place"] == position)
        sketch = self.fragment_sketch
        if not rows.size:
            return np.empty(0, dtype=np.int64)
        counts = sketch.estimate(self._part(reports.take(rows), "fragment"))
        best = np.argsort(-counts, kind="stable")[:most]
        return np.asarray(best[counts[best] > ndtri(1 - 1 / sketch.d) * self._noise(sketch, rows.size)])

    @staticmethod
    def _noise(sketch: CountMeanSketch, n: int) -> float:
        """Standard deviation of the estimate for a value that nobody holds, without shared collisions."""
        return float(sketch.m / (sketch.m - 1) * np.sqrt(n * (sketch.c**2 - 1) / 4 + n / sketch.m))

    def _joined(self, fragments: list[Integers64]) -> Integers64:
        """All words with one of the given fragments at each place."""
        base = len(self.letters) ** self.fragment
        start = np.zeros(1, dtype=np.int64)
        return reduce(lambda words, part: (words[:, None] * base + part).ravel(), fragments, start)

    def _fragments(self, values: Integers64) -> Integers64:
        """Pair of fragment and hash of each word at each place, shape (values, places)."""
        return self._digits(values, len(self.letters) ** self.fragment, self.places) * PUZZLE + _tags(values)[:, None]

    @staticmethod
    def _digits(values: Integers64, base: int, count: int) -> Integers64:
        return values[:, None] // base ** np.arange(count - 1, -1, -1) % base

    def _part(self, reports: ReportBatch, name: str) -> ReportBatch:
        """Reports of one of the two sketches."""
        sketch = self.word_sketch if name == "word" else self.fragment_sketch
        return ReportBatch(sketch, {part: reports.parts[f"{name} {part}"] for part in ("hash", "bits")})

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        position = rng.integers(self.places, size=values.size)
        fragment = self._fragments(values)[np.arange(values.size), position]
        word_rng, fragment_rng = rng.spawn(2)
        batches = {
            "word": self.word_sketch.privatize(values, word_rng),
            "fragment": self.fragment_sketch.privatize(fragment, fragment_rng),
        }
        parts = {f"{name} {part}": array for name, batch in batches.items() for part, array in batch.parts.items()}
        return {"place": position.astype(self.parts["place"].dtype), **parts}

    def _estimated(self, reports: ReportBatch) -> Floats:
        return self.word_sketch.estimate(self._part(reports, "word"))

    def _variance(self, n: int, shares: Floats) -> Floats:
        return self.word_sketch.variance(n, shares)

    def indicators(self, reports: ReportBatch) -> Floats:
        """Return the word sketch's indicators, shape (n, d)."""
        self.check_reports(reports)
        return self.word_sketch.indicators(self._part(reports, "word"))

    def log_likelihood(self, reports: ReportBatch) -> Floats:
        """Log-likelihood of each word up to a constant for each report, from both sketches."""
        self.check_reports(reports)
        result = self.word_sketch.log_likelihood(self._part(reports, "word"))
        fragments = self._fragments(np.arange(self.d))
        for position in range(self.places):
            rows = np.flatnonzero(reports.parts["place"] == position)
            part = self._part(reports.take(rows), "fragment")
            supported = self.fragment_sketch.supports_of(part, fragments[:, position])
            result[rows] += self.fragment_sketch.support_odds * supported
        return result


def _tags(values: Integers64) -> Integers64:
    """The public 8-bit hash of each word."""
    return buckets(seeds_of(_FAMILY, 1), values, PUZZLE)
