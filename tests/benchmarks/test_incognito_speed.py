from __future__ import annotations

import time

import numpy as np
import pytest
from adult_tools import adult_of_arx
from pytest_benchmark.fixture import BenchmarkFixture

from defenses import Incognito
from scenarios import load


@pytest.mark.parametrize(("share", "most"), [(0.0, 1.5), (0.05, 4.0)])
def test_the_optimum_of_adult(benchmark: BenchmarkFixture, share: float, most: float) -> None:
    records, defense = adult_of_arx(), Incognito(k=5, max_suppression=share)
    release = benchmark.pedantic(lambda: defense.apply(records, np.random.default_rng(0)), rounds=3)
    assert release.loss < 0.67
    assert benchmark.stats.stats.min <= most


@pytest.mark.parametrize("loss", ["precision", "discernibility", "average_class_size", "height"])
def test_other_losses(benchmark: BenchmarkFixture, loss: str) -> None:
    records, defense = adult_of_arx(), Incognito(k=5, max_suppression=0.05, loss=loss)
    benchmark.pedantic(lambda: defense.apply(records, np.random.default_rng(0)), rounds=1)


@pytest.mark.parametrize(
    ("demand", "loss"),
    [
        ({"l": 2}, 0.3588243983860778),
        ({"l": 1.5, "diversity": "entropy"}, 0.7621593395663417),
        ({"t": 0.2}, 0.5514460011177735),
        ({"t": 0.3}, 0.39742447142269355),
    ],
    ids=str,
)
def test_constraints(benchmark: BenchmarkFixture, demand: dict[str, object], loss: float) -> None:
    records, defense = adult_of_arx(), Incognito(k=5, max_suppression=0.05, **demand)
    release = benchmark.pedantic(lambda: defense.apply(records, np.random.default_rng(0)), rounds=3)
    assert release.loss == pytest.approx(loss, abs=1e-12)
    assert benchmark.stats.stats.min <= 2.0


def test_all_minimal_nodes_of_adult(benchmark: BenchmarkFixture) -> None:
    records, defense = adult_of_arx(), Incognito(k=5, max_suppression=0.05)
    nodes = benchmark.pedantic(lambda: defense.minimal_nodes(records), rounds=1)
    assert len(nodes) > 100


@pytest.mark.long
def test_rows_are_counted_once(benchmark: BenchmarkFixture) -> None:
    # The same people thirty times over, with thirty times the k, are the same problem to search.
    few, many = adult_of_arx(), adult_of_arx(30)
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    once = Incognito(k=5, max_suppression=0.05).apply(few, rng)
    seconds = time.perf_counter() - start
    often = benchmark.pedantic(lambda: Incognito(k=150, max_suppression=0.05).apply(many, rng), rounds=1)
    growth = benchmark.stats.stats.min / seconds
    benchmark.extra_info.update({"rows": len(many), "growth": growth})
    print(f"Incognito: 30-fold rows, {growth:.1f}-fold time")
    assert often.levels == once.levels
    assert often.loss == pytest.approx(once.loss)
    assert growth <= 30


@pytest.mark.parametrize(("rows", "proven", "most"), [(100, True, 1.0), (45_211, False, 60.0)])
def test_a_lattice_of_518_million_nodes(benchmark: BenchmarkFixture, rows: int, proven: bool, most: float) -> None:
    bank = load("bank").records
    records = bank.take(np.random.default_rng(0).permutation(len(bank))[:rows])
    release = benchmark.pedantic(lambda: Incognito(k=5).apply(records, np.random.default_rng(0)), rounds=1)
    assert release.optimal == proven
    assert benchmark.stats.stats.min <= most
