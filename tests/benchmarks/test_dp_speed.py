"""Exact noise for a million numbers, against one number after the other in the textbook's way at a smaller size."""

import json
import os
import subprocess
import time
import venv
from fractions import Fraction

import numpy as np
import pytest

from defenses.dp import DiscreteGaussian, DiscreteLaplace, Laplace, Staircase

MILLION = 1_000_000
NAIVE = 2000
# The last releases; diffprivlib does not import with a later scikit-learn.
PEERS = ("opendp==0.16.0", "diffprivlib==0.6.6", "scikit-learn==1.5.2")
PEER_CODE = """
import json, sys, time
import opendp.prelude as dp
from diffprivlib.mechanisms import GaussianDiscrete, Geometric

sigma, count, few = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
dp.enable_features("contrib")
vector = dp.vector_domain(dp.atom_domain(T=int))
zeros = [0] * count

def timed(draw, times=1):
    start = time.perf_counter()
    draw()
    return (time.perf_counter() - start) * times

laplace = dp.m.make_laplace(vector, dp.l1_distance(T=int), scale=1.0)
gaussian = dp.m.make_gaussian(vector, dp.l2_distance(T=float), scale=sigma)
geometric = Geometric(epsilon=1.0, sensitivity=1)
discrete = GaussianDiscrete(epsilon=0.99, delta=1e-6, sensitivity=1)
print(json.dumps({
    "OpenDP": {"laplace": timed(lambda: laplace(zeros)), "gaussian": timed(lambda: gaussian(zeros))},
    "diffprivlib": {
        "laplace": timed(lambda: [geometric.randomise(0) for _ in range(few)], count / few),
        "gaussian": timed(lambda: [discrete.randomise(0) for _ in range(few)], count / few),
    },
}))
"""


def bernoulli_exponential(rate, rng):
    """True with probability e^-rate, rate a Fraction of at least 0 (Canonne, Kamath and Steinke, algorithm 1)."""
    while rate > 1:
        if not bernoulli_exponential(Fraction(1), rng):
            return False
        rate -= 1
    k = 1
    while int(rng.integers(0, rate.denominator * k)) < rate.numerator:
        k += 1
    return k % 2 == 1


def naive_laplace(scale, rng):
    """One discrete Laplace number with a whole scale (algorithm 2)."""
    while True:
        u = int(rng.integers(0, scale))
        if not bernoulli_exponential(Fraction(u, scale), rng):
            continue
        v = 0
        while bernoulli_exponential(Fraction(1), rng):
            v += 1
        magnitude = u + scale * v
        negative = bool(rng.integers(0, 2))
        if not (negative and magnitude == 0):
            return -magnitude if negative else magnitude


def naive_gaussian(variance, rng):
    """One discrete Gaussian number (algorithm 3)."""
    scale = int(float(variance) ** 0.5) + 1
    while True:
        z = naive_laplace(scale, rng)
        if bernoulli_exponential((abs(z) - variance / scale) ** 2 / (2 * variance), rng):
            return z


def per_number(draw, count):
    start = time.perf_counter()
    for _ in range(count):
        draw()
    return (time.perf_counter() - start) / count


@pytest.mark.parametrize(
    ("mechanism", "most"),
    [
        (DiscreteLaplace(epsilon=1.0), 1.0),
        (DiscreteLaplace(epsilon=0.01), 1.0),
        (DiscreteGaussian(epsilon=1.0, delta=1e-6), 3.0),
        (Laplace(epsilon=1.0), 3.0),
        (Staircase(epsilon=1.0), 3.0),
    ],
    ids=lambda value: repr(value) if not isinstance(value, float) else "",
)
def test_a_million_numbers(benchmark, mechanism, most):
    noise = benchmark.pedantic(lambda: mechanism.sample(MILLION, np.random.default_rng(1)), rounds=3, warmup_rounds=1)
    assert noise.size == MILLION
    assert benchmark.stats.stats.median <= most


def test_laplace_against_one_after_the_other(benchmark):
    rng = np.random.default_rng(2)
    naive = per_number(lambda: naive_laplace(1, rng), NAIVE)
    mechanism = DiscreteLaplace(epsilon=1.0)
    benchmark.pedantic(lambda: mechanism.sample(MILLION, rng), rounds=3, warmup_rounds=1)
    benchmark.extra_info["naive_seconds_for_a_million"] = naive * MILLION
    assert naive * MILLION >= 20 * benchmark.stats.stats.median


def test_gaussian_against_one_after_the_other(benchmark):
    rng = np.random.default_rng(3)
    mechanism = DiscreteGaussian(epsilon=1.0, delta=1e-6)
    variance = Fraction(round(mechanism.sigma**2))
    naive = per_number(lambda: naive_gaussian(variance, rng), NAIVE)
    benchmark.pedantic(lambda: mechanism.sample(MILLION, rng), rounds=3, warmup_rounds=1)
    benchmark.extra_info["naive_seconds_for_a_million"] = naive * MILLION
    assert naive * MILLION >= 20 * benchmark.stats.stats.median


@pytest.fixture(scope="module")
def peers(tmp_path_factory):
    """Seconds that each peer takes for a million numbers; diffprivlib's from fewer, one after the other."""
    folder = tmp_path_factory.mktemp("peers")
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [python, "-m", "pip", "install", "-q", *PEERS]
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr
    command = [python, "-c", PEER_CODE, "4.2", str(MILLION), "10000"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.long
@pytest.mark.parametrize(
    ("law", "mechanism"),
    [("laplace", DiscreteLaplace(epsilon=1.0)), ("gaussian", DiscreteGaussian(epsilon=1.0, delta=1e-6))],
)
def test_a_million_numbers_against_peers(benchmark, peers, law, mechanism):
    rng = np.random.default_rng(4)
    benchmark.pedantic(lambda: mechanism.sample(MILLION, rng), rounds=3, warmup_rounds=1)
    benchmark.extra_info["seconds of peers"] = {name: seconds[law] for name, seconds in peers.items()}
    for seconds in peers.values():
        assert benchmark.stats.stats.median < seconds[law]
