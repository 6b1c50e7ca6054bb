"""Mechanisms of central differential privacy: their laws, bounds and refusals.

Statistical tests have fixed seeds; unless said otherwise each raises a false alarm once in 10,000 seeds.
"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng
from scipy import stats

from defenses.dp import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    RandomizedResponse,
    ReportNoisyMax,
    SparseVector,
    Staircase,
)
from defenses.dp.continuous_gaussian import gaussian_delta, unit_sigma
from defenses.dp.discrete_gaussian_calibration import discrete_gaussian_delta
from defenses.dp.exact import ExponentialChance, GeometricDigit, LogisticChance, categories, geometric, settle_below

NOISE = [DiscreteLaplace, Laplace, Staircase, DiscreteGaussian, Gaussian]
ALL = [*NOISE, Exponential, ReportNoisyMax, SparseVector, RandomizedResponse]
BAD = [0, 0.0, -1.0, math.nan, math.inf, -math.inf, "1", True, None, 10**400, np.complex128(1)]


@pytest.mark.parametrize("mechanism", ALL)
@pytest.mark.parametrize("bad", [*BAD, 10**30])
def test_bad_epsilon_is_refused(mechanism, bad):
    with pytest.raises(ValueError, match="epsilon"):
        mechanism(epsilon=bad)


@pytest.mark.parametrize("mechanism", [m for m in ALL if m is not RandomizedResponse])
@pytest.mark.parametrize("bad", BAD)
def test_bad_sensitivity_is_refused(mechanism, bad):
    with pytest.raises(ValueError, match="sensitivity"):
        mechanism(sensitivity=bad)


@pytest.mark.parametrize("mechanism", [DiscreteGaussian, Gaussian])
@pytest.mark.parametrize("bad", [*BAD, 1.0, 1.5])
def test_bad_delta_is_refused(mechanism, bad):
    with pytest.raises(ValueError, match="delta"):
        mechanism(delta=bad)


@pytest.mark.parametrize("mechanism", NOISE)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "3", None, True, 1 + 1j])
def test_what_cannot_be_protected_is_refused_before_anything_is_drawn(mechanism, bad):
    generator = rng(1)
    before = generator.bit_generator.state
    with pytest.raises(ValueError, match=r"^value must") as refusal:
        mechanism().release(bad, generator)
    assert generator.bit_generator.state == before
    assert str(bad) not in str(refusal.value)


@pytest.mark.parametrize("mechanism", [DiscreteLaplace, Laplace, DiscreteGaussian])
def test_one_bad_value_refuses_the_array(mechanism):
    with pytest.raises(ValueError, match="value"):
        mechanism().release([1.0, math.nan], rng(1))


@pytest.mark.parametrize("mechanism", [DiscreteLaplace, DiscreteGaussian])
def test_fractions_are_no_integers(mechanism):
    with pytest.raises(ValueError, match="integers"):
        mechanism().release(1.5, rng(1))


@pytest.mark.parametrize("mechanism", [Staircase, Gaussian])
def test_single_number_mechanisms_refuse_arrays(mechanism):
    with pytest.raises(ValueError, match="single"):
        mechanism().release([1.0, 2.0], rng(1))


@pytest.mark.parametrize("mechanism", NOISE)
@pytest.mark.parametrize("bad", [0, 1, -0.1, math.nan, "x"])
def test_bad_confidence_is_refused(mechanism, bad):
    with pytest.raises(ValueError, match="confidence"):
        mechanism().error_bound(bad)


@pytest.mark.parametrize("mechanism", NOISE)
@pytest.mark.parametrize("bad", [-1, 1.5, math.nan, True])
def test_bad_sizes_are_refused(mechanism, bad):
    with pytest.raises(ValueError, match="size"):
        mechanism().sample(bad, rng(1))


@pytest.mark.parametrize("mechanism", ALL)
def test_guarantees_are_stated(mechanism):
    guarantee = mechanism(epsilon=0.5).guarantee
    assert guarantee.epsilon == 0.5
    assert guarantee.delta == (1e-6 if mechanism in (DiscreteGaussian, Gaussian) else 0)
    assert "neighbours" in guarantee.statement


@pytest.mark.parametrize("mechanism", NOISE)
def test_same_seed_same_noise(mechanism):
    first, second = (mechanism().sample(50, rng(3)) for _ in range(2))
    assert (first == second).all()
    assert mechanism().release(7, rng(4)) == mechanism().release(7, rng(4))
    assert mechanism().sample(0, rng(5)).shape == (0,)


# The laws


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0])
def test_discrete_laplace_follows_its_law(epsilon):
    mechanism = DiscreteLaplace(epsilon=epsilon, sensitivity=1)
    drawn = mechanism.sample(300_000, rng(10))
    width = int(mechanism.error_bound(1 - 1e-4))
    values = np.arange(-width, width + 1)
    observed = np.bincount(np.clip(drawn, -width - 1, width + 1) + width + 1, minlength=2 * width + 3)
    inside = mechanism.probability(values)
    rest = (1 - inside.sum()) / 2
    assert chi_square(observed, np.concatenate([[rest], inside, [rest]])) > ALARM


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_discrete_gaussian_follows_its_law(epsilon):
    mechanism = DiscreteGaussian(epsilon=epsilon, delta=1e-5)
    drawn = mechanism.sample(300_000, rng(11))
    width = int(6 * mechanism.sigma) + 2
    observed = np.bincount(np.clip(drawn, -width, width) + width, minlength=2 * width + 1)
    assert chi_square(observed, mechanism.probability(np.arange(-width, width + 1))) > ALARM


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
def test_staircase_follows_its_law(epsilon):
    mechanism = Staircase(epsilon=epsilon)
    steps = np.rint(mechanism.sample(300_000, rng(12)) / mechanism.resolution).astype(int)
    s, m = mechanism.steps
    q = math.exp(-epsilon)
    # Cells: sign, stair and part; within a part places are even.
    stair, second = np.abs(steps) // s, np.abs(steps) % s >= m
    most = 80
    cell = np.minimum(stair, most) * 4 + second * 2 + (steps < 0)
    total = 2 * (m + (s - m) * q) / (1 - q) - 1
    weight = np.array([[q**k * m, q**k * m, q ** (k + 1) * (s - m), q ** (k + 1) * (s - m)] for k in range(most + 1)])
    weight[-1] /= 1 - q
    probabilities = weight.ravel() / total
    assert chi_square(np.bincount(cell, minlength=4 * most + 4), probabilities) > ALARM
    first = np.abs(steps)[(stair == 0) & ~second]
    assert stats.kstest(first / m, "uniform").pvalue > ALARM


@pytest.mark.parametrize(("mechanism", "law"), [(Laplace, "laplace"), (Gaussian, "norm")])
def test_lattice_noise_is_near_the_continuous_law(mechanism, law):
    noise = mechanism(epsilon=0.7, sensitivity=3.0)
    scale = 3.0 / 0.7 if law == "laplace" else noise.sigma
    assert stats.kstest(noise.sample(200_000, rng(13)) / scale, law).pvalue > ALARM


@pytest.mark.parametrize("mechanism", NOISE)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_variance_and_bias_are_those_stated(mechanism, epsilon):
    noise = mechanism(epsilon=epsilon)
    drawn = noise.sample(400_000, rng(14)).astype(float)
    spread = math.sqrt(np.var(drawn**2) / drawn.size)
    # Normal deviations of 4.5 standard errors: a false alarm in 150,000.
    assert abs(np.mean(drawn**2) - noise.variance) < 4.5 * spread
    assert abs(drawn.mean() - noise.bias) < 4.5 * math.sqrt(noise.variance / drawn.size)


@pytest.mark.parametrize("mechanism", NOISE)
@pytest.mark.parametrize("confidence", [0.2, 0.5, 0.9, 0.95, 0.999])
def test_tail_bounds_hold_at_their_rate(mechanism, confidence):
    noise = mechanism(epsilon=0.8, sensitivity=2)
    errors = np.abs(noise.sample(200_000, rng(15)))
    allowed = stats.binom.isf(ALARM, errors.size, 1 - confidence)
    assert (errors > noise.error_bound(confidence)).sum() <= allowed
    # And they say something: nine tenths of the bound do not hold at that rate.
    if confidence >= 0.5:
        less = 0.9 * noise.error_bound(confidence) - (mechanism in (DiscreteLaplace, DiscreteGaussian))
        assert (errors > less).mean() > 1 - confidence


@pytest.mark.parametrize("sensitivity", [0.001, 1.0, 37.5])
@pytest.mark.parametrize("mechanism", [Laplace, Staircase, Gaussian])
def test_released_numbers_lie_on_the_lattice(mechanism, sensitivity):
    noise = mechanism(epsilon=0.5, sensitivity=sensitivity)
    released = np.array([noise.release(x, rng(16, i)) for i, x in enumerate((0.0, math.pi, -1e6, 1e300))])
    assert math.log2(noise.resolution).is_integer()
    assert noise.resolution <= sensitivity * 2.0**-20
    assert np.isfinite(released).all()
    assert (released[:3] / noise.resolution == np.rint(released[:3] / noise.resolution)).all()


def test_textbook_noise_gives_values_away_and_lattice_noise_does_not():
    # Released doubles that value 0 can give and value 1 cannot: those with bits below 2^-53.
    def fine(numbers):
        return (numbers * 2.0**53 != np.rint(numbers * 2.0**53)).mean()

    textbook = rng(17).laplace(size=100_000)
    assert fine(textbook) > 0.01
    assert fine(1.0 + textbook) == 0
    noise = Laplace(epsilon=1.0)
    assert fine(noise.sample(100_000, rng(17))) == 0


# Privacy, from the laws themselves


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_discrete_laplace_keeps_its_epsilon_and_spends_it(epsilon, sensitivity):
    noise = DiscreteLaplace(epsilon=epsilon, sensitivity=sensitivity)
    at = np.arange(-40, 41)
    loss = np.log(noise.probability(at) / noise.probability(at - sensitivity))
    assert np.abs(loss).max() == pytest.approx(epsilon)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_staircase_keeps_its_epsilon_and_spends_it(epsilon):
    noise = Staircase(epsilon=epsilon)
    s, _ = noise.steps
    at = rng(18).integers(-5 * s, 5 * s, 20_000)
    for shift in (1, s // 3, s):
        loss = np.log(noise.probability(at) / noise.probability(at - shift))
        assert np.abs(loss).max() <= epsilon + 1e-9
    assert np.abs(loss).max() == pytest.approx(epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 1e-3), (1.0, 1e-5), (4.0, 1e-8)])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_discrete_gaussian_keeps_its_delta(epsilon, delta, sensitivity):
    noise = DiscreteGaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    at = np.arange(-int(30 * noise.sigma) - 10, int(30 * noise.sigma) + 10)
    for shift in range(1, sensitivity + 1):
        exceeds = noise.probability(at - shift) - math.exp(epsilon) * noise.probability(at)
        assert np.maximum(exceeds, 0).sum() <= delta
    # Not by throwing accuracy away: sigma is near the least of Gaussian noise.
    assert gaussian_delta(noise.sigma / 1.08, epsilon, sensitivity) > delta


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("delta", [0.01, 1e-6])
def test_discrete_gaussian_agrees_with_privacy_loss_distributions(epsilon, delta):
    from dp_accounting.pld import privacy_loss_mechanism

    noise = DiscreteGaussian(epsilon=epsilon, delta=delta)
    peer = privacy_loss_mechanism.DiscreteGaussianPrivacyLoss(noise.sigma, sensitivity=1)
    assert peer.get_delta_for_epsilon(epsilon) == pytest.approx(discrete_gaussian_delta(noise.sigma, epsilon), rel=1e-6)
    assert discrete_gaussian_delta(noise.sigma, epsilon) <= delta
    if noise.sigma < 20:
        assert discrete_gaussian_delta(noise.sigma, epsilon) > 0.98 * delta


@pytest.mark.parametrize(("squared", "differences"), [(2, [(1, 1)]), (3, [(1, 1, 1)]), (4, [(2,), (1, 1, 1, 1)])])
def test_arrays_of_discrete_gaussians_keep_their_delta(squared, differences):
    for epsilon, delta in ((0.5, 1e-3), (4.0, 1e-2), (2.0, 1e-9)):
        noise = DiscreteGaussian(epsilon=epsilon, delta=delta, sensitivity=math.sqrt(squared))
        for difference in [(1,), *differences]:
            assert discrete_gaussian_delta(noise.sigma, epsilon, difference) <= delta
        assert noise.sigma <= 1.06 * math.sqrt(squared) * unit_sigma(epsilon, delta) + 0.05


def test_delta_of_two_numbers_is_that_of_every_pair_of_noises():
    sigma, epsilon = 1.3, 0.7
    at = np.arange(-20, 21)
    law = np.exp(-((at / sigma) ** 2) / 2)
    law /= law.sum()
    first, second = np.meshgrid(at, at)
    loss = (2 - 2 * (first + second)) / (2 * sigma**2)
    expected = (np.outer(law, law) * np.maximum(0, 1 - np.exp(epsilon - loss))).sum()
    assert discrete_gaussian_delta(sigma, epsilon, (1, 1)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("sensitivity", [math.sqrt(5), 3.0, 7.0, 40.0])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (4.0, 1e-2), (2.0, 1e-9)])
def test_longer_differences_keep_their_delta_by_the_rounding_argument(sensitivity, epsilon, delta):
    sigma = DiscreteGaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity).sigma
    most = math.floor(sensitivity)
    for difference in ((most,), (2, 1)) if sensitivity < 3 else ((most,),):
        assert discrete_gaussian_delta(sigma, epsilon, difference) <= delta


@pytest.mark.parametrize(("epsilon", "delta"), [(2.0**-20, 0.5), (2.0**20, 1e-6), (1.0, 1e-310), (1.0, 1 - 1e-9)])
def test_discrete_gaussian_at_extremes(epsilon, delta):
    sigma = DiscreteGaussian(epsilon=epsilon, delta=delta).sigma
    assert 0 < sigma < math.inf
    if sigma < 20:
        assert discrete_gaussian_delta(sigma, epsilon) <= delta


def test_gaussian_keeps_its_delta_on_the_lattice():
    noise = Gaussian(epsilon=1.0, delta=1e-5)
    sigma, step = noise.sigma, noise.resolution
    moved = math.ceil(1.0 / step) + 1
    # Every lattice point at which the loss exceeds epsilon, out to 10 standard deviations.
    start = math.floor(sigma**2 / (moved * step**2) - moved / 2) - 2
    total = 0.0
    for low in range(start, int(10 * sigma / step), 4_000_000):
        at = np.arange(low, low + 4_000_000, dtype=float) * step
        p = stats.norm.pdf(at, 0, sigma) * step
        q = stats.norm.pdf(at + moved * step, 0, sigma) * step
        total += np.maximum(p - math.e * q, 0).sum()
    assert 0.99 * 1e-5 < total <= 1e-5
    assert gaussian_delta(sigma * 0.999, 1.0) > 0.99e-5


def test_analytic_gaussian_needs_less_noise_than_the_classical_formula():
    assert Gaussian(epsilon=0.9, delta=1e-5).sigma < 0.8 * math.sqrt(2 * math.log(1.25e5)) / 0.9
    assert Gaussian(epsilon=1.0, delta=1e-5).sigma == pytest.approx(3.7306, abs=0.002)


# Exactness


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(5), Fraction(1, 2**40), Fraction(2**20), Fraction(0.1)])
def test_bits_of_thresholds_do_not_depend_on_how_many_are_asked_for(rate):
    for thresholds in (
        GeometricDigit(rate, 256),
        GeometricDigit(rate, None),
        LogisticChance(rate, Fraction(1), Fraction(3)),
    ):
        count = 1 if isinstance(thresholds, LogisticChance) else 40
        coarse, fine = thresholds.floors(count, 64), thresholds.floors(count, 320)
        assert coarse == [value >> 256 for value in fine]
        assert coarse == sorted(coarse)


def test_thresholds_are_those_of_their_formulas():
    digit = GeometricDigit(Fraction(1, 100), 256).floors(255, 64)
    formula = -np.expm1(-0.01 * np.arange(1, 256)) / -np.expm1(-2.56)
    assert np.allclose(np.array(digit, dtype=float) / 2**64, formula, rtol=1e-14)
    # e^-1 to 64 bits, from its series.
    series = sum((Fraction((-1) ** k, math.factorial(k)) for k in range(60)), Fraction(0))
    assert ExponentialChance(Fraction(1)).floors(1, 64) == [math.floor(series * 2**64)]
    assert Decimal(LogisticChance(Fraction(1), Fraction(1), Fraction(1)).floors(1, 64)[0]) / 2**64 == pytest.approx(
        Decimal(1 / (1 + math.exp(-1)))
    )


class Scripted:
    """A generator whose words are given."""

    def __init__(self, *words):
        self.words = list(words)

    def integers(self, low, high, size, dtype, endpoint):
        assert (low, high, dtype, endpoint) == (0, 2**64 - 1, np.uint64, True)
        drawn, self.words = self.words[:size], self.words[size:]
        return np.array(drawn, dtype=np.uint64)


@pytest.mark.parametrize("place", [0, 7, 254])
def test_a_word_equal_to_a_threshold_is_settled_by_further_bits(place):
    digit = GeometricDigit(Fraction(1, 100), 256)
    word = digit.floors(255, 64)[place]
    following = digit.floors(255, 128)[place] - (word << 64)
    assert categories(digit, 1, Scripted(word, 0))[0] == place
    assert categories(digit, 1, Scripted(word, 2**64 - 1))[0] == place + 1
    third = digit.floors(255, 192)[place] % 2**64
    assert categories(digit, 1, Scripted(word, following, third - 1))[0] == place
    assert categories(digit, 1, Scripted(word, following, third + 1))[0] == place + 1
    assert categories(digit, 1, Scripted(word - 1))[0] == place
    assert categories(digit, 1, Scripted(word + 1))[0] == place + 1


def test_words_of_ones_give_numbers_beyond_the_table():
    endless = GeometricDigit(Fraction(1), None)
    # u = 1 - 2^-128 and more: about 128 ln 2 = 88 categories up.
    assert categories(endless, 1, Scripted(2**64 - 1, 2**64 - 1, 0))[0] == math.floor(128 * math.log(2))
    assert geometric(Fraction(1, 1000), 1, Scripted(0, 0, 0))[0] == 0
    chance = ExponentialChance(Fraction(1))
    assert settle_below(chance, chance.floors(1, 64)[0], Scripted(0))
    assert not settle_below(chance, chance.floors(1, 64)[0], Scripted(2**64 - 1))


# The lecture's figures, corrected


@pytest.mark.parametrize(("n", "bound"), [(100, 29.96), (100_000, 0.030)])
def test_mean_age_of_the_lecture(n, bound):
    assert Laplace(epsilon=0.1, sensitivity=100 / n).error_bound(0.95) == pytest.approx(bound, abs=0.005)


def test_maximum_age_of_the_lecture():
    assert Laplace(epsilon=0.1, sensitivity=100).error_bound(0.95) == pytest.approx(2995.7, abs=0.05)


def test_mode_of_the_lecture():
    mechanism = Exponential(epsilon=0.1, sensitivity=1)
    assert mechanism.error_bound(1 - math.exp(-3), options=4) == pytest.approx(87.7, abs=0.05)
    # The second category is not chosen with 5 % but with 1.2 %.
    second = mechanism.probabilities([40_000, 39_912, 10_088, 10_000])[1]
    assert second == pytest.approx(0.012, abs=0.0005)
