"""Whole commands on tables of 1, 10 and 100 million rows, beside the naive way: all rows as frames in memory.

``python -m pytest -n 0 -s -m long tests/benchmarks/test_large_commands_speed.py`` needs two quiet cores, 20 minutes and
8 GB of disk; the tables are removed. The bounds are those of two cores.
"""

import json
import math
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

import duckdb
import psutil
import pytest
from census_rows import QUASI_IDENTIFIERS, write_census
from nearly_alone import SIZES, write_nearly_alone

pytestmark = pytest.mark.long

MILLION = 1_000_000
GIGABYTE = 10**9
GROWTH = 1.1
VALUES = 1000

NAIVE = {
    "risk": """
import pandas as pd
frame = pd.read_parquet(TABLE, columns=[*QUASI_IDENTIFIERS, "illness"])
groups = frame.groupby(QUASI_IDENTIFIERS, observed=True, dropna=False)
print(groups.size().min(), (groups.size() == 1).sum(), groups["illness"].nunique().min())
""",
    "mondrian": """
import numpy as np
from defenses import Mondrian
from scenarios.tables.dataset import load_table
records = load_table(TABLE, ROLES).records
Mondrian(k=10).apply(records, np.random.default_rng(1)).frame.astype(str).to_parquet(OUTPUT)
""",
    "incognito": """
import numpy as np
from defenses import Incognito
from scenarios.tables.dataset import load_table
records = load_table(TABLE, ROLES).records
Incognito(k=10).apply(records, np.random.default_rng(1)).frame.astype(str).to_parquet(OUTPUT)
""",
    "pram": """
import numpy as np
from defenses import OptimalRetention
from scenarios.tables.dataset import load_table
records = load_table(TABLE, ROLES).records
OptimalRetention(epsilon=2.0).apply(records, np.random.default_rng(1)).frame.to_parquet(OUTPUT)
""",
    "utility": """
import numpy as np
from metrics.table_utility import TableUtility, prediction_target
from scenarios.tables.dataset import load_table
records = load_table(TABLE, ROLES).records
domains = {name: records.domain(name) for name in records.released_columns}
target = prediction_target(records.sensitive, domains)
scorer = TableUtility(records.frame, domains, records.take([]).frame, target, np.random.default_rng(1))
print(scorer.score(records.frame))
""",
}


@dataclass(frozen=True)
class Run:
    """Time and memory of a command: wall-clock seconds, and bytes of all its processes at the peak."""

    seconds: float
    bytes: int

    def __str__(self) -> str:
        return f"{self.seconds:7.1f} s {self.bytes / GIGABYTE:6.2f} GB"


def run(command):
    """Run a command to its end while its memory is watched."""
    start, peak = time.perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        root = psutil.Process(process.pid)
        while process.poll() is None:
            used = 0
            try:
                for one in [root, *root.children(recursive=True)]:
                    used += one.memory_full_info().pss
            except psutil.Error:
                continue
            peak = max(peak, used)
            time.sleep(0.1)
        output = process.stdout.read()
    assert process.returncode == 0, output
    return Run(time.perf_counter() - start, peak)


def census(folder, rows):
    """A table of census-like rows with eight quasi-identifiers."""
    write_census(folder, rows)


def continuous(folder, rows):
    """A table of eight columns of numbers, nearly all distinct."""
    folder.mkdir()
    columns = ", ".join(
        f"round((hash(i * 8 + {j}) % 1000000007 / 1000000007.0 - 0.5) * 1000, 9) AS c{j}" for j in range(8)
    )
    duckdb.sql(f"COPY (SELECT {columns} FROM range({rows}) t(i)) TO '{folder}/part.parquet' (FORMAT PARQUET)")
    (folder / "roles.toml").write_text(f"quasi_identifiers = {json.dumps([f'c{j}' for j in range(8)])}\n")


def one_column(folder, rows):
    """A table of one column of 1,000 values, the first ones more frequent."""
    folder.mkdir()
    value = f"'v' || (pow(hash(i) % 1000003 / 1000003.0, 2) * {VALUES})::INT % {VALUES}"
    duckdb.sql(f"COPY (SELECT {value} AS code FROM range({rows}) t(i)) TO '{folder}/part.parquet' (FORMAT PARQUET)")
    categories = json.dumps([f"v{number}" for number in range(VALUES)])
    (folder / "roles.toml").write_text(
        f'quasi_identifiers = ["code"]\n[columns.code]\ntype = "category"\ncategories = {categories}\n'
    )


