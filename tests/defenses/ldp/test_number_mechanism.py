"""What the three mechanisms for numbers share: likelihood, mean, variance, privacy, attack, audit and bad input."""

from functools import cached_property

import numpy as np
import pytest
from number_tools import MECHANISMS, moments

from defenses.base.number_law import NumberLaw
from defenses.ldp import HybridMechanism, PiecewiseMechanism, TwoPointMechanism
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
