"""The hybrid mechanism against the formulas of its paper."""

from functools import cached_property

import numpy as np
import pytest
from number_tools import MECHANISMS, moments
from scipy.optimize import brentq

from defenses.base.number_law import NumberLaw
from defenses.ldp import HybridMechanism, PiecewiseMechanism, TwoPointMechanism
from defenses.ldp.number_mechanisms import HYBRID_THRESHOLD
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import subject

VALUES = (-1.0, -0.7, 0.0, 0.31, 1.0)


def doubled(make):
    """A broken mechanism that claims half of its epsilon."""

    class Doubled(make):
        @cached_property
        def law(self):
            return NumberLaw(2 * float(self.epsilon), self.share)

    return Doubled


@pytest.mark.thorough_beyond(73)
@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 0.61, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("value", VALUES)
def test_quadrature_gives_a_distribution_with_the_stated_mean_and_variance(make, epsilon, value):
    mechanism = make(epsilon=epsilon)
    total, mean, square = moments(mechanism, value, 0, 1, 2)
    assert total == pytest.approx(1, rel=1e-9)
    assert mean == pytest.approx(value, abs=1e-9 * mechanism.largest_report)
    assert square - value**2 == pytest.approx(float(mechanism.variance(value)), rel=1e-8)


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("value", VALUES)
def test_simulated_mean_and_variance(make, epsilon, value):
    mechanism, n = make(epsilon=epsilon), 100_000
    reports = mechanism.randomize(np.full(n, value), np.random.default_rng([int(epsilon * 10), int(value * 100) + 100]))
    variance = float(mechanism.variance(value))
    # 90 comparisons in 5 standard errors, that of the variance from the fourth moment: 5 in 10^5 runs raise an alarm.
    assert abs(mechanism.estimate_mean(reports) - value) < 5 * np.sqrt(variance / n)
    fourth = moments(mechanism, value, 4)[0] if value == 0 else np.mean((reports - value) ** 4)
    assert abs(np.mean((reports - value) ** 2) - variance) <= 5 * np.sqrt(max(fourth - variance**2, 0) / n) + 1e-9


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0.7, 3.0])
def test_reports_follow_their_likelihood(make, epsilon):
    mechanism, n, value = make(epsilon=epsilon), 200_000, 0.4
    reports = mechanism.randomize(np.full(n, value), np.random.default_rng(8))
    atoms = np.isin(reports, [-mechanism.law.atom, mechanism.law.atom]) & (mechanism.share < 1)
    bins = np.linspace(-mechanism.law.reach, mechanism.law.reach, 41)
    counts = np.histogram(reports[~atoms], bins)[0]
    fine = np.linspace(bins[0], bins[-1], 40 * 500 + 1)
    middles = (fine[1:] + fine[:-1]) / 2
    density = np.exp(mechanism.log_likelihood(middles, np.array([value]))[:, 0])
    expected = n * density.reshape(40, 500).mean(axis=1) * (bins[1] - bins[0])
    # Atoms and 40 bins within 5 standard errors, and one fine point at either end of the piece: 3 in 10^5 alarms.
    slack = n * density.max() * (fine[1] - fine[0]) * (mechanism.share > 0)
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected + 1) * (mechanism.share > 0) + slack).all()
    for atom in (-mechanism.law.atom, mechanism.law.atom):
        mass = n * np.exp(mechanism.log_likelihood([atom], [value])[0, 0]) if mechanism.share < 1 else 0
        assert abs(np.count_nonzero((reports == atom) & atoms) - mass) <= 5 * np.sqrt(mass)


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("epsilon", [1e-6, 0.2, 1.0, 6.0, 60.0, 700.0])
def test_no_ratio_of_likelihoods_exceeds_epsilon_and_some_reach_it(make, epsilon):
    mechanism = make(epsilon=epsilon)
    values = np.array([*np.linspace(-1, 1, 41), -1 + 1e-12, 1 / 3])
    reports = mechanism.randomize(np.repeat(values, 50), np.random.default_rng(2))
    reach = mechanism.largest_report
    logs = mechanism.log_likelihood(np.concatenate([reports, [-reach, reach]]), values)
    assert np.isfinite(logs).all()
    ratios = np.ptp(logs, axis=1)
    assert ratios.max() == pytest.approx(epsilon, rel=1e-9)
    # A blank report, which a missing value sends, is within epsilon of all.
    blank = mechanism.law.log_likelihood(reports[:, None], np.array([[np.nan]]))
    assert np.abs(logs[:-2] - blank).max() <= epsilon * (1 + 1e-9)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_best_guess_between_the_ends_reaches_its_advantage(make, epsilon):
    mechanism, n = make(epsilon=epsilon), 100_000
    truth = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    reports = mechanism.randomize(truth, np.random.default_rng(4))
    logs = mechanism.log_likelihood(reports, np.array([-1.0, 1.0]))
    advantages = []
    ties = np.random.default_rng(5).random(n) < 0.5
    for score in (logs[:, 1] - logs[:, 0], np.sign(reports)):
        guess = np.where((score > 0) | ((score == 0) & ties), 1.0, -1.0)
        advantages.append(2 * np.mean(guess == truth) - 1)
    # Standard error of at most .0032; 18 comparisons in 4.5 of them: 1 in 10^4 runs raises an alarm.
    assert advantages == pytest.approx([mechanism.advantage] * 2, abs=4.5 * 0.0032)
    assert mechanism.advantage <= np.tanh(epsilon / 2) + 1e-15
    # No guess does better: the total variation distance, by the densities on a fine grid and on the atoms.
    fine = np.linspace(-mechanism.law.reach, mechanism.law.reach, 200_001)
    both = np.exp(mechanism.log_likelihood(fine, np.array([-1.0, 1.0])))
    distance = np.abs(both[:, 0] - both[:, 1]).mean() * mechanism.law.reach
    if mechanism.share < 1:
        atoms = np.exp(mechanism.log_likelihood([mechanism.law.atom], [-1.0, 1.0]))
        distance += abs(atoms[0, 0] - atoms[0, 1])
    assert distance == pytest.approx(mechanism.advantage, abs=1e-3)


