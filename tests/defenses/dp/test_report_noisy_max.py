"""Report noisy maximum: closed forms, comparison with the exponential mechanism, and ties."""

import math
from itertools import permutations

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng

from defenses.dp import (
    Exponential,
    ReportNoisyMax,
)


def test_noisy_maximum_falls_short_of_no_exponential_mechanism():
    generator = rng(22)
    for _ in range(50):
        scores = generator.normal(size=6) * 3
        assert ReportNoisyMax().bias(scores) >= Exponential().bias(scores) - 1e-12


def permute_and_flip(scores, epsilon, sensitivity):
    """Law of permute-and-flip by enumeration: options in random order, each accepted with its own probability."""
    accept = np.exp(epsilon * (np.asarray(scores) - max(scores)) / (2 * sensitivity))
    law = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        rejected = 1.0
        for option in order:
            law[option] += rejected * accept[option] / len(orders)
            rejected *= 1 - accept[option]
    return law


@pytest.mark.parametrize("scores", [[0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 0.5], [4.0], [0.0, -50.0, 0.0, -1.0, -1.0]])
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0.1, 1.0), (1.5, 1.0), (6.0, 2.5)])
def test_probabilities_are_those_of_permute_and_flip(scores, epsilon, sensitivity):
    mechanism = ReportNoisyMax(epsilon=epsilon, sensitivity=sensitivity)
    assert mechanism.probabilities(scores) == pytest.approx(permute_and_flip(scores, epsilon, sensitivity))


def test_two_options_have_their_closed_form():
    # The worse of two options wins half of the times at which its coin of e^(-epsilon gap / 2) shows heads.
    mechanism, worse = ReportNoisyMax(epsilon=1.5), math.exp(-1.5 * 2.0 / 2) / 2
    assert mechanism.probabilities([3.0, 1.0]) == pytest.approx([1 - worse, worse])
    assert mechanism.bias([3.0, 1.0]) == pytest.approx(-2 * worse)
    assert mechanism.variance([3.0, 1.0]) == pytest.approx(4 * worse * (1 - worse))


def test_equal_scores_are_equally_likely():
    mechanism = ReportNoisyMax(epsilon=1.0)
    # The lattice of 2^-20 makes ties of noise rare; without it the first of equal options would win more often.
    assert chi_square(np.bincount(mechanism.repeated([2.0] * 3, 9000, rng(27))), np.full(3, 1 / 3)) > ALARM


def test_a_winner_by_far_always_wins():
    assert (ReportNoisyMax(epsilon=1.0).repeated([0.0, 1e9, 1.0], 100, rng(28)) == 1).all()
