"""The drawn law of a sketch's estimates is that of sketches of single persons."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from defenses.ldp import CountMeanSketch, draw_estimates


@pytest.mark.long_for("4-3")
@pytest.mark.parametrize(("m", "k"), [(4, 3), pytest.param(16, 64, marks=pytest.mark.long), (2, 1)])
def test_it_is_the_law_of_single_persons(m, k):
    # Two samples of 800 estimates each; the Kolmogorov-Smirnov test raises a false alarm in 1 of 10^4 cases for each
    # of 5 values and 3 sizes. Hash functions are fixed, so that collisions are the same.
    counts = np.array([40, 25, 10, 5, 0])
    protocol = CountMeanSketch(epsilon=1.5, d=5, m=m, k=k)
    values, runs = np.repeat(np.arange(5), counts), 800
    rng = np.random.default_rng(m)
    ours = np.array([draw_estimates(protocol, counts, rng) for _ in range(runs)])
    theirs = np.array([protocol.estimate(protocol.privatize(values, rng)) for _ in range(runs)])
    for value in range(5):
        assert ks_2samp(ours[:, value], theirs[:, value]).pvalue > 1e-4
    first, second = np.cov(ours.T), np.cov(theirs.T)
    # Collisions make estimates dependent; a covariance of 800 pairs has a relative error of about 1/28.
    assert np.abs(first - second).max() < 0.2 * first.diagonal().max()


@pytest.mark.thorough
def test_chunks_of_functions_change_nothing_but_the_draw(monkeypatch):
    counts = np.array([5000, 3000, 2000])
    protocol = CountMeanSketch(epsilon=8.0, d=3, m=64, k=100)
    monkeypatch.setattr("defenses.ldp.count_mean_sketches._CELLS", 21)
    runs = np.array([draw_estimates(protocol, counts, np.random.default_rng(seed)) for seed in range(150)])
    spread = np.sqrt(protocol.variance(10_000, counts / 10_000))
    # Variance is stated over functions, too; given the functions the bias is the collisions', a part of it.
    assert (np.abs(runs.mean(axis=0) - counts) < 5 * spread).all()
    assert (runs.std(axis=0) < 1.5 * spread).all()


def test_no_noise_and_no_collision_gives_the_counts():
    counts = np.array([7, 0, 3])
    protocol = CountMeanSketch(epsilon=100.0, d=3, m=2**20, k=1)
    assert draw_estimates(protocol, counts, np.random.default_rng(0)) == pytest.approx(counts, abs=1e-3)


def test_a_hundred_million_people_cost_no_more_than_ten():
    counts = np.full(50, 2_000_000)
    protocol = CountMeanSketch(epsilon=2.0, d=50, m=1024, k=2048)
    errors = draw_estimates(protocol, counts, np.random.default_rng(0)) - counts
    theory = np.sqrt(protocol.variance(10**8, np.full(50, 0.02)).mean())
    # 50 values: a root mean square within 45 % of theory (chi-square of some 40 independent values, 1 in 10^5).
    assert np.sqrt(np.square(errors).mean()) == pytest.approx(theory, rel=0.45)


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, -1], [1.5, 2, 3], [[1, 2, 3]]])
def test_refusals(counts):
    with pytest.raises(ValueError, match="counts must be 3 non-negative integers"):
        draw_estimates(CountMeanSketch(epsilon=1.0, d=3), counts, np.random.default_rng(0))
