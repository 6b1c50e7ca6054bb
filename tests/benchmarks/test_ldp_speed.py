"""Protocols of local differential privacy at a million users, device and server; local hashing beside pure-ldp."""

import os
import subprocess
import sys
import venv
from time import perf_counter

import numpy as np
import pytest
from run_tools import PEAK_MEMORY

from defenses.ldp import (
    CountMeanSketch,
    GeneralizedRandomizedResponse,
    OptimizedLocalHashing,
    OptimizedUnaryEncoding,
)

MILLION = 1_000_000
# The last version of pure-ldp; it does not say that it needs these, nor that xxhash 4 refuses its texts.
PEER = ("pure-ldp==1.2.0", "xxhash==3.8.2", "scikit-learn", "statsmodels")
PEER_CODE = """
import sys
from time import perf_counter
import numpy as np
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
values = np.load(sys.argv[1]).tolist()
client, server = (make(epsilon=1.0, d=128, use_olh=True) for make in (LHClient, LHServer))
start = perf_counter()
for value in values:
    server.aggregate(client.privatise(value + 1))
estimates = server.estimate_all(range(1, 129), suppress_warnings=True)
print(perf_counter() - start)
np.save(sys.argv[2], np.asarray(estimates, dtype=float))
"""
# Peak memory is a process's own, so each protocol has one.
PROGRAM = """
import sys
import numpy as np
from defenses.ldp import *
protocol = eval(sys.argv[1])
values = np.random.default_rng(0).integers(protocol.d, size=1_000_000)
reports = protocol.privatize(values, np.random.default_rng(1))
protocol.estimate(reports)
print(PEAK * 1024, reports.nbytes)
""".replace("PEAK", PEAK_MEMORY)


def survey(protocol, values):
    return protocol.estimate(protocol.privatize(values, np.random.default_rng(1)))


@pytest.mark.parametrize(
    ("protocol", "limit"),
    [
        (GeneralizedRandomizedResponse(epsilon=1.0, d=1024), 0.3),
        (OptimizedUnaryEncoding(epsilon=1.0, d=128), 2.0),
        (OptimizedLocalHashing(epsilon=1.0, d=128), 4.0),
        pytest.param(OptimizedLocalHashing(epsilon=1.0, d=1024), 30.0, marks=pytest.mark.long),
        pytest.param(CountMeanSketch(epsilon=4.0, d=1024, m=1024, k=2048), 15.0, marks=pytest.mark.long),
    ],
    ids=lambda part: f"{type(part).__name__}-{part.d}" if hasattr(part, "d") else "",
)
def test_a_million_users(benchmark, protocol, limit):
    values = np.random.default_rng(0).integers(protocol.d, size=MILLION)
    estimate = benchmark.pedantic(survey, args=(protocol, values), rounds=1)
    assert benchmark.stats.stats.min <= limit
    counts = np.bincount(values, minlength=protocol.d)
    deviation = np.sqrt(protocol.variance(MILLION, counts / MILLION))
    assert (np.abs(estimate - counts) <= 6 * deviation).all()


@pytest.mark.long
@pytest.mark.parametrize(
    ("protocol", "peak", "size"),
    [
        ("OptimizedUnaryEncoding(epsilon=1.0, d=128)", 1e9, 16e6),
        ("CountMeanSketch(epsilon=4.0, d=1024, m=1024, k=2048)", 2e9, 130e6),
    ],
)
def test_memory_of_a_million_users(benchmark, protocol, peak, size):
    # A benchmark only so that it runs with the others.
    command = [sys.executable, "-c", PROGRAM, protocol]
    run = benchmark.pedantic(subprocess.run, args=(command,), kwargs={"capture_output": True, "check": True})
    used, reports = map(int, run.stdout.split())
    assert used <= peak
    assert reports <= size


@pytest.mark.long
def test_twenty_times_faster_than_pure_ldp(benchmark, tmp_path):
    values = np.random.default_rng(0).integers(128, size=100_000)
    np.save(tmp_path / "values.npy", values)
    venv.create(tmp_path / "peer", with_pip=True)
    python = tmp_path / "peer" / ("Scripts" if os.name == "nt" else "bin") / "python"
    installed = subprocess.run(
        [python, "-m", "pip", "install", "-q", *PEER], capture_output=True, text=True, check=False
    )
    assert installed.returncode == 0, installed.stderr
    command = [python, "-c", PEER_CODE, tmp_path / "values.npy", tmp_path / "estimates.npy"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    peer = float(run.stdout)
    protocol = OptimizedLocalHashing(epsilon=1.0, d=128)
    start = perf_counter()
    benchmark.pedantic(survey, args=(protocol, values), rounds=1)
    assert peer >= 20 * (perf_counter() - start)
    # Both did the same: estimates within the same deviation of the truth.
    counts = np.bincount(values, minlength=128)
    deviation = np.sqrt(protocol.variance(values.size, counts / values.size))
    estimates = np.load(tmp_path / "estimates.npy")
    assert (np.abs(estimates - counts) <= 6 * deviation).all()
    benchmark.extra_info["pure-ldp, seconds"] = peer
