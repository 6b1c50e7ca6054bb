"""Subset selection: the law of sets by enumeration, closed forms, and sets of one value."""

import math
from itertools import combinations

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng

from defenses.ldp import GeneralizedRandomizedResponse, SubsetSelection


def law(protocol, value):
    """Each set with its stated probability under a value."""
    d, w = protocol.d, protocol.size
    with_own, without = protocol.p / math.comb(d - 1, w - 1), (1 - protocol.p) / math.comb(d - 1, w)
    return {members: with_own if value in members else without for members in combinations(range(d), w)}


@pytest.mark.parametrize(
    ("epsilon", "d", "size"), [(1.0, 128, 34), (4.0, 10, 1), (0.5, 5, 2), (1e-6, 9, 4), (100, 9, 1)]
)
def test_sizes_of_sets(epsilon, d, size):
    protocol = SubsetSelection(epsilon=epsilon, d=d)
    assert protocol.size == size
    sets = protocol.supports(protocol.privatize(np.arange(d), rng(60)))
    assert (sets.sum(axis=1) == size).all()


@pytest.mark.parametrize(("epsilon", "size"), [(0.3, 3), (0.5, 2), (0.9, 2)])
def test_probabilities_are_those_of_the_sets(epsilon, size):
    protocol = SubsetSelection(epsilon=epsilon, d=6)
    assert protocol.size == size
    sets = law(protocol, 0)
    assert sum(sets.values()) == pytest.approx(1)
    assert max(sets.values()) / min(sets.values()) == pytest.approx(math.exp(epsilon))
    assert sum(share for members, share in sets.items() if 3 in members) == pytest.approx(protocol.q)
    everyone = [law(protocol, value) for value in range(6)]
    bayes = sum(max(each[members] for each in everyone) for members in sets) / 6
    assert protocol.best_guess == pytest.approx(bayes)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("value", [0, 3])
@pytest.mark.parametrize("at_once", [1 << 20, 12])
def test_sets_follow_their_law(value, at_once, monkeypatch):
    # Four chi-square tests of 15 sets, each with a false alarm in 1 of 10,000 seeds; also in parts of two persons.
    monkeypatch.setattr("defenses.ldp.subset_selection._AT_ONCE", at_once)
    protocol = SubsetSelection(epsilon=0.5, d=6)
    sets = law(protocol, value)
    supports = protocol.supports(protocol.privatize(np.full(6000, value), rng(61, value, at_once)))
    codes = supports @ (1 << np.arange(6))
    observed = np.array([(codes == sum(1 << member for member in members)).sum() for members in sets])
    assert observed.sum() == 6000
    assert chi_square(observed, np.array(list(sets.values()))) > ALARM


@pytest.mark.parametrize(("epsilon", "d"), [(4.0, 10), (2.0, 5), (100.0, 9)])
def test_sets_of_one_value_are_randomized_response(epsilon, d):
    protocol, other = SubsetSelection(epsilon=epsilon, d=d), GeneralizedRandomizedResponse(epsilon=epsilon, d=d)
    assert (protocol.size, protocol.q, protocol.best_guess) == pytest.approx((1, other.q, other.p))
    shares = np.full(d, 1 / d)
    assert protocol.variance(10, shares) == pytest.approx(other.variance(10, shares))


def test_a_list_of_values_is_sent_where_it_is_shorter():
    assert SubsetSelection(epsilon=1.0, d=128).report_bits == 128
    assert SubsetSelection(epsilon=4.0, d=1000).report_bits == 18 * 10
    assert SubsetSelection(epsilon=4.0, d=10).report_bits == 4
