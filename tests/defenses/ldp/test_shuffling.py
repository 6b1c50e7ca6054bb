"""Amplification by shuffling: exact enumeration, known closed form, audit, attack and bad input."""

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from defenses.ldp import (
    GeneralizedRandomizedResponse,
    ShuffledResponse,
    attained_delta,
    clones_epsilon,
    shuffled_delta,
    shuffled_epsilon,
    shuffling,
)
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import subject


class TooTruthful(ShuffledResponse):
    """Broken: devices use twice the local epsilon that the claim allows."""

    def __init__(self, *, epsilon, delta, d, n):
        super().__init__(epsilon=epsilon, delta=delta, d=d, n=n)
        self.local = GeneralizedRandomizedResponse(epsilon=2 * self.local.epsilon, d=d)


def shuffled_law(values, protocol):
    law = {}
    for reports in product(range(protocol.d), repeat=len(values)):
        probability = math.prod(
            protocol.p if own == sent else protocol.q for own, sent in zip(values, reports, strict=True)
        )
        key = tuple(sorted(reports))
        law[key] = law.get(key, 0.0) + probability
    return law


def enumerated(epsilon, others, local_epsilon, d):
    """Delta between the shuffled reports of two tables, by enumeration of all reports."""
    protocol = GeneralizedRandomizedResponse(epsilon=local_epsilon, d=d)
    first, second = (shuffled_law((value, *others), protocol) for value in (0, 1))
    return sum(max(0.0, first[key] - math.exp(epsilon) * second[key]) for key in first)


@pytest.mark.parametrize(
    ("n", "d", "local_epsilon", "epsilon"),
    [(3, 3, 1.0, 0.3), (4, 3, 2.0, 0.5), (4, 4, 1.5, 0.2), (4, 3, 1.0, 0.0), (1, 3, 1.0, 0.5), (4, 3, 2.0, 1.9)],
)
def test_no_table_exceeds_the_bound_and_it_is_tight(n, d, local_epsilon, epsilon):
    tables = combinations_with_replacement(range(d), n - 1)
    worst = max(enumerated(epsilon, others, local_epsilon, d) for others in tables)
    bound = shuffled_delta(epsilon, n, local_epsilon=local_epsilon, d=d)
    assert worst <= bound * (1 + 1e-9)
    assert bound <= 1.001 * worst
    assert bound <= shuffled_delta(epsilon, n, local_epsilon=local_epsilon)
    attained = attained_delta(epsilon, n, local_epsilon=local_epsilon, d=d)
    assert attained == pytest.approx(enumerated(epsilon, (2,) * (n - 1), local_epsilon, d), rel=1e-9)
    assert attained <= bound * (1 + 1e-9)


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize(("n", "d"), [(5, 3), (3, 4), (4, 4), (3, 5), (4, 5)])
@pytest.mark.parametrize("local_epsilon", [0.5, 4.0, 9.0, 20.0])
def test_the_attained_delta_is_that_of_its_tables(n, d, local_epsilon):
    for share in (0.0, 0.05, 0.5, 0.95):
        exact = enumerated(share * local_epsilon, (2,) * (n - 1), local_epsilon, d)
        attained = attained_delta(share * local_epsilon, n, local_epsilon=local_epsilon, d=d)
        assert attained == pytest.approx(exact, rel=1e-9, abs=1e-15), share
        assert attained <= shuffled_delta(share * local_epsilon, n, local_epsilon=local_epsilon, d=d) * (1 + 1e-9)


@pytest.mark.parametrize(("n", "local_epsilon"), [(2, 1.0), (4, 2.0), (6, 0.3)])
def test_no_table_of_two_values_exceeds_the_bound(n, local_epsilon):
    for epsilon in (0.0, 0.1, 0.8 * local_epsilon):
        tables = combinations_with_replacement(range(2), n - 1)
        worst = max(enumerated(epsilon, others, local_epsilon, 2) for others in tables)
        assert worst <= shuffled_delta(epsilon, n, local_epsilon=local_epsilon, d=2) * (1 + 1e-9)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("n", "d"), [(4, 3), (4, 4), (3, 5)])
def test_log_odds_are_those_of_all_counts(n, d):
    mechanism = ShuffledResponse(epsilon=1.0, delta=1e-5, d=d, n=n)
    first, second = (shuffled_law((value, *(2,) * (n - 1)), mechanism.local) for value in (0, 1))
    counts = [np.bincount(reports, minlength=d) for reports in first]
    exact = [math.log(first[reports] / second[reports]) for reports in first]
    np.testing.assert_allclose(mechanism.log_odds(np.array(counts)), exact, rtol=1e-9, atol=1e-9)


@pytest.mark.long
def test_the_bound_is_tight_for_many_persons():
    for n, local_epsilon, d in ((1000, 1.0, 4), (5000, 4.0, 20)):
        epsilon = shuffled_epsilon(1e-6, n, local_epsilon=local_epsilon, d=d)
        assert attained_delta(0.97 * epsilon, n, local_epsilon=local_epsilon, d=d) > 0.9e-6
        assert epsilon < shuffled_epsilon(1e-6, n, local_epsilon=local_epsilon) < local_epsilon / 3


