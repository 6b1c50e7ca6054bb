from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from adult_tools import QUASI
from pytest_benchmark.fixture import BenchmarkFixture

from defenses import Microaggregation, Microdata, Mondrian
from defenses.grouping.microaggregation.mdav import groups
from metrics import equivalence_classes, k_anonymity, l_diversity, t_closeness_equal
from scenarios import load

SIX_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
# How many values each of Adult's eight quasi-identifiers takes.
ADULT_SIZES = (2, 73, 5, 7, 16, 42, 9, 15)


def adult() -> pd.DataFrame:
    return load("adult").records.frame


def whole_numbers(n: int) -> Microdata:
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, size, n) for name, size in zip(QUASI, ADULT_SIZES, strict=True)}
    return Microdata(frame=pd.DataFrame(columns), quasi_identifiers=QUASI)


def test_mondrian_on_30_000_rows(benchmark: BenchmarkFixture) -> None:
    records = whole_numbers(30_000)
    release = benchmark(lambda: Mondrian(k=10).apply(records, np.random.default_rng(0)))
    assert k_anonymity(release.frame, QUASI) >= 10


PEER = """
import sys, time
sys.path.insert(0, sys.argv[1])
import anonypy
import pandas as pd
frame = pd.read_pickle(sys.argv[2])
start = time.perf_counter()
anonypy.Preserver(frame.assign(sensitive=0), list(frame.columns), "sensitive").anonymize_k_anonymity(10)
print(time.perf_counter() - start)
"""


@pytest.mark.long
def test_mondrian_is_200_times_faster_than_anonypy(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path), "anonypy"]
    subprocess.run(install, check=True)
    records = whole_numbers(30_000)
    records.frame.to_pickle(tmp_path / "rows.pickle")
    command = [sys.executable, "-c", PEER, str(tmp_path), str(tmp_path / "rows.pickle")]
    peer = float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    benchmark(lambda: Mondrian(k=10).apply(records, np.random.default_rng(0)))
    ours = benchmark.stats.stats.min
    benchmark.extra_info.update({"anonypy, seconds": peer, "times faster": peer / ours})
    print(f"Mondrian: anonypy {peer:.1f} s, {peer / ours:.0f} times slower")
    assert peer >= 200 * ours


@pytest.mark.long
@pytest.mark.parametrize("strict", [True, False])
def test_mondrian_on_a_million_rows(benchmark: BenchmarkFixture, strict: bool) -> None:
    records = whole_numbers(1_000_000)
    defense = Mondrian(k=10, strict=strict)
    release = benchmark.pedantic(lambda: defense.apply(records, np.random.default_rng(0)), rounds=2)
    assert k_anonymity(release.frame, QUASI) >= 10
    assert benchmark.stats.stats.min <= 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss <= 1.5e6, "kilobytes, of the whole test process"


@pytest.mark.long
def test_mondrian_grows_little_faster_than_the_table(benchmark: BenchmarkFixture) -> None:
    seconds = {}
    for n in (100_000, 1_000_000):
        records = whole_numbers(n)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            Mondrian(k=10).apply(records, np.random.default_rng(0))
            times.append(time.perf_counter() - start)
        seconds[n] = min(times)
    growth = seconds[1_000_000] / seconds[100_000]
    benchmark.extra_info.update({f"seconds, {n} rows": value for n, value in seconds.items()} | {"growth": growth})
    small = whole_numbers(100_000)
    benchmark.pedantic(lambda: Mondrian(k=10).apply(small, np.random.default_rng(0)), rounds=1)
    print(f"Mondrian: {seconds}, growth {growth:.1f}-fold")
    assert growth <= 13


def test_mdav_on_six_numbers(benchmark: BenchmarkFixture) -> None:
    numbers = adult()[list(SIX_NUMBERS)].to_numpy(dtype=float)
    numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    found = benchmark.pedantic(lambda: groups(numbers, 5), rounds=2)
    sizes = np.bincount(found)
    assert 5 <= sizes.min() <= sizes.max() <= 9
    means = np.column_stack([np.bincount(found, weights=column) / sizes for column in numbers.T])
    assert ((numbers - means[found]) ** 2).sum() / (numbers**2).sum() <= 0.0147
    assert benchmark.stats.stats.min <= 6


def test_microaggregation_of_adult(benchmark: BenchmarkFixture) -> None:
    records = Microdata(frame=adult(), quasi_identifiers=QUASI)
    benchmark.pedantic(lambda: Microaggregation(k=5).apply(records, np.random.default_rng(0)), rounds=2)
    assert benchmark.stats.stats.min <= 6


def test_k_l_and_t_of_adult(benchmark: BenchmarkFixture) -> None:
    frame = adult()

    def measure() -> tuple[int, int, float]:
        classes = equivalence_classes(frame, QUASI)
        return (
            k_anonymity(frame, QUASI, classes=classes),
            l_diversity(frame, QUASI, "salary-class", classes=classes),
            t_closeness_equal(frame, QUASI, "salary-class", classes=classes),
        )

    assert benchmark(measure)[:2] == (1, 1)
    assert benchmark.stats.stats.min <= 0.2
