"""Subset selection: the law of sets by enumeration, closed forms, and sets of one value."""

import math
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from chance_tools import ALARM, chi_square, rng
from playing_tools import scored

from attacks import LongitudinalAveraging, ValueGuess
from defenses import LocalReports, Microdata
from defenses.ldp import (
    GeneralizedRandomizedResponse,
    LongitudinalOptimizedUnaryEncoding,
    LongitudinalSymmetricUnaryEncoding,
    OptimizedUnaryEncoding,
    ReportBatch,
    SubsetSelection,
    SymmetricUnaryEncoding,
)
from metrics.columns.domains import CategoricalDomain
from scenarios import Reports
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import subject

BOTH = [SymmetricUnaryEncoding, OptimizedUnaryEncoding]


def law(protocol):
    """Probability of each vector of bits under each value, shape (2^d, d)."""
    vectors = np.array(list(product([0, 1], repeat=protocol.d)))
    own = np.where(vectors == 1, protocol.p, protocol.unset)
    other = np.where(vectors == 1, protocol.q, 1 - protocol.q)
    return np.stack([own[:, v] * np.delete(other, v, axis=1).prod(axis=1) for v in range(protocol.d)], axis=1)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_epsilon_is_exact_and_the_best_guess_is_that_of_bayes(make, epsilon):
    protocol = make(epsilon=epsilon, d=4)
    table = law(protocol)
    assert table.sum(axis=0) == pytest.approx(np.ones(4))
    assert (table.max(axis=1) / table.min(axis=1)).max() == pytest.approx(math.exp(epsilon))
    assert protocol.support_odds == pytest.approx(epsilon)
    assert protocol.best_guess == pytest.approx(table.max(axis=1).sum() / 4)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_variances_of_rare_values_are_their_closed_forms(epsilon):
    rare = np.eye(9)[0]
    half = math.exp(epsilon / 2)
    # Wang et al. (2017), equations 9 and 10.
    symmetric = SymmetricUnaryEncoding(epsilon=epsilon, d=9).variance(300, rare)
    assert symmetric == pytest.approx([300 * half / (half - 1) ** 2] * 9)
    optimized = OptimizedUnaryEncoding(epsilon=epsilon, d=9).variance(300, rare)
    assert optimized[1:] == pytest.approx([300 * 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2] * 8)
    # A frequent value has p(1 - p)/(p - q)^2 more: 1/4 at p = 1/2, for each person who has it.
    assert optimized[0] == pytest.approx(300 * 0.25 / (0.5 - 1 / (math.exp(epsilon) + 1)) ** 2)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_other_probabilities_have_less_variance_for_rare_values(epsilon):
    p = np.linspace(0.01, 0.99, 981)
    # q with p(1 - q)/((1 - p) q) = e^epsilon.
    q = p / (p + (1 - p) * math.exp(epsilon))
    others = 100 * q * (1 - q) / (p - q) ** 2
    least = OptimizedUnaryEncoding(epsilon=epsilon, d=9).variance(100, np.eye(9)[0])[1]
    assert least == pytest.approx(others.min(), rel=1e-9)
    assert p[others.argmin()] == pytest.approx(0.5)


@pytest.mark.parametrize("make", BOTH)
def test_blank_reports_hold_no_value(make):
    # Bits of 20,000 blank reports: 11 shares within 5 standard errors, a false alarm in 10^5 runs of both encodings.
    protocol, n = make(epsilon=1.0, d=11), 20_000
    blank = protocol.blank_reports(n, np.random.default_rng(3))
    deviation = math.sqrt(n * protocol.q * (1 - protocol.q))
    assert (np.abs(protocol.support_counts(blank) - n * protocol.q) <= 5 * deviation).all()
    assert (np.abs(protocol.estimate(blank)) <= 5 * deviation / (protocol.p - protocol.q)).all()
    # Eleven bits take two bytes, of which the last five bits stay 0.
    assert blank.parts["bits"].shape == (n, 2)
    assert not (blank.parts["bits"][:, 1] & 0b11111).any()
    assert len(protocol.blank_reports(0, np.random.default_rng(3))) == 0


