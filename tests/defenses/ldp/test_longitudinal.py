"""Longitudinal unary encodings: probabilities, privacy of all rounds, variance, attacks and bad input."""

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored

from attacks import LongitudinalAveraging, ValueGuess
from defenses import LocalReports, Microdata
from defenses.ldp import (
    LongitudinalOptimizedUnaryEncoding,
    LongitudinalSymmetricUnaryEncoding,
    OptimizedUnaryEncoding,
    SymmetricUnaryEncoding,
)
from metrics.columns.domains import CategoricalDomain
from scenarios import Reports
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import subject

BOTH = (LongitudinalSymmetricUnaryEncoding, LongitudinalOptimizedUnaryEncoding)


class ForgetfulEncoding(LongitudinalOptimizedUnaryEncoding):
    """Broken: draws new memoized bits in every round, so that rounds add up."""

    def privatize_rounds(self, values, rounds, rng):
        return tuple(self.report(self.memoize(values, child), child) for child in rng.spawn(rounds))


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(("epsilon", "alpha"), [(0.5, 0.3), (3.0, 0.5), (8.0, 0.9)])
def test_one_report_has_its_share_of_epsilon_and_the_memory_all_of_it(make, epsilon, alpha):
    protocol = make(epsilon=epsilon, d=6, alpha=alpha)
    p, q = protocol.memoized
    assert np.log(p * (1 - q) / ((1 - p) * q)) == pytest.approx(epsilon)
    assert protocol.support_odds == pytest.approx(alpha * epsilon)
    kept = protocol.kept
    assert 0.5 < kept < 1
    assert protocol.p == pytest.approx(p * kept + (1 - p) * (1 - kept))
    assert protocol.q == pytest.approx(q * kept + (1 - q) * (1 - kept))
    single = {LongitudinalSymmetricUnaryEncoding: SymmetricUnaryEncoding}.get(make, OptimizedUnaryEncoding)
    assert protocol.variance(100, np.eye(6)[0]) == pytest.approx(
        single(epsilon=alpha * epsilon, d=6).variance(100, np.eye(6)[0])
    )


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("make", BOTH)
def test_any_number_of_rounds_stays_within_epsilon(make):
    protocol = make(epsilon=2.0, d=4, alpha=0.7)
    for rounds in (1, 3, 200):
        reports = protocol.privatize_rounds(np.arange(4000) % 4, rounds, np.random.default_rng(1))
        logs = protocol.rounds_log_likelihood(reports)
        assert np.ptp(logs, axis=1).max() <= 2.0 + 1e-9
        if rounds == 1:
            np.testing.assert_allclose(np.ptp(logs, axis=1).max(), 1.4)
            single = protocol.log_likelihood(reports[0])
            np.testing.assert_allclose(logs - logs.mean(axis=1, keepdims=True), single - single.mean(axis=1)[:, None])


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("make", BOTH)
def test_the_likelihood_of_rounds_is_that_of_counts(make):
    # Two values with opposite likelihood ratios: measured odds of 30 counts in 5 standard errors, 2 in 10^5 runs alarm.
    protocol, n = make(epsilon=2.0, d=2, alpha=0.6), 200_000
    shown = []
    for value in (0, 1):
        rounds = protocol.privatize_rounds(np.full(n, value), 3, np.random.default_rng([value, 3]))
        logs = protocol.rounds_log_likelihood(rounds)
        shown.append(np.round(logs[:, 0] - logs[:, 1], 9))
    for claimed in np.unique(shown[0]):
        first, second = (int((kind == claimed).sum()) for kind in shown)
        if min(first, second) > 200:
            assert np.log(first / second) == pytest.approx(claimed, abs=5 * np.sqrt(1 / first + 1 / second))