@pytest.mark.thorough
@pytest.mark.long_for("HybridMechanism", "PiecewiseMechanism")
@pytest.mark.parametrize("make", MECHANISMS)
def test_an_audit_catches_a_doubled_epsilon_and_comes_near_a_kept_one(make):
    # A correct mechanism fails with probability at most 0.001; the seed is fixed.
    broken = audit(subject(doubled(make)(epsilon=1.0)), runs=15_000, rng=np.random.default_rng(3))
    assert not broken.holds
    assert broken.bound > 1.5
    for epsilon in (0.5, 1.0, 4.0):
        honest = audit(subject(make(epsilon=epsilon)), runs=40_000, rng=np.random.default_rng(3))
        assert honest.holds
        assert honest.bound >= 0.75 * epsilon


@pytest.mark.thorough
def test_an_audit_catches_mechanisms_without_noise_of_one_kind():
    class NeverUniform(PiecewiseMechanism):
        def randomize(self, values, rng):
            law = self.law
            half = (law.reach - 1) / 2
            return np.asarray(values) * (law.reach + 1) / 2 + rng.uniform(-half, half, len(values))

    class NeverFlips(TwoPointMechanism):
        def randomize(self, values, rng):
            return np.where(rng.random(len(values)) < (1 + values) / 2, 1, -1) * self.law.atom

    for make in (NeverUniform, NeverFlips):
        result = audit(subject(make(epsilon=1.0)), runs=20_000, rng=np.random.default_rng(3))
        assert result.bound > 3


@pytest.mark.parametrize("make", MECHANISMS)
def test_blank_reports_have_mean_zero_and_their_likelihood(make):
    mechanism = make(epsilon=1.0)
    reports = mechanism.blank_reports(100_000, np.random.default_rng(6))
    assert abs(reports.mean()) < 5 * reports.std() / np.sqrt(100_000)  # 6 in 10^7 runs raise an alarm.
    assert np.abs(reports).max() <= mechanism.largest_report
    assert mechanism.blank_reports(0, np.random.default_rng(0)).shape == (0,)
    with pytest.raises(ValueError, match="n must be an integer"):
        mechanism.blank_reports(-1, np.random.default_rng(0))


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0, -1, np.nan, np.inf, 701, "1", True, None])
def test_epsilon_is_checked(make, epsilon):
    with pytest.raises(ValueError, match="epsilon must be a finite number in"):
        make(epsilon=epsilon)


