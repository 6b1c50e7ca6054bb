"""Every mechanism of central differential privacy: refusals, guarantees, variances, tail bounds.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds.
"""

import math
from functools import cache

import numpy as np
import pytest
from chance_tools import ALARM, rng
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
    with pytest.raises(ValueError, match="confidence must be a number above 0 and below 1"):
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


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("mechanism", "law"), [(Laplace, "laplace"), (Gaussian, "norm")])
def test_lattice_noise_is_near_the_continuous_law(mechanism, law):
    noise = mechanism(epsilon=0.7, sensitivity=3.0)
    scale = 3.0 / 0.7 if law == "laplace" else noise.sigma
    assert stats.kstest(noise.sample(100_000, rng(13)) / scale, law).pvalue > ALARM


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize("mechanism", NOISE)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_variance_and_bias_are_those_stated(mechanism, epsilon):
    noise = mechanism(epsilon=epsilon)
    drawn = noise.sample(100_000, rng(14)).astype(float)
    spread = math.sqrt(np.var(drawn**2) / drawn.size)
    # Normal deviations of 4.5 standard errors: a false alarm in 150,000.
    assert abs(np.mean(drawn**2) - noise.variance) < 4.5 * spread
    assert abs(drawn.mean() - noise.bias) < 4.5 * math.sqrt(noise.variance / drawn.size)


@cache
def noise_and_errors(mechanism):
    """A mechanism and absolute values of its noise."""
    noise = mechanism(epsilon=0.8, sensitivity=2)
    return noise, np.abs(noise.sample(200_000, rng(15)))


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("mechanism", NOISE)
@pytest.mark.parametrize("confidence", [0.2, 0.5, 0.9, 0.95, 0.999])
def test_tail_bounds_hold_at_their_rate(mechanism, confidence):
    noise, errors = noise_and_errors(mechanism)
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
