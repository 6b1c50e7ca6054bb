"""Composition: parallel, group, pointwise, advanced and zero-concentrated bounds."""

import math

import numpy as np
import pytest
from scipy import stats

from defenses.dp import (
    Accountant,
    advanced,
    group_privacy,
    parallel,
    pointwise,
    serial,
    weak_secrecy,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_rho,
)


def binary(epsilon, delta):
    """An (epsilon, delta) mechanism of three answers with as much probability as possible at a loss above 2 epsilon.

    Answer 0 has probability a under P and b = a e^(-2 epsilon) (a little less) under P', so that its excess
    a - e^epsilon b = a (1 - e^-epsilon) is all of delta.
    """
    a = delta / -math.expm1(-epsilon) * (1 - 1e-9)
    b = a * math.exp(-2 * epsilon) * (1 - 1e-9)
    # Of the rest, P' has a little more than P everywhere: loss within [-epsilon, 0].
    return np.array([a, 1 - a]), np.array([b, 1 - b])


def test_parallel_composition_depends_on_the_neighbours():
    parts = [(0.5, 0.0), (0.25, 1e-7), (0.125, 0.0)]
    assert parallel(parts, "add or remove") == (0.5, 1e-7)
    assert parallel(parts, "replace") == (0.75, 1e-7)
    assert parallel(parts, "replace in place") == (0.5, 1e-7)
    assert serial(parts) == (0.875, 1e-7)
    with pytest.raises(ValueError, match="neighbours"):
        parallel(parts, "bounded")


def test_replacing_costs_the_two_largest_in_a_parallel_histogram():
    # Two exact-to-epsilon counts of two disjoint parts: the record that moves changes both probabilities.
    q = math.exp(-0.5)
    table = np.outer(q ** np.abs(np.arange(-30, 31) - 1), q ** np.abs(np.arange(-30, 31)))
    moved = np.outer(q ** np.abs(np.arange(-30, 31)), q ** np.abs(np.arange(-30, 31) - 1))
    assert np.abs(np.log(table / moved)).max() == pytest.approx(parallel([(0.5, 0), (0.5, 0)], "replace")[0])


def test_groups_and_weak_secrecy():
    assert group_privacy(0.1, 0.0, 5) == (pytest.approx(0.5), 0.0)
    epsilon, delta = group_privacy(0.5, 1e-6, 3)
    assert epsilon == 1.5
    assert delta == pytest.approx(1e-6 * (1 + math.exp(0.5) + math.exp(1.0)))
    assert weak_secrecy(0.1, 10) == pytest.approx(math.e)
    assert group_privacy(5.0, 1e-3, 1000)[1] == 1.0
    # Without epsilon the deltas add up.
    assert group_privacy(0.0, 1e-6, 3) == (0.0, pytest.approx(3e-6))
    assert weak_secrecy(0.0, 3) == 1
    budget = Accountant(epsilon=1.0)
    budget.spend(0.25)
    assert budget.group(4) == (1.0, 0.0)


def test_a_group_loses_what_group_privacy_says_and_no_more():
    # Discrete Laplace noise on a count, and a group of three: the largest loss is three epsilon, exactly.
    q = math.exp(-0.4)
    at = np.arange(-50, 51)
    assert np.abs(np.log(q ** np.abs(at) / q ** np.abs(at - 3))).max() == pytest.approx(group_privacy(0.4, 0.0, 3)[0])


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_bad_groups_are_refused(bad):
    with pytest.raises(ValueError, match="m must"):
        group_privacy(0.1, 0.0, bad)


@pytest.mark.parametrize("epsilon", [0.1, 0.46, 0.48, 0.853, 2.0])
@pytest.mark.parametrize("delta", [1e-6, 0.05])
def test_pointwise_reading_is_tight_and_the_lectures_is_false_beyond_0_468(epsilon, delta):
    p, other = binary(epsilon, delta)
    for first, second in ((p, other), (other, p)):
        assert np.maximum(first - math.exp(epsilon) * second, 0).sum() <= delta * (1 + 1e-6)
    twice, rate = pointwise(epsilon, delta)
    assert twice == 2 * epsilon
    beyond = p[p > math.exp(2 * epsilon) * other].sum()
    assert beyond == pytest.approx(rate, rel=1e-6)
    assert beyond <= rate
    lecture = 2 * delta / (epsilon * math.exp(epsilon))
    assert (beyond > lecture) == (epsilon > 0.46818)


def test_pointwise_holds_for_normal_noise():

    from defenses.dp.composition import gaussian_delta

    for sigma in (0.5, 1.0, 3.0):
        for epsilon in (0.2, 1.0):
            _, rate = pointwise(epsilon, gaussian_delta(sigma, epsilon))
            # The loss of Gaussian noise at distance 1 is normal with mean 1/(2 sigma^2), deviation 1/sigma.
            assert stats.norm.sf(2 * epsilon, 1 / (2 * sigma**2), 1 / sigma) <= rate
    with pytest.raises(ValueError, match="epsilon"):
        pointwise(0.0, 0.1)


def test_advanced_composition():
    epsilon, delta = advanced(0.01, 0.0, 10_000, 1e-6)
    assert epsilon < 100 * 0.06
    assert delta == 1e-6
    assert advanced(1.0, 0.0, 2, 1e-9)[0] == 2.0
    with pytest.raises(ValueError, match="slack"):
        advanced(0.1, 0.0, 3, 0.0)


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_zero_concentrated_privacy_there_and_back(epsilon, delta):
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_delta(rho, epsilon) <= delta
    assert zcdp_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-6)
    # Never better than the truth for Gaussian noise of that rho, and within a quarter of its epsilon.
    from defenses.dp.composition import gaussian_delta

    sigma = 1 / math.sqrt(2 * rho)
    assert gaussian_delta(sigma, epsilon) <= delta
    assert gaussian_delta(sigma, 0.75 * epsilon) > delta
    # Better than Bun and Steinke's first conversion.
    assert zcdp_epsilon(rho, delta) < rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_weak_secrecy_has_no_largest_number():
    assert weak_secrecy(100.0, 1000) == math.inf