@dataclass(frozen=True)
class Work:
    """A command, its tables, and its bounds in seconds and gigabytes for the largest table that they hold for."""

    name: str
    table: object
    arguments: tuple
    sizes: tuple
    bounded: int
    seconds: float
    gigabytes: float
    naive: str


DEFEND = ("{table}", "--roles", "{roles}", "-o", "{output}", "--seed", "1", "--force")
WORKS = [
    Work("risk", census, ("risk", "{table}", "--roles", "{roles}"), (1, 10, 100), 100, 90, 8, "risk"),
    Work("mondrian", census, ("defend", "Mondrian", "-p", "k=10", *DEFEND), (1, 10, 100), 100, 360, 12, "mondrian"),
    Work("continuous", continuous, ("defend", "Mondrian", "-p", "k=10", *DEFEND), (1, 10), 10, 90, 8, "mondrian"),
    Work(
        "pram", one_column, ("defend", "OptimalRetention", "-p", "epsilon=2", *DEFEND), (1, 10, 100), 100, 60, 4, "pram"
    ),
    Work("incognito", census, ("defend", "Incognito", "-p", "k=10", *DEFEND), (1, 10), 10, 30, 8, "incognito"),
    Work("utility", census, ("utility", "{table}", "{table}", "--roles", "{roles}"), (1, 10), 10, 180, 4, "utility"),
]


@pytest.mark.parametrize("work", WORKS, ids=[work.name for work in WORKS])
def test_time_and_memory_stay_within_their_bounds(tmp_path, work):
    runs = {}
    try:
        for size in work.sizes:
            folder = tmp_path / f"rows{size}"
            work.table(folder, size * MILLION)
            roles, output = folder / "roles.toml", tmp_path / "released.parquet"
            arguments = [argument.format(table=folder, roles=roles, output=output) for argument in work.arguments]
            runs[size] = run([sys.executable, "-m", "tokumei", *arguments])
            print(f"{work.name:11}{size:4} million rows {runs[size]}")
            if size == 1:
                values = {"TABLE": str(next(folder.glob("*.parquet"))), "ROLES": str(roles), "OUTPUT": str(output)}
                values["QUASI_IDENTIFIERS"] = list(QUASI_IDENTIFIERS)
                head = "".join(f"{name} = {value!r}\n" for name, value in values.items())
                naive = run([sys.executable, "-c", head + NAIVE[work.naive]])
                print(f"{work.name:11}{size:4} million rows {naive} in memory")
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(tmp_path)
    largest, smaller = work.sizes[-1], work.sizes[-2]
    growth = {
        size: math.log(runs[largest].seconds / runs[size].seconds) / math.log(largest / size) for size in (1, smaller)
    }
    print(f"{work.name:11}growth to {largest} million rows by size at the start: {growth}")
    assert max(growth.values()) <= GROWTH
    assert runs[work.bounded].seconds <= work.seconds
    assert runs[work.bounded].bytes <= work.gigabytes * GIGABYTE


ALONE = """
import duckdb
classes = f"SELECT count(*) AS size FROM read_parquet({TABLE!r}) GROUP BY {NAMES}"
print(duckdb.sql(f"SELECT size, count(*) FROM ({classes}) GROUP BY size ORDER BY size").fetchall())
"""


@pytest.mark.parametrize("options", [(), ("--memory", "4GB")], ids=["in memory", "in parts"])
def test_risk_of_rows_that_are_nearly_all_alone(tmp_path, options):
    table = tmp_path / "alone.parquet"
    write_nearly_alone(20 * MILLION, table)
    try:
        head = f"TABLE, NAMES = {str(table)!r}, {', '.join(SIZES)!r}\n"
        engine = run([sys.executable, "-c", head + ALONE])
        done = run([sys.executable, "-m", "tokumei", "risk", str(table), *options])
    finally:
        table.unlink()
    print(f"risk {done}; DuckDB's classes and their sizes {engine}: {done.seconds / engine.seconds:.1f} times")
    assert done.seconds <= 5 * engine.seconds
    assert done.bytes <= 4 * GIGABYTE
