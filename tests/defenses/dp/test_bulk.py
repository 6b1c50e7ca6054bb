"""Mechanisms that can be drawn in bulk: the mark on `release`, and equal laws of both ways of drawing.

Statistical tests have fixed seeds; the false-alarm probability of each is 1 in 10,000 seeds. Single draws are slow:
2,000 of them and 6,000 drawn in bulk tell laws apart as well as two samples of 3,000 do (equal 1 / (1/m + 1/n)).
"""

import numpy as np
import pytest
from chance_tools import ALARM, rng
from scipy.stats import chi2_contingency

from defenses.dp import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    RandomizedResponse,
    ReportNoisyMax,
    drawn_in_bulk,
)
from defenses.dp.mechanism import draws_in_bulk

SINGLE, BULK = 2000, 6000


class Marked(DiscreteLaplace):
    """Decorates its own `release`."""

    @drawn_in_bulk
    def release(self, value, rng):
        return super().release(value, rng)


class Unmarked(Marked):
    """Overrides a decorated `release`."""

    def release(self, value, rng):
        return 0


class Inherited(Marked):
    """Leaves `release` as it is."""


def test_the_mark_belongs_to_the_method():
    assert draws_in_bulk(Marked())
    assert draws_in_bulk(Inherited())
    assert not draws_in_bulk(Unmarked())
    assert draws_in_bulk(Exponential())
    assert not draws_in_bulk(RandomizedResponse())


def test_the_decorated_method_is_the_method_itself():
    def release(self, value, rng):
        return value

    assert drawn_in_bulk(release) is release
    assert draws_in_bulk(type("Mechanism", (), {"release": release})())
    with pytest.raises(AttributeError, match="release"):
        draws_in_bulk(object())


def alike(first, second):
    """P-value of the chi-square test that two samples of integers have one law; rare values are pooled."""
    values, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    table = np.stack([np.bincount(part, minlength=values.size) for part in np.split(codes, [len(first)])])
    # Values of which both samples should have 10.
    often = table.sum(axis=0) * table.sum(axis=1).min() >= 10 * table.sum()
    pooled = np.column_stack([table[:, often], table[:, ~often].sum(axis=1)])
    return chi2_contingency(pooled[:, pooled.sum(axis=0) > 0]).pvalue


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("mechanism", [DiscreteLaplace(epsilon=0.8), DiscreteGaussian(epsilon=2.0, delta=1e-3)])
def test_noise_drawn_in_bulk_has_the_law_of_release(mechanism):
    assert draws_in_bulk(mechanism)
    generator = rng(40)
    single = np.array([mechanism.release(7, generator) for _ in range(SINGLE)]) - 7
    assert alike(single, mechanism.sample(BULK, rng(41))) > ALARM
    assert alike(single, 2 * mechanism.sample(BULK, rng(41))) < ALARM


@pytest.mark.thorough
@pytest.mark.parametrize("mechanism", [Exponential(epsilon=1.5), ReportNoisyMax(epsilon=1.5)])
def test_selections_drawn_in_bulk_have_the_law_of_release(mechanism):
    scores, generator = [0.0, 1.0, 2.0, 1.5], rng(42)
    single = np.array([mechanism.release(scores, generator) for _ in range(SINGLE)])
    assert alike(single, mechanism.repeated(scores, BULK, rng(43))) > ALARM
    assert alike(single, mechanism.repeated(scores[::-1], BULK, rng(43))) < ALARM
