"""Random decisions of doubles: the stated bounds on epsilon hold for the probabilities that are really drawn."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from defenses.ldp import (
    GeneralizedRandomizedResponse,
    OptimizedUnaryEncoding,
    SubsetSelection,
    SymmetricUnaryEncoding,
    ThresholdedHistogramEncoding,
)
from defenses.ldp.encoding.packed_bits import random_bits
from defenses.pram.matrix import epsilon_for_retention, retention_for_epsilon

UNIT = 2**53
EPSILONS = (1e-6, 1e-3, 0.1, 1.0, 4.0, 20.0, 70.0, 100.0)
SIZES = (2, 3, 100, 2**20)


def drawn(probability):
    """Probability that a random multiple of 2^-53 in [0, 1) lies below a double."""
    return Fraction(math.ceil(Fraction(probability) * UNIT), UNIT)


def drawn_bit(probability):
    """Probability of a bit of `random_bits`."""
    threshold = int(256 * probability)
    return (threshold + drawn(256 * probability - threshold)) / 256


def logarithm(ratio):
    with localcontext() as context:
        context.prec = 60
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("d", SIZES)
def test_randomized_response_exceeds_epsilon_by_less_than_stated(epsilon, d):
    lie = drawn(GeneralizedRandomizedResponse(epsilon=epsilon, d=d).lie)
    assert logarithm((1 - lie) * (d - 1) / lie) <= Decimal(epsilon) + Decimal(d * 2.0**-49)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("encoding", [SymmetricUnaryEncoding, OptimizedUnaryEncoding, ThresholdedHistogramEncoding])
def test_unary_encodings_exceed_epsilon_by_less_than_stated(encoding, epsilon):
    protocol = encoding(epsilon=epsilon, d=100)
    unset, other = drawn(protocol.unset), drawn_bit(protocol.q)
    assert logarithm((1 - unset) * (1 - other) / (unset * other)) <= Decimal(epsilon) + Decimal(100 * 2.0**-49)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("d", SIZES)
def test_sets_exceed_epsilon_by_less_than_stated(epsilon, d):
    protocol = SubsetSelection(epsilon=epsilon, d=d)
    left_out, w = drawn(protocol.left_out), protocol.size
    assert logarithm((1 - left_out) * (d - w) / (left_out * w)) <= Decimal(epsilon) + Decimal(d * 2.0**-49)


@pytest.mark.parametrize("epsilon", [*EPSILONS[:-2], 30.0])
@pytest.mark.parametrize("d", SIZES)
def test_retention_exceeds_its_epsilon_by_less_than_stated(epsilon, d):
    retention = retention_for_epsilon(epsilon, d)
    kept = drawn(retention)
    assert kept == Fraction(retention) or retention < 0.5
    stated = Decimal(epsilon_for_retention(retention, d))
    rounding = Decimal((d + 2) * 2.0**-51) + stated * Decimal(2.0**-50)
    assert logarithm(kept * (d - 1) / (1 - kept)) <= stated + Decimal((d + 2) * 2.0**-53) + rounding


class Doubles:
    """Gives chosen words and doubles in place of a generator."""

    def __init__(self, word, double):
        self.word, self.double = word, double

    def integers(self, high, size, dtype):
        return np.full(size, self.word, dtype=dtype)

    def random(self, size):
        return np.full(size, self.double)


@pytest.mark.parametrize("probability", [2.0**-60, 1e-9, 0.1, 0.25, 0.9999])
def test_bits_are_set_below_their_probability(probability):
    # The threshold byte decides by the double: the last multiple of 2^-53 below the probability sets the bit.
    threshold = int(256 * probability)
    word = int.from_bytes(bytes([threshold] * 8), "little")
    last = math.ceil(Fraction(256 * probability - threshold) * UNIT) - 1
    if last >= 0:
        assert random_bits(8, probability, Doubles(word, last / UNIT)).all()
    assert not random_bits(8, probability, Doubles(word, (last + 1) / UNIT)).any()
