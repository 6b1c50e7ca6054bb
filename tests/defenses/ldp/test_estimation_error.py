"""Estimates are unbiased, and their mean squared error equals the theoretical variance.

A case runs S surveys of the same persons, with fresh randomness and hash functions in each. It takes the mean over
surveys and values of squared error / variance. For Gaussian errors its standard error is about sqrt(2/(S d)), at most
0.0102 in the tests of one epsilon and 0.0063 in the long ones. So the limits .95 and 1.05 are at least 4.9 standard
errors away, and a case has a false-alarm probability of 10^-6. The bias is tested by the sum over values of squared
mean errors. In standard units it is chi-square with d degrees of freedom, and tested at 10^-7 a case.
"""

import numpy as np
import pytest
from scipy.stats import chi2

from defenses.ldp import (
    BinaryRandomizedResponse,
    CountMeanSketch,
    GeneralizedRandomizedResponse,
    HadamardCountMeanSketch,
    SequenceFragmentPuzzle,
    SummationHistogramEncoding,
)
from defenses.ldp.best import CANDIDATES
from defenses.ldp.encoding.hashing import buckets
from defenses.ldp.local_hashing import LocalHashing

LETTERS = "abcdefghijklmnopqrstuvwxyz123456"
SKETCH = {"m": 64, "k": 32}


def protocol_of(make, epsilon, d, survey):
    """Return the protocol with fresh public hash functions for each survey."""
    if make is BinaryRandomizedResponse:
        return make(epsilon=epsilon)
    if make is SequenceFragmentPuzzle:
        words = {"letters": LETTERS[:2], "length": 7} if d == 128 else {"letters": LETTERS, "length": 2}
        return make(epsilon=epsilon, fragment=1, hash_seed=2 * survey, **words, **SKETCH)
    if "hash_seed" in make.parameter_names():
        return make(epsilon=epsilon, d=d, hash_seed=survey, **SKETCH)
    return make(epsilon=epsilon, d=d)


def errors(make, epsilon, d, surveys, n):
    """Return the errors of every survey and value in standard units, shape (surveys, d)."""
    rng = np.random.default_rng([d, int(10 * epsilon)])
    values = rng.choice(d, n, p=rng.dirichlet(np.full(d, 0.3)))
    counts = np.bincount(values, minlength=d)
    deviation = np.sqrt(protocol_of(make, epsilon, d, 0).variance(n, counts / n))
    result = np.empty((surveys, d))
    for survey, each in enumerate(rng.spawn(surveys)):
        protocol = protocol_of(make, epsilon, d, survey)
        assert protocol.d == d
        result[survey] = (protocol.estimate(protocol.privatize(values, each)) - counts) / deviation
    return result


def check(units):
    surveys, d = units.shape
    assert 0.95 <= np.square(units).mean() <= 1.05
    assert np.square(units.mean(axis=0)).sum() * surveys <= chi2.isf(1e-7, d)


MAKERS = [*CANDIDATES, SequenceFragmentPuzzle]


@pytest.mark.parametrize(
    ("make", "d", "surveys"),
    [
        # A report of summed histograms has a number for each of d values, which takes long to draw.
        pytest.param(
            make, d, surveys, marks=pytest.mark.long if (make, d) == (SummationHistogramEncoding, 1024) else ()
        )
        for make in MAKERS
        for d, surveys in ((128, 150), (1024, 25))
    ],
)
def test_error_is_as_theory_says(make, d, surveys):
    check(errors(make, 1.0, d, surveys, 1000))


@pytest.mark.long
@pytest.mark.parametrize(("d", "surveys"), [(128, 400), (1024, 60)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_error_is_as_theory_says_in_more_surveys(make, epsilon, d, surveys):
    check(errors(make, epsilon, d, surveys, 5000))


@pytest.mark.long
@pytest.mark.parametrize(
    ("epsilon", "surveys"),
    [(1.0, 3000), *(pytest.param(epsilon, 20_000, marks=pytest.mark.long) for epsilon in (0.5, 1.0, 4.0))],
)
def test_error_of_two_values(epsilon, surveys):
    # Both errors of a survey are one number: the standard error is 0.01 from 20,000 surveys and 0.026 from 3000.
    units = errors(BinaryRandomizedResponse, epsilon, 2, surveys, 300)
    assert abs(np.square(units).mean() - 1) <= 5 * np.sqrt(2 / surveys)
    assert abs(units[:, 0].mean()) <= 5.3 / np.sqrt(surveys)


@pytest.mark.long
@pytest.mark.parametrize("make", [CountMeanSketch, HadamardCountMeanSketch])
def test_error_of_sketches_whose_collisions_matter(make):
    # 20,000 persons on 8 functions of 16 columns: collisions of shared functions make 4 in 5 parts of the variance.
    n, d, surveys = 20_000, 32, 3000
    shares = 1 / np.arange(1, d + 1)
    counts = np.floor(n * shares / shares.sum()).astype(int)
    values = np.repeat(np.arange(d), counts)
    shares = counts / counts.sum()
    squares = np.empty(surveys)
    for survey in range(surveys):
        protocol = make(epsilon=4.0, d=d, m=16, k=8, hash_seed=survey)
        estimate = protocol.estimate(protocol.privatize(values, np.random.default_rng(survey)))
        squares[survey] = (np.square(estimate - counts) / protocol.variance(values.size, shares)).mean()
    alone = make(epsilon=4.0, d=d, m=16, k=2**31).variance(values.size, shares)
    assert (protocol.variance(values.size, shares) > 5 * alone).all()
    assert 5 * squares.std() / np.sqrt(surveys) <= 0.05
    assert 0.95 <= squares.mean() <= 1.05


class EightFunctions(LocalHashing):
    """Broken local hashing: persons share 8 functions."""

    buckets = 4

    def _randomized(self, values, rng):
        parts = super()._randomized(values, rng)
        pool = rng.integers(1 << 64, size=8, dtype=np.uint64)
        seeds = pool[rng.integers(8, size=values.size)]
        wrong = (parts["bucket"] + 4 - buckets(parts["seed"], values, 4)) % 4
        return {"seed": seeds, "bucket": ((buckets(seeds, values, 4) + wrong) % 4).astype(parts["bucket"].dtype)}


class Biased(GeneralizedRandomizedResponse):
    def _estimated(self, reports):
        return super()._estimated(reports).clip(0)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("make", "least"), [(EightFunctions, 1.5), (Biased, 0)])
def test_a_broken_protocol_is_caught(make, least):
    units = errors(make, 1.0, 128, 150, 5000)
    with pytest.raises(AssertionError):
        check(units)
    assert np.square(units).mean() >= least
