"""Sequence fragment puzzle: words are discovered without a dictionary."""

import numpy as np
import pytest

from defenses.ldp import (
    SequenceFragmentPuzzle,
)


@pytest.fixture(scope="module")
def puzzle():
    return SequenceFragmentPuzzle(epsilon=8.0, m=512, k=64)


@pytest.mark.thorough
def test_words_without_a_dictionary_are_found(puzzle):
    rng = np.random.default_rng(0)
    common = ["emoji", "selfie", "yolo"]
    rare = puzzle.decode(rng.integers(puzzle.d, size=8000))
    words = common[:1] * 5000 + common[1:2] * 4000 + common[2:] * 3000 + rare
    discovered = puzzle.discover(puzzle.privatize(puzzle.encode(words), rng))
    assert sorted(puzzle.decode(discovered.values)) == sorted(common)
    # Five standard deviations of the word's sketch.
    sketch = puzzle.word_sketch
    noise = 5 * np.sqrt(len(words) * (sketch.c**2 - 1) / 4 + 5000**2 * 3 / sketch.k / sketch.m)
    assert np.abs(discovered.counts - [5000, 4000, 3000]).max() <= noise


@pytest.mark.thorough
def test_noise_alone_is_no_word(puzzle):
    rng = np.random.default_rng(1)
    for n in (1, 4000):
        discovered = puzzle.discover(puzzle.privatize(rng.integers(puzzle.d, size=n), rng))
        assert discovered.values.size == discovered.counts.size == 0


def test_words_and_numbers(puzzle):
    words = ["", "a", "zz", "selfie", "zzzzzz"]
    assert puzzle.decode(puzzle.encode(words)) == words
    for bad in ("toolong", "Ab", "é"):
        with pytest.raises(ValueError, match="row 1 does not") as caught:
            puzzle.encode(["ok", bad])
        assert bad not in str(caught.value)
    with pytest.raises(ValueError, match="empty"):
        puzzle.discover(puzzle.privatize([], np.random.default_rng(0)))
    with pytest.raises(ValueError, match="most"):
        puzzle.discover(puzzle.privatize([1], np.random.default_rng(0)), most=0)
    with pytest.raises(ValueError, match="another protocol"):
        puzzle.clone().set_params(hash_seed=9).discover(puzzle.privatize([1], np.random.default_rng(0)))
