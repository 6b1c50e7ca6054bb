"""Tables of local reports: rebuilding and attacking a thousand, and a million users."""

import subprocess
import sys

import numpy as np
import pytest
from run_tools import PEAK_MEMORY

from attacks import LikelihoodAssignment
from attacks.base.attack import Knowledge
from defenses import ReportedTable
from scenarios.datasets import load

MILLION_CODE = """
import sys
from time import perf_counter
import numpy as np
from defenses import Microdata, ReportedTable
from scenarios.datasets import load
records = load("adult").records
columns = ["age", "workclass", "education", "occupation", "native-country"]
drawn = np.random.default_rng(0).integers(len(records), size=1_000_000)
frame = records.frame[columns].iloc[drawn].reset_index(drop=True)
people = Microdata(frame, domains={name: records.domains[name] for name in columns})
defense = ReportedTable(protocol=sys.argv[1], epsilon=5.0, splitting=sys.argv[2], missing="refuse")
start = perf_counter()
defense.apply(people, np.random.default_rng(1))
print(perf_counter() - start, PEAK * 1024)
""".replace("PEAK", PEAK_MEMORY)


@pytest.mark.parametrize("splitting", ["SPL", "SMP", "RS+FD"])
@pytest.mark.parametrize(
    "protocol", ["GeneralizedRandomizedResponse", "OptimizedUnaryEncoding", "OptimizedLocalHashing", "SubsetSelection"]
)
def test_a_thousand_reports_of_fifteen_columns_are_rebuilt_and_attacked(benchmark, protocol, splitting):
    records = load("adult").records
    people = records.take(np.arange(1000))
    assert len(people.released_columns) == 15
    defense = ReportedTable(protocol=protocol, epsilon=30.0, splitting=splitting, missing="refuse")
    known = Knowledge(people.frame, records.take(np.arange(1000, 2000)))

    def play():
        rng = np.random.default_rng(1)
        return LikelihoodAssignment().run(defense.apply(people, rng).view(rng), known, rng)

    benchmark.pedantic(play, rounds=3, warmup_rounds=1)
    assert benchmark.stats.stats.min < 2.0


@pytest.mark.long
@pytest.mark.parametrize("splitting", ["SPL", "SMP", "RS+FD"])
@pytest.mark.parametrize(
    "protocol", ["GeneralizedRandomizedResponse", "OptimizedUnaryEncoding", "OptimizedLocalHashing"]
)
def test_a_million_users_report_five_columns(protocol, splitting):
    run = subprocess.run(
        [sys.executable, "-c", MILLION_CODE, protocol, splitting], capture_output=True, text=True, check=True
    )
    seconds, memory = map(float, run.stdout.split())
    assert seconds < 30
    assert memory < 2e9
