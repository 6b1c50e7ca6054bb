"""The value with the largest noisy number: probabilities by enumeration and simulation, estimates and accuracy."""

from itertools import product

import numpy as np
import pytest

from defenses.ldp import SummationHistogramEncoding
from defenses.ldp.reported.reported_columns import ReportedColumn
from defenses.ldp.reported.reported_table import LargestNumber, largest_number_probabilities
from defenses.ldp.reported.splitting import BudgetSplitting, ColumnSampling, ColumnSamplingAmongFakes
from metrics.columns.domains import CategoricalDomain

LETTERS = CategoricalDomain(("a", "b", "c", "d"))


def enumerated(units, scale, d):
    """Probability that the own number wins, summed over all vectors of noise, with a share of each tie."""
    reach = int(40 * scale)
    steps = np.arange(-reach, reach + units + 1)
    noise, own = (np.exp(-np.abs(steps - mean) / scale) for mean in (0, units))
    noise, own = noise / noise.sum(), own / own.sum()
    below = np.cumsum(noise) - noise
    total = np.zeros(steps.size)
    for outcomes in product((0, 1), repeat=d - 1):  # Each other number is smaller or equal.
        ties = sum(outcomes)
        total += noise**ties * below ** (d - 1 - ties) / (1 + ties)
    return float(own @ total)


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize(("units", "scale"), [(1, 0.7), (1, 50.0), (4, 3.0), (5, 0.5), (64, 20.0), (300, 40.0)])
def test_probabilities_by_enumeration(units, scale, d):
    own, another = largest_number_probabilities(units, scale, d)
    expected = enumerated(units, scale, d)
    assert own == pytest.approx(expected, rel=1e-12)
    assert another == pytest.approx(1 - expected, rel=1e-10)


def test_probabilities_by_brute_force_over_all_vectors_of_three_numbers():
    # All vectors of noise of three numbers on a grid of 41 steps, which holds all but 1e-8 of the noise.
    scale, units = 1.0, 2
    steps = np.arange(-20, 21)
    noise = np.exp(-np.abs(steps) / scale)
    noise /= noise.sum()
    first, second, third = np.meshgrid(steps + units, steps, steps, indexing="ij")
    largest = np.maximum(first, np.maximum(second, third))
    ties = sum((number == largest).astype(int) for number in (first, second, third))
    weight = noise[:, None, None] * noise[:, None] * noise
    own, another = largest_number_probabilities(units, scale, 3)
    assert own == pytest.approx(float((weight * (first == largest) / ties).sum()), abs=1e-7)
    assert another / 2 == pytest.approx(float((weight * (second == largest) / ties).sum()), abs=1e-7)


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize(("epsilon", "d"), [(0.5, 2), (1.0, 4), (4.0, 3), (6.0, 40)])
def test_probabilities_by_simulation(epsilon, d):
    n, rng = 100_000, np.random.default_rng(1)
    values = np.arange(n) % d
    numbers = SummationHistogramEncoding(epsilon=epsilon, d=d).privatize(values, rng).parts["number"]
    right = np.mean((numbers + rng.random(numbers.shape)).argmax(axis=1) == values)
    sent = np.mean(LargestNumber(epsilon=epsilon, d=d).privatize(values, rng).parts["value"] == values)
    p = LargestNumber(epsilon=epsilon, d=d).p
    # 8 comparisons in 5 standard errors: 5 in 10^6 runs raise an alarm.
    assert abs(right - p) < 5 * np.sqrt(p * (1 - p) / n)
    assert abs(sent - p) < 5 * np.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize("d", [2, 3, 1000, 4096, 2**32])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 5.0, 25.0, 100.0])
def test_the_exact_privacy_is_below_epsilon(epsilon, d):
    protocol = LargestNumber(epsilon=epsilon, d=d)
    assert 0 < protocol.q < protocol.p <= 1
    assert protocol.p + protocol.lie == pytest.approx(1, abs=1e-13)
    assert 0.4 * epsilon < protocol.support_odds < epsilon
    assert protocol.guarantee.epsilon == epsilon


def test_large_epsilon_keeps_the_digits_of_rare_lies():
    # Two numbers: the difference of two Laplace variables exceeds m with probability (2 + m) e^-m/4, here m = epsilon/2
    # and a scale of 1. The grid has 1,310.72 steps to the scale.
    lie = LargestNumber(epsilon=100.0, d=2).lie
    assert lie == pytest.approx(52 * np.exp(-50) / 4, rel=1e-5)


@pytest.mark.parametrize("strategy", [BudgetSplitting(), ColumnSampling(), ColumnSamplingAmongFakes()])
def test_shares_and_indicators_are_unbiased(strategy):
    n = 60_000
    values = np.repeat([0, 0, 0, 0, 0, 1, 1, 1, 2, 3], n // 10)
    protocol = LargestNumber(epsilon=strategy.column_epsilon(4.0, 2), d=4)
    columns = [ReportedColumn(name, LETTERS, protocol) for name in "xy"]
    truth = np.bincount(values) / n
    for one in strategy.send(columns, [values, values], np.random.default_rng(4)):
        m = len(one.reports)
        # A share of reports has a deviation of at most sqrt(1/(4 m)), twice that among fakes; sampling persons adds as
        # much. 24 comparisons in 5 deviations: 2 in 10^5 runs raise an alarm.
        deviation = np.sqrt(1 / (4 * m)) * (1 + 1 / (protocol.p - protocol.q))
        factor = 2 if isinstance(strategy, ColumnSamplingAmongFakes) else 1
        assert np.abs(strategy.shares(one, 2) - truth).max() < 5 * factor * deviation
        indicators = one.column.indicators(one.reports, truth)
        assert indicators.mean(axis=0) == pytest.approx(one.column.shares(one.reports))
