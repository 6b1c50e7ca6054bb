"""Linkage of large tables: hits beside the dense attack's, growth, and a million rows through the command line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from blocking_tools import RELEASES, linked, people, released
from run_tools import PEAK_MEMORY

from attacks import BlockedLinkage, ExpectationMaximizationLinkage, Knowledge
from defenses import Microdata, MicrodataRelease

ROOT = Path(__file__).parents[2]
LIMITS = {10_000: (120, 2), 100_000: (240, 4), 1_000_000: (900, 12)}
"""Seconds and gigabytes of the command by number of rows, of as many candidates."""


def claims(method, frame, cells):
    release = MicrodataRelease(cells, np.full(len(cells), -1))
    return method.run(release, Knowledge(frame, Microdata(frame)), np.random.default_rng(0))


def hits(method, frame, cells, truth):
    return float((claims(method, frame, cells).best(np.random.default_rng(1)) == truth).mean())


@pytest.mark.long
@pytest.mark.parametrize(("way", "count"), [(RELEASES[0], 10_000), (RELEASES[1], 10_000), (RELEASES[2], 4000)])
def test_it_finds_as_many_as_the_dense_attack(way, count):
    # 10,000 rows take the dense attack up to 14 GB.
    frame, cells, truth = linked(count, way)
    ours, dense = (hits(method, frame, cells, truth) for method in (BlockedLinkage(), ExpectationMaximizationLinkage()))
    print(f"{way}: ours {ours:.4f}, dense {dense:.4f}")
    assert ours >= 0.95 * dense


@pytest.mark.long
@pytest.mark.parametrize("way", RELEASES)
@pytest.mark.parametrize("count", LIMITS)
def test_the_command_on_files(tmp_path, way, count):
    rng = np.random.default_rng(1)
    frame = people(count, rng)
    truth = rng.permutation(count)
    released(frame.iloc[truth].reset_index(drop=True), way, rng).to_csv(tmp_path / "released.csv", index=False)
    frame.to_csv(tmp_path / "people.csv", index=False)
    pd.DataFrame({"released_row": np.arange(count), "record": truth}).to_csv(tmp_path / "who.csv", index=False)
    del frame, truth
    code = f"""
import json, sys, time
import tokumei
started = time.perf_counter()
try:
    tokumei.main()
except SystemExit as ending:
    assert not ending.code
seconds, processor = time.perf_counter() - started, time.process_time()
print(json.dumps(dict(seconds=seconds, processor=processor, gigabytes={PEAK_MEMORY} / 1e6)))
"""
    files = ["-r", "released.csv", "-c", "people.csv", "-o", "answer.csv", "--truth", "who.csv"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, "attack", "BlockedLinkage", *files]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout.splitlines()[-1])
    right = int(re.search(r"right: (\d+) of", done.stdout)[1]) / count
    expected = float(re.search(r"expected to be right: ([\d.]+)%", done.stdout)[1]) / 100
    print(way, count, measured, f"right {right:.3f}, expected {expected:.3f}")
    seconds, gigabytes = LIMITS[count]
    assert measured["seconds"] <= seconds
    assert measured["gigabytes"] <= gigabytes
    assert expected == pytest.approx(right, abs=0.03)


@pytest.mark.parametrize("size", [2000, 8000, 32000])
def test_growth_of_blocked_linkage(benchmark, size):
    frame, cells, truth = linked(size, RELEASES[0])
    benchmark.group, benchmark.extra_info["size"] = "attack BlockedLinkage on large tables", size
    answers = benchmark.pedantic(claims, args=(BlockedLinkage(dense=0), frame, cells), rounds=1)
    assert (answers.best(np.random.default_rng(1)) == truth).mean() > 0.9