@pytest.mark.thorough
def test_numbers_beat_the_closed_form_and_fall_with_the_number_of_persons():
    bounds = [shuffled_epsilon(1e-6, n, local_epsilon=1.0) for n in (3000, 10_000, 100_000)]
    closed = [clones_epsilon(1e-6, n, local_epsilon=1.0) for n in (3000, 10_000, 100_000)]
    assert sorted(bounds, reverse=True) == bounds
    assert all(bound < form for bound, form in zip(bounds, closed, strict=True))
    # At least as fast as 1/sqrt(n).
    assert bounds[0] / bounds[2] > np.sqrt(100_000 / 3000)
    assert clones_epsilon(1e-6, 100, local_epsilon=4.0) is None
    assert shuffled_epsilon(0.9, 100, local_epsilon=1.0) == 0.0


@pytest.mark.thorough
def test_counts_are_unbiased_with_the_variance_of_randomized_response():
    mechanism = ShuffledResponse(epsilon=1.0, delta=1e-5, d=4, n=400)
    counts = np.array([200, 100, 100, 0])
    drawn = np.apply_along_axis(mechanism.estimate, 1, mechanism.repeated(counts, 4000, np.random.default_rng(1)))
    variance = mechanism.variance(counts / 400)
    assert np.abs(drawn.mean(axis=0) - counts).max() < 5 * np.sqrt(variance.max() / 4000)
    # A relative deviation of sqrt(2/4000); 4 values in 5 of them.
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=5 * np.sqrt(2 / 4000))
    one = mechanism.release(np.repeat(np.arange(4), counts), np.random.default_rng(2))
    assert one.sum() == 400
    assert mechanism.local.epsilon > 2


@pytest.mark.thorough
def test_audit_holds_and_catches_too_truthful_devices():
    rng = np.random.default_rng(3)
    parameters = {"epsilon": 1.0, "delta": 0.01, "d": 8, "n": 200}
    held = audit(subject(ShuffledResponse(**parameters)), runs=100_000, confidence=0.999, rng=rng)
    assert held.holds
    assert held.bound > 0.7
    broken = audit(subject(TooTruthful(**parameters)), runs=20_000, confidence=0.999, rng=rng)
    assert not broken.holds


@pytest.mark.thorough
def test_the_best_attack_on_one_person_has_its_advantage():
    mechanism, runs = ShuffledResponse(epsilon=1.0, delta=0.01, d=5, n=60), 50_000
    first, second = np.array([1, 0, 59, 0, 0]), np.array([0, 1, 59, 0, 0])
    right = []
    for table, sign in ((first, 1), (second, -1)):
        counts = mechanism.repeated(table, runs, np.random.default_rng(sign + 5))
        lead = sign * mechanism.log_odds(counts)
        right.append(((lead > 0) + 0.5 * (lead == 0)).mean())
    # The advantage of the best attack is the total variation distance of the two releases: delta at epsilon 0.
    expected = (1 + attained_delta(0.0, 60, local_epsilon=mechanism.local.epsilon, d=5)) / 2
    assert np.mean(right) == pytest.approx(expected, abs=5 * 0.5 / np.sqrt(2 * runs))
    alone = GeneralizedRandomizedResponse(epsilon=mechanism.local.epsilon, d=5)
    assert expected < (1 + alone.p - alone.q) / 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"delta": 0.0}, "delta must be"),
        ({"d": 2}, "d must be"),
        ({"n": 0}, "n must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ShuffledResponse(**parameters)


def test_bad_input():
    with pytest.raises(ValueError, match="values must hold 10 integers"):
        ShuffledResponse(n=10).release([0, 1], np.random.default_rng(0))
    with pytest.raises(ValueError, match="local_epsilon must be"):
        shuffled_delta(1.0, 10, local_epsilon=float("nan"))
    with pytest.raises(ValueError, match="delta must be"):
        shuffled_epsilon(0.0, 10, local_epsilon=1.0)


def test_the_closed_form_ends_at_its_limit():
    # ln(n / (16 ln(2 / delta))) with n = 10,000 and delta = 1e-6.
    limit = math.log(10_000 / (16 * math.log(2e6)))
    assert clones_epsilon(1e-6, 10_000, local_epsilon=limit - 1e-6) is not None
    assert clones_epsilon(1e-6, 10_000, local_epsilon=limit + 1e-6) is None


@pytest.mark.parametrize("n", [100, 5000])
def test_the_largest_local_epsilon_is_rounded_down(n):
    local = shuffling._largest_local_epsilon(0.5, 1e-6, 4, n)
    assert shuffling.shuffled_delta(0.5, n, local_epsilon=local, d=4) <= 1e-6
    assert shuffling.shuffled_delta(0.5, n, local_epsilon=local * (1 + 1e-6), d=4) > 1e-6


def test_the_exact_delta_leaves_out_nothing_that_counts(monkeypatch):
    """Some 700 of 2,000 reports name one of the two values; wider sums find no more."""
    arguments = {"epsilon": 0.05, "n": 2000, "local_epsilon": 1.0, "d": 4}
    cut = attained_delta(**arguments)
    monkeypatch.setattr(shuffling, "_FURTHER", 2000)
    assert 1e-9 < cut == pytest.approx(attained_delta(**arguments), rel=1e-9)