@pytest.mark.parametrize("make", BOTH)
def test_supports_and_estimates_by_hand(make):
    protocol = make(epsilon=1.0, d=10)
    reports = ReportBatch(protocol, {"bits": np.array([[0b10000001, 0b01000000], [0b10000000, 0]], dtype=np.uint8)})
    assert np.flatnonzero(protocol.supports(reports)[0]).tolist() == [0, 7, 9]
    assert protocol.support_counts(reports).tolist() == [2, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    gap = protocol.p - protocol.q
    assert protocol.estimate(reports)[[0, 1, 7]] == pytest.approx([(s - 2 * protocol.q) / gap for s in (2, 0, 1)])
    assert protocol.report_bits == 10


def test_symmetric_bits_are_flipped_alike():
    protocol = SymmetricUnaryEncoding(epsilon=2 * math.log(3), d=4)
    assert (protocol.p, protocol.q, protocol.unset) == pytest.approx((3 / 4, 1 / 4, 1 / 4))
    assert OptimizedUnaryEncoding(epsilon=math.log(3), d=4).q == pytest.approx(1 / 4)


BOTH_LONGITUDINAL = (LongitudinalSymmetricUnaryEncoding, LongitudinalOptimizedUnaryEncoding)


class ForgetfulEncoding(LongitudinalOptimizedUnaryEncoding):
    """Broken: draws new memoized bits in every round, so that rounds add up."""

    def privatize_rounds(self, values, rounds, rng):
        return tuple(self.report(self.memoize(values, child), child) for child in rng.spawn(rounds))


@pytest.mark.parametrize("make", BOTH_LONGITUDINAL)
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
@pytest.mark.parametrize("make", BOTH_LONGITUDINAL)
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
@pytest.mark.parametrize("make", BOTH_LONGITUDINAL)
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
@pytest.mark.parametrize("make", BOTH_LONGITUDINAL)
@pytest.mark.parametrize("rounds", [1, 10])
def test_the_mean_of_rounds_has_its_variance(make, rounds):
    protocol, n, plays = make(epsilon=3.0, d=4, alpha=0.5), 400, 400
    values = np.repeat(np.arange(4), [200, 100, 100, 0])
    means = [
        np.mean([protocol.estimate(one) for one in protocol.privatize_rounds(values, rounds, rng)], axis=0)
        for rng in np.random.default_rng(5).spawn(plays)
    ]
    shares = np.bincount(values, minlength=4) / n
    # The variance that the class states: s is the probability of a set memoized bit, with and without the value.
    with_value, without = (
        s * (1 - s) * (2 * protocol.kept - 1) ** 2 + protocol.kept * (1 - protocol.kept) / rounds
        for s in protocol.memoized
    )
    expected = n * (shares * with_value + (1 - shares) * without) / (protocol.p - protocol.q) ** 2
    if rounds == 1:
        np.testing.assert_allclose(expected, protocol.variance(n, shares))
    # A sample variance of 400 plays has a relative deviation of sqrt(2/400) = .07; 16 values in 4.5 of them.
    assert np.abs(np.var(means, axis=0) / expected - 1).max() < 4.5 * 0.0708
    assert np.abs(np.mean(means, axis=0) - n * shares).max() < 5 * np.sqrt(expected.max() / plays)


def test_optimized_bits_have_less_variance_than_symmetric_ones():
    shares = np.full(50, 1 / 50)
    for epsilon in (1.0, 3.0, 6.0):
        symmetric, optimized = (make(epsilon=epsilon, d=50) for make in BOTH_LONGITUDINAL)
        assert optimized.variance(1000, shares).mean() < symmetric.variance(1000, shares).mean()


@pytest.mark.thorough
@pytest.mark.parametrize("make", BOTH_LONGITUDINAL)
def test_audit_holds_for_all_rounds_and_catches_forgotten_bits(make):
    rng = np.random.default_rng(2)
    # 20 rounds with alpha = .9 reveal the memoized bits almost surely, so that the bound is near the claim.
    held = audit(subject(make(epsilon=1.0, d=4, alpha=0.9)), runs=12_000, confidence=0.999, rng=rng)
    assert held.holds
    assert held.bound > 0.8
    broken = audit(subject(ForgetfulEncoding(epsilon=1.0, d=4, alpha=0.9)), runs=2_000, confidence=0.999, rng=rng)
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


def subset_selection_law(protocol, value):
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
    sets = subset_selection_law(protocol, 0)
    assert sum(sets.values()) == pytest.approx(1)
    assert max(sets.values()) / min(sets.values()) == pytest.approx(math.exp(epsilon))
    assert sum(share for members, share in sets.items() if 3 in members) == pytest.approx(protocol.q)
    everyone = [subset_selection_law(protocol, value) for value in range(6)]
    bayes = sum(max(each[members] for each in everyone) for members in sets) / 6
    assert protocol.best_guess == pytest.approx(bayes)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("value", [0, 3])
@pytest.mark.parametrize("at_once", [1 << 20, 12])
def test_sets_follow_their_law(value, at_once, monkeypatch):
    # Four chi-square tests of 15 sets, each with a false alarm in 1 of 10,000 seeds; also in parts of two persons.
    monkeypatch.setattr("defenses.ldp.bit_vectors._AT_ONCE", at_once)
    protocol = SubsetSelection(epsilon=0.5, d=6)
    sets = subset_selection_law(protocol, value)
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
