"""Synthesis from noisy marginals on all of Adult; AIM beside the published loop on the estimation of mbi."""

import itertools
import os
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest
from run_tools import PEAK_MEMORY

from defenses import AdaptiveIterativeMechanism, MaximumSpanningTree
from defenses.base.queries import codes
from defenses.dp import zcdp_rho
from scenarios.datasets import load

SEEDS = (1, 2, 3)
PEER = ("mbi==2.0.0", "jax==0.10.2")
# Peak memory is a process's own.
PROGRAM = """
import numpy as np
from defenses import AdaptiveIterativeMechanism
from scenarios.datasets import load
AdaptiveIterativeMechanism().apply(load("adult").records, np.random.default_rng(1))
print(PEAK * 1024)
""".replace("PEAK", PEAK_MEMORY)


@pytest.fixture(scope="module")
def adult():
    return load("adult").records


def coded(records):
    return np.stack([codes(records, name) for name in records.released_columns])


def sizes_of(records):
    return np.array([records.domains[name].size for name in records.released_columns])


def workload_error(first, second, sizes):
    """Mean total variation distance of all three-way marginals of two coded tables of equal length."""
    errors = []
    for columns in map(list, itertools.combinations(range(len(sizes)), 3)):
        counts = [
            np.bincount(np.ravel_multi_index(part[columns], sizes[columns]), minlength=np.prod(sizes[columns]))
            for part in (first, second)
        ]
        errors.append(np.abs(counts[0] - counts[1]).sum() / 2 / first.shape[1])
    return float(np.mean(errors))


def error_of(records, defense, seed):
    release = defense.apply(records, np.random.default_rng(seed))
    return workload_error(coded(records), coded(records.with_frame(release.frame)), sizes_of(records))


def test_spanning_tree_on_adult(benchmark, adult):
    benchmark.pedantic(MaximumSpanningTree().apply, args=(adult, np.random.default_rng(1)), rounds=3)
    assert benchmark.stats.stats.max <= 30


@pytest.mark.long
def test_adaptive_mechanism_on_adult(benchmark, adult):
    benchmark.pedantic(AdaptiveIterativeMechanism().apply, args=(adult, np.random.default_rng(1)), rounds=1)
    assert benchmark.stats.stats.max <= 300


@pytest.mark.long
def test_adaptive_mechanism_takes_less_than_3_gb():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 3e9


@pytest.mark.long
def test_the_workload_error_is_at_most_that_of_the_published_loop(benchmark, adult, tmp_path):
    """All three-way marginals of Adult at epsilon 1, three seeds of each; the peer takes three to nine minutes a seed.

    The bound is on the peer's best release: means of three would hide that its errors differ much between seeds.
    """
    python = peer_environment(tmp_path)
    theirs, seconds = [], []
    for seed in SEEDS:
        table, drawn = tmp_path / "table.npz", tmp_path / "drawn.npy"
        np.savez(table, codes=coded(adult), sizes=sizes_of(adult), rho=zcdp_rho(1.0, 1e-6), seed=seed)
        peer = [python, Path(__file__).with_name("mbi_peer.py"), table, drawn]
        run = subprocess.run(peer, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        theirs.append(workload_error(coded(adult), np.load(drawn), sizes_of(adult)))
        seconds.append(float(run.stdout.split()[-1]))
    ours = benchmark.pedantic(lambda: [error_of(adult, AdaptiveIterativeMechanism(), seed) for seed in SEEDS], rounds=1)
    benchmark.extra_info |= {"errors": ours, "errors of mbi": theirs, "seconds of mbi": seconds}
    assert np.mean(ours) <= 1.05 * min(theirs)


def peer_environment(folder):
    """Path of the Python of a new environment with the peer."""
    venv.create(folder / "peer", with_pip=True)
    python = folder / "peer" / ("Scripts" if os.name == "nt" else "bin") / "python"
    installed = subprocess.run(
        [python, "-m", "pip", "install", "-q", *PEER], capture_output=True, text=True, check=False
    )
    assert installed.returncode == 0, installed.stderr
    return python
