"""The channel parts of additive noise and of group means."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from channel_tools import LEVEL, chi_square, one_column
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from defenses.base.channel_parts import AddedNoise, GroupMean
from defenses.base.microdata import Microdata
from defenses.perturbation.additive_noise import AdditiveNoise
from metrics.columns.domains import NumericDomain


@pytest.mark.parametrize("distribution", ["gaussian", "laplace"])
def test_rounded_noise_has_the_published_law(distribution):
    domain = NumericDomain(0, 12, True)
    frame = pd.DataFrame({"x": np.tile([0, 3, 7, 12], 10_000)})
    records = Microdata(frame, quasi_identifiers=("x",), domains={"x": domain})
    defense = AdditiveNoise(scale=0.8, distribution=distribution)
    release = defense.apply(records, np.random.default_rng(1))
    probability = np.exp(one_column(release.channel.parts[0], np.arange(13), [0, 3, 7, 12]).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1, rtol=1e-12)
    for column, value in enumerate([0, 3, 7, 12]):
        seen = np.bincount(release.frame["x"][frame["x"] == value], minlength=13)
        assert chi_square(seen, 10_000 * probability[:, column]) > LEVEL


@pytest.mark.parametrize("distribution", ["gaussian", "laplace"])
def test_unrounded_noise_has_the_published_law(distribution):
    domain = NumericDomain(-2.0, 3.0)
    frame = pd.DataFrame({"x": np.repeat([-1.5, 0.25, 2.0], 10_000)})
    records = Microdata(frame, quasi_identifiers=("x",), domains={"x": domain})
    release = AdditiveNoise(scale=0.7, distribution=distribution).apply(records, np.random.default_rng(2))
    part = release.channel.parts[0]
    edges = np.linspace(-2, 3, 11)
    for value in (-1.5, 0.25, 2.0):

        def density(y, value=value):
            return np.exp(one_column(part, y, [value]).table())[:, 0]

        # Twenty nodes are exact to twelve digits where the density has no kink.
        inside = [
            sum(integrate.fixed_quad(density, *piece, n=20)[0] for piece in pairwise(np.unique([a, *kink, b])))
            for a, b in pairwise(edges)
            for kink in [[value] if a < value < b else []]
        ]
        low, high = density([-2.0, 3.0])
        probability = np.array([low, *inside, high])
        assert probability.sum() == pytest.approx(1, abs=1e-6)
        released = release.frame["x"][frame["x"] == value].to_numpy()
        within = released[(released > -2) & (released < 3)]
        seen = np.array([(released == -2).sum(), *np.histogram(within, edges)[0], (released == 3).sum()])
        assert chi_square(seen, 10_000 * probability / probability.sum()) > LEVEL


def test_noise_keeps_its_digits_far_out():
    part = AddedNoise("x", "gaussian", 1.0, True, -np.inf, np.inf)
    table = one_column(part, [0.0, 30.0, -30.0, 1e6], [0.0]).table()[:, 0]
    # P(30 after rounding) is the upper tail beyond 29.5 less that beyond 30.5.
    expected = stats.norm.logsf(29.5) + np.log1p(-np.exp(stats.norm.logsf(30.5) - stats.norm.logsf(29.5)))
    assert table[1] == pytest.approx(expected, rel=1e-12)
    assert table[2] == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(table[3])
    laplace = AddedNoise("x", "laplace", 2.0, False, 0.0, 10.0)
    table = one_column(laplace, [0.0, 4.0, 10.0], [5.0, 0.0]).table()
    reference = stats.laplace(5.0, np.sqrt(2))
    assert table[:, 0] == pytest.approx([reference.logcdf(0), reference.logpdf(4), reference.logsf(10)])


def test_noise_admits_nothing_off_its_grid_or_bounds():
    part = AddedNoise("x", "gaussian", 3.0, True, 0.0, 10.0)
    table = one_column(part, [3.5, 11.0, -1.0, np.nan, 3.0], [4.0, np.nan]).table()
    assert (table[:3] == -np.inf).all()
    assert table[3].tolist() == [-np.inf, 0.0]
    assert table[4, 1] == -np.inf
    with pytest.raises(ValueError, match="distribution"):
        AddedNoise("x", "uniform", 1.0, True, 0.0, 1.0)
    with pytest.raises(ValueError, match="deviation"):
        AddedNoise("x", "laplace", np.nan, True, 0.0, 1.0)


@pytest.mark.thorough
@given(
    st.integers(-50, 50),
    st.floats(0.01, 50),
    st.sampled_from(["gaussian", "laplace"]),
    st.integers(-40, 0),
    st.integers(1, 40),
)
@settings(max_examples=60, deadline=None)
def test_rounded_noise_sums_to_one(value, deviation, distribution, low, high):
    part = AddedNoise("x", distribution, deviation, True, float(low), float(high))
    table = one_column(part, np.arange(low, high + 1), [float(value)]).table()
    assert np.exp(table).sum() == pytest.approx(1, rel=1e-9)


def test_group_mean_is_a_normal_density():
    released, original = np.array([1.0, 2.5, np.nan]), np.array([0.0, 2.0, np.nan])
    table = one_column(GroupMean("x", NumericDomain(0, 5), 1.5), released, original).table()
    expected = stats.norm.logpdf(released[:2, None], original[None, :2], 1.5)
    np.testing.assert_allclose(table[:2, :2], expected)
    assert table[2].tolist() == [-np.inf, -np.inf, 0.0]
    exact = one_column(GroupMean("x", NumericDomain(0, 5), 0.0), [2.0], [2.0, 2.1]).table()
    assert exact.tolist() == [[0.0, -np.inf]]
