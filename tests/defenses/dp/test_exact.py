"""Exact sampling: thresholds to any precision, and words that equal a threshold."""

import math
import os
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from defenses.dp import exact
from defenses.dp.exact import (
    ExponentialChance,
    GeometricDigit,
    LogisticChance,
    SystemGenerator,
    categories,
    geometric,
    settle_below,
    words,
)


class Scripted:
    """A generator that returns given words."""

    def __init__(self, *words):
        self.words = list(words)

    def integers(self, low, high, size, dtype, endpoint):
        assert (low, high, dtype, endpoint) == (0, 2**64 - 1, np.uint64, True)
        drawn, self.words = self.words[:size], self.words[size:]
        return np.array(drawn, dtype=np.uint64)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(5), Fraction(1, 2**40), Fraction(2**20), Fraction(0.1)])
def test_bits_of_thresholds_do_not_depend_on_how_many_are_asked_for(rate):
    for thresholds in (
        GeometricDigit(rate, 256),
        GeometricDigit(rate, None),
        LogisticChance(rate, Fraction(1), Fraction(3)),
    ):
        count = 1 if isinstance(thresholds, LogisticChance) else 40
        coarse, fine = thresholds.floors(count, 64), thresholds.floors(count, 320)
        assert coarse == tuple(value >> 256 for value in fine)
        assert coarse == tuple(sorted(coarse))


def test_thresholds_are_those_of_their_formulas():
    digit = GeometricDigit(Fraction(1, 100), 256).floors(255, 64)
    formula = -np.expm1(-0.01 * np.arange(1, 256)) / -np.expm1(-2.56)
    assert np.allclose(np.array(digit, dtype=float) / 2**64, formula, rtol=1e-14)
    # e^-1 to 64 bits, from its series.
    series = sum((Fraction((-1) ** k, math.factorial(k)) for k in range(60)), Fraction(0))
    assert ExponentialChance(Fraction(1)).floors(1, 64) == (math.floor(series * 2**64),)
    assert Decimal(LogisticChance(Fraction(1), Fraction(1), Fraction(1)).floors(1, 64)[0]) / 2**64 == pytest.approx(
        Decimal(1 / (1 + math.exp(-1)))
    )


@pytest.mark.parametrize("place", [0, 7, 254])
def test_a_word_equal_to_a_threshold_is_settled_by_further_bits(place):
    digit = GeometricDigit(Fraction(1, 100), 256)
    word = digit.floors(255, 64)[place]
    following = digit.floors(255, 128)[place] - (word << 64)
    assert categories(digit, 1, Scripted(word, 0))[0] == place
    assert categories(digit, 1, Scripted(word, 2**64 - 1))[0] == place + 1
    third = digit.floors(255, 192)[place] % 2**64
    assert categories(digit, 1, Scripted(word, following, third - 1))[0] == place
    assert categories(digit, 1, Scripted(word, following, third + 1))[0] == place + 1
    assert categories(digit, 1, Scripted(word - 1))[0] == place
    assert categories(digit, 1, Scripted(word + 1))[0] == place + 1


def test_words_of_ones_give_numbers_beyond_the_table():
    endless = GeometricDigit(Fraction(1), None)
    # u = 1 - 2^-128 and more: about 128 ln 2 = 88 categories up.
    assert categories(endless, 1, Scripted(2**64 - 1, 2**64 - 1, 0))[0] == math.floor(128 * math.log(2))
    assert geometric(Fraction(1, 1000), 1, Scripted(0, 0, 0))[0] == 0
    chance = ExponentialChance(Fraction(1))
    assert settle_below(chance, chance.floors(1, 64)[0], Scripted(0))
    assert not settle_below(chance, chance.floors(1, 64)[0], Scripted(2**64 - 1))


def test_options_that_floating_point_could_not_select_have_their_exact_probability():
    """The comparison goes on where the first 64 bits agree: a weight of e^-50 is settled bit by bit."""
    weight = ExponentialChance(Fraction(50))
    first = weight.floors(1, 64)[0]
    later = weight.floors(1, 128)[0] - (first << 64)

    class Bits:
        def __init__(self, word):
            self.word = word

        def integers(self, low, high, size, dtype, endpoint):
            return np.full(size, self.word, dtype=dtype)

    assert settle_below(weight, first, Bits(later - 1))
    assert not settle_below(weight, first, Bits(later + 1))


def test_integers_of_the_system_are_remainders_of_its_words(monkeypatch):
    """Words above the largest multiple of the count are drawn again; otherwise small integers would be likelier."""
    tokens = iter([[0, 7, 2**64 - 1, 2**64 - 2, 2**63], [5], [2**64 - 1]])
    monkeypatch.setattr(os, "urandom", lambda size: b"".join(word.to_bytes(8, "little") for word in next(tokens)))
    # 2^64 is 1 above a multiple of 3.
    assert SystemGenerator().integers(-1, 2, 5).tolist() == [-1, 0, 1, 1, 1]
    assert words(1, SystemGenerator()).tolist() == [2**64 - 1]


@pytest.mark.parametrize("size", [3, (2, 4), (0,)])
def test_integers_of_the_system_have_the_shape_and_type_of_numpys(size):
    """A range of 2^63 + 1 integers refuses nearly half of all words."""
    for low, high, dtype, endpoint in ((0, 2**63, np.uint64, True), (-5, 6, np.int64, False), (0, 1, np.int64, False)):
        drawn = SystemGenerator().integers(low, high, size, dtype, endpoint=endpoint)
        like = np.random.default_rng(0).integers(low, high, size, dtype, endpoint=endpoint)
        assert (drawn.shape, drawn.dtype) == (like.shape, like.dtype)
        assert ((drawn >= low) & (drawn < high + endpoint)).all()


@pytest.mark.parametrize(("distance", "settled"), [(-(2.0**-41), True), (2.0**-41, True), (-(2.0**-39), False)])
def test_floating_point_decides_only_beyond_its_margin(monkeypatch, distance, settled):
    """A proposal of 1 at variance 1 is accepted with probability e^(-1/8)."""
    asked = []
    word = int((math.exp(-1 / 8) + distance) * 2.0**64)
    monkeypatch.setattr(exact, "two_sided_geometric", lambda rate, size, rng: np.ones(size, dtype=np.int64))
    monkeypatch.setattr(exact, "words", lambda size, rng: np.full(size, word, dtype=np.uint64))
    monkeypatch.setattr(exact, "settle_below", lambda chance, number, rng: asked.append(chance.rate) or True)
    assert exact.discrete_gaussian(Fraction(1), 1, None).tolist() == [1]
    assert set(asked) == ({Fraction(1, 8)} if settled else set())