@pytest.mark.thorough_beyond(1)
@pytest.mark.long_for("10-LongitudinalOptimizedUnaryEncoding", "10-LongitudinalSymmetricUnaryEncoding")
@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("rounds", [1, 10])
def test_the_mean_of_rounds_has_its_variance(make, rounds):
    protocol, n, plays = make(epsilon=3.0, d=4, alpha=0.5), 400, 400
    values = np.repeat(np.arange(4), [200, 100, 100, 0])
    means = [
        np.mean([protocol.estimate(one) for one in protocol.privatize_rounds(values, rounds, rng)], axis=0)
        for rng in np.random.default_rng(5).spawn(plays)
    ]
    shares = np.bincount(values, minlength=4) / n
    expected = protocol.rounds_variance(n, shares, rounds)
    if rounds == 1:
        np.testing.assert_allclose(expected, protocol.variance(n, shares))
    # A sample variance of 400 plays has a relative deviation of sqrt(2/400) = .07; 16 values in 4.5 of them.
    assert np.abs(np.var(means, axis=0) / expected - 1).max() < 4.5 * 0.0708
    assert np.abs(np.mean(means, axis=0) - n * shares).max() < 5 * np.sqrt(expected.max() / plays)


def test_optimized_bits_have_less_variance_than_symmetric_ones():
    shares = np.full(50, 1 / 50)
    for epsilon in (1.0, 3.0, 6.0):
        symmetric, optimized = (make(epsilon=epsilon, d=50) for make in BOTH)
        assert optimized.variance(1000, shares).mean() < symmetric.variance(1000, shares).mean()


@pytest.mark.thorough
@pytest.mark.parametrize("make", BOTH)
def test_audit_holds_for_all_rounds_and_catches_forgotten_bits(make):
    rng = np.random.default_rng(2)
    # 20 rounds with alpha = .9 reveal the memoized bits almost surely, so that the bound is near the claim.
    held = audit(subject(make(epsilon=1.0, d=4, alpha=0.9)), runs=20_000, confidence=0.999, rng=rng)
    assert held.holds
    assert held.bound > 0.8
    broken = audit(subject(ForgetfulEncoding(epsilon=1.0, d=4, alpha=0.9)), runs=10_000, confidence=0.999, rng=rng)
    assert not broken.holds
    assert broken.bound > 2


def people(n):
    domain = CategoricalDomain(tuple("abcdef"))
    frame = pd.DataFrame({"letter": np.array(list("abcdef"))[np.arange(n) % 6]})
    return Microdata(frame, sensitive=("letter",), domains={"letter": domain})


def test_attacks_gain_little_from_further_rounds():
    game = Reports(records=people(4000), column="letter", persons=2000, auxiliary=1000)
    name = "LongitudinalOptimizedUnaryEncoding"
    rates = {}
    for rounds in (1, 30):
        defense = LocalReports(protocol=name, epsilon=2.0, rounds=rounds, options={"alpha": 0.5})
        rates[rounds] = scored(defense, LongitudinalAveraging(), game, np.random.default_rng(1))["value"].rate
    guess = scored(defense, ValueGuess(), game, np.random.default_rng(1))["value"].rate
    fresh = LocalReports(protocol="OptimizedUnaryEncoding", epsilon=1.0, rounds=30)
    unbounded = scored(fresh, LongitudinalAveraging(), game, np.random.default_rng(1))["value"].rate
    # All rounds are worth at most one report with epsilon = 2; 30 fresh reports with epsilon = 1 give most values away.
    limit = OptimizedUnaryEncoding(epsilon=2.0, d=6).best_guess
    assert rates[1] < rates[30] < limit + 0.04
    assert guess == pytest.approx(rates[1], abs=0.04)
    assert unbounded > limit + 0.3


def test_guarantee_covers_all_rounds():
    defense = LocalReports(protocol="LongitudinalSymmetricUnaryEncoding", epsilon=2.0, rounds=12)
    guarantee = defense.guarantee(people(6))
    assert guarantee.epsilon == 2.0
    assert "memoized" in guarantee.statement
    assert len(defense.apply(people(6), np.random.default_rng(0)).reports) == 12


def test_bad_input():
    with pytest.raises(ValueError, match="alpha must be"):
        LongitudinalSymmetricUnaryEncoding(epsilon=1.0, d=4, alpha=1.0)
    with pytest.raises(ValueError, match="memoize: LongitudinalSymmetricUnaryEncoding memoizes by itself"):
        LocalReports(protocol="LongitudinalSymmetricUnaryEncoding", memoize=True)
    protocol = LongitudinalSymmetricUnaryEncoding(epsilon=1.0, d=4)
    with pytest.raises(ValueError, match="rounds must be"):
        protocol.privatize_rounds(np.zeros(3, dtype=int), 0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="rounds are empty"):
        protocol.rounds_log_likelihood(())
