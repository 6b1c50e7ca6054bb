from time import perf_counter

import numpy as np
import pytest

from defenses.pram import optimal_retention
from defenses.pram.histogram_estimate import estimate_histogram
from defenses.pram.optimal import program_flips
from defenses.pram.randomized import replace


def counts_of(d):
    return np.floor(10 * np.random.default_rng(d).pareto(1.2, d)) + 1


def least_seconds(function, *arguments, times=3):
    def once():
        start = perf_counter()
        function(*arguments)
        return perf_counter() - start

    return min(once() for _ in range(times))


@pytest.mark.parametrize(("d", "limit"), [(100_000, 0.3), (1_000_000, 3.0)])
def test_optimal_retention(benchmark, d, limit):
    counts = counts_of(d)
    benchmark.pedantic(optimal_retention, args=(counts, 5.0), rounds=3)
    assert benchmark.stats.stats.min <= limit


@pytest.mark.long
def test_growth_is_nearly_linear():
    small, large = (least_seconds(optimal_retention, counts_of(d), 5.0, times=7) for d in (100_000, 1_000_000))
    assert large <= 13 * small


@pytest.mark.long
def test_a_thousand_times_faster_than_the_full_program():
    counts = counts_of(250)
    program = least_seconds(program_flips, counts, np.exp(5.0), times=1)
    assert program >= 1000 * least_seconds(optimal_retention, counts, 5.0)


def test_release_of_a_million_records(benchmark):
    rng = np.random.default_rng(1)
    counts = rng.multinomial(1_000_000, rng.dirichlet(np.ones(1000)))
    codes = rng.permutation(np.repeat(np.arange(1000), counts))
    retention = optimal_retention(counts, 8.0)
    released = benchmark.pedantic(replace, args=(codes, retention, rng), rounds=3)
    assert benchmark.stats.stats.min <= 0.5
    estimate = estimate_histogram(np.bincount(released, minlength=1000), retention)
    assert (np.abs(estimate.counts - counts) <= 3 * estimate.errors).mean() >= 0.99