@pytest.mark.parametrize("make", MECHANISMS)
def test_values_are_checked(make):
    mechanism, rng = make(epsilon=1.0), np.random.default_rng(0)
    for bad in ([0.0, 1.5], [0.0, np.nan], [0.0, np.inf], [0, -2]):
        with pytest.raises(ValueError, match=r"values must lie in \[-1, 1\]; row 1 does not"):
            mechanism.randomize(bad, rng)
    with pytest.raises(ValueError, match=r"one number a person, got shape \(2, 1\)"):
        mechanism.randomize([[0.0], [1.0]], rng)
    with pytest.raises(ValueError, match="values must be numbers"):
        mechanism.randomize(["a"], rng)
    assert mechanism.randomize([], rng).shape == (0,)
    assert mechanism.randomize([1], rng).shape == (1,)
    with pytest.raises(ValueError, match="reports are empty"):
        mechanism.estimate_mean([])
    with pytest.raises(ValueError, match="reports must be a one-dimensional array of numbers"):
        mechanism.estimate_mean([np.nan])
    with pytest.raises(ValueError, match="row 0 does not"):
        mechanism.variance(2.0)
    assert (mechanism.log_likelihood([mechanism.largest_report * 2], [0.0]) == -np.inf).all()


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("epsilon", [1e-6, 100.0, 700.0])
@pytest.mark.filterwarnings("error")
def test_extreme_epsilons_give_finite_numbers(make, epsilon):
    mechanism = make(epsilon=epsilon)
    values = np.linspace(-1, 1, 1001)
    reports = mechanism.randomize(values, np.random.default_rng(0))
    assert np.isfinite(reports).all()
    assert np.isfinite(mechanism.variance(values)).all()
    assert 0 < mechanism.advantage <= 1
    if epsilon >= 100 and make is not TwoPointMechanism:
        assert reports == pytest.approx(values, abs=1e-13)


def test_one_seed_gives_one_result_and_values_stay():
    values = np.linspace(-1, 1, 50)
    for make in MECHANISMS:
        first, second = (make(epsilon=1.0).randomize(values, np.random.default_rng(3)) for _ in range(2))
        assert (first == second).all()
    assert (values == np.linspace(-1, 1, 50)).all()
    assert HybridMechanism(epsilon=2.0).guarantee.epsilon == 2.0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("value", [-1.0, -0.25, 0.0, 0.8])
def test_density_range_and_variance_are_the_published_ones(epsilon, value):
    mechanism, root = PiecewiseMechanism(epsilon=epsilon), np.exp(epsilon / 2)
    c = (root + 1) / (root - 1)
    p = (np.exp(epsilon) - root) / (2 * root + 2)
    assert mechanism.largest_report == pytest.approx(c)
    left = (c + 1) / 2 * value - (c - 1) / 2
    right = left + c - 1
    reports = np.linspace(-c, c, 1001)
    # Points at an end of the piece are left out: the grid decides them.
    reports = reports[np.minimum(np.abs(reports - left), np.abs(reports - right)) > 1e-9]
    inside = (reports >= left) & (reports <= right)
    density = np.exp(mechanism.log_likelihood(reports, np.array([value]))[:, 0])
    np.testing.assert_allclose(density, np.where(inside, p, p / np.exp(epsilon)), rtol=1e-9)
    published = value**2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    assert float(mechanism.variance(value)) == pytest.approx(published)


def test_it_beats_two_points_in_the_worst_case_above_epsilon_1_29():
    for epsilon, better in ((0.5, False), (1.28, False), (1.3, True), (4.0, True)):
        piecewise = PiecewiseMechanism(epsilon=epsilon).variance([-1.0, 1.0, 0.0]).max()
        assert (piecewise < TwoPointMechanism(epsilon=epsilon).variance(0.0)) == better


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("value", [-1.0, 0.3])
def test_the_guess_of_a_report_is_within_the_piece_as_often_as_stated(epsilon, value):
    mechanism, n = PiecewiseMechanism(epsilon=epsilon), 100_000
    reports = mechanism.randomize(np.full(n, value), np.random.default_rng(9))
    guess = 2 * reports / (mechanism.largest_report + 1)
    rate = np.mean(np.abs(guess - value) <= np.exp(-epsilon / 2) + 1e-12)
    expected = np.exp(epsilon / 2) / (np.exp(epsilon / 2) + 1)
    # 6 comparisons in 4.5 standard errors: 4 in 10^5 runs raise an alarm.
    assert abs(rate - expected) < 4.5 * np.sqrt(expected * (1 - expected) / n)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("value", [-1.0, -0.25, 0.0, 0.8])
def test_reports_probabilities_and_variance_are_the_published_ones(epsilon, value):
    mechanism, odds = TwoPointMechanism(epsilon=epsilon), np.exp(epsilon)
    d = (odds + 1) / (odds - 1)
    reports = mechanism.randomize(np.full(1000, value), np.random.default_rng(0))
    assert np.unique(np.abs(reports)) == pytest.approx([d])
    up = (odds - 1) / (2 * odds + 2) * value + 0.5
    sent = np.unique(reports)
    assert sent.size == 2
    logs = mechanism.log_likelihood(sent, np.array([value]))[:, 0]
    assert np.exp(logs) == pytest.approx([1 - up, up])
    assert float(mechanism.variance(value)) == pytest.approx(d**2 - value**2)
    assert mechanism.advantage == pytest.approx((odds - 1) / (odds + 1))


def test_other_reports_are_impossible():
    assert (TwoPointMechanism(epsilon=1.0).log_likelihood([0.0, 0.5], [0.0, 1.0]) == -np.inf).all()


VALUES_HYBRID_MECHANISM = np.linspace(-1, 1, 21)


def test_the_threshold_is_the_published_one():
    roots = 405 * np.sqrt(241)
    published = np.log((-5 + 2 * np.cbrt(6353 - roots) + 2 * np.cbrt(6353 + roots)) / 27)
    assert pytest.approx(published, abs=1e-12) == HYBRID_THRESHOLD

    def excess(epsilon):
        x, d = np.exp(epsilon / 2), 1 / np.tanh(epsilon / 2)
        return (x + 3) / (3 * x * (x - 1)) + d**2 / x - d**2

    assert brentq(excess, 0.1, 2) == pytest.approx(HYBRID_THRESHOLD, abs=1e-10)


@pytest.mark.parametrize("epsilon", [0.1, 0.6, 0.62, 1.0, 5.0])
def test_share_and_variance_are_the_published_ones(epsilon):
    mechanism, x = HybridMechanism(epsilon=epsilon), np.exp(epsilon / 2)
    variance = mechanism.variance(VALUES_HYBRID_MECHANISM)
    if epsilon < HYBRID_THRESHOLD:
        assert mechanism.share == 0
        np.testing.assert_allclose(variance, TwoPointMechanism(epsilon=epsilon).variance(VALUES_HYBRID_MECHANISM))
        return
    assert mechanism.share == pytest.approx(1 - 1 / x)
    published = (x + 3) / (3 * x * (x - 1)) + (x**2 + 1) ** 2 / (x * (x**2 - 1) ** 2)
    np.testing.assert_allclose(variance, published)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.65, 1.0, 2.0, 8.0])
def test_its_worst_variance_is_least(epsilon):
    worst = [
        make(epsilon=epsilon).variance(VALUES_HYBRID_MECHANISM).max()
        for make in (HybridMechanism, PiecewiseMechanism, TwoPointMechanism)
    ]
    assert worst[0] <= min(worst[1:]) * (1 + 1e-12)


def test_atoms_are_read_as_atoms_and_other_reports_as_pieces():
    mechanism, n = HybridMechanism(epsilon=2.0), 50_000
    reports = mechanism.randomize(np.zeros(n), np.random.default_rng(3))
    atoms = mechanism.law.signs(reports) != 0
    # 5 standard errors: 6 in 10^7 runs raise an alarm.
    assert abs(atoms.mean() - (1 - mechanism.share)) < 5 * np.sqrt(mechanism.share * (1 - mechanism.share) / n)
    logs = mechanism.log_likelihood(reports, VALUES_HYBRID_MECHANISM)
    two, piecewise = TwoPointMechanism(epsilon=2.0), PiecewiseMechanism(epsilon=2.0)
    np.testing.assert_allclose(
        logs[atoms],
        two.log_likelihood(reports[atoms], VALUES_HYBRID_MECHANISM) + np.log1p(-mechanism.share),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        logs[~atoms],
        piecewise.log_likelihood(reports[~atoms], VALUES_HYBRID_MECHANISM) + np.log(mechanism.share),
        atol=1e-12,
    )


def test_at_the_threshold_no_report_is_piecewise():
    assert HybridMechanism(epsilon=HYBRID_THRESHOLD).share == 0
    above = np.nextafter(HYBRID_THRESHOLD, 1)
    assert HybridMechanism(epsilon=above).share == pytest.approx(-np.expm1(-above / 2))
