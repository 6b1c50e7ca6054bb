"""A tournament of 200 teams: taking files in and scoring all 39,800 pairs, in time and memory."""

import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pandas as pd
import psutil
import pytest
from tournament_tools import DAY, HOUR, START, opened

from defenses import Mondrian, RankSwapping, RetentionReplacement
from scenarios import load
from scenarios.tables.dataset import load_table
from scenarios.tables.seeds import generator
from scenarios.tournament.host.archives import verify
from scenarios.tournament.rules.folder import Tournament, csv_bytes
from scenarios.tournament.rules.submitting import submit, submit_all

pytestmark = pytest.mark.long

TEAMS = [f"team-{number:03d}" for number in range(200)]
MOST_SECONDS = 180
MOST_BYTES = 2 << 30
MOST_SECONDS_A_FILE = 0.3


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """The attack phase of 200 teams that all attacked one another: 39,800 correspondence tables."""
    cup = opened(
        tmp_path_factory.mktemp("full") / "cup", teams=TEAMS, dataset=load("bank"), originals=100, candidates=200
    )
    defenses = (RetentionReplacement(retention=0.7), Mondrian(k=3), RankSwapping())
    for number, team in enumerate(TEAMS):
        place = cup.tournament.team_folder(team)
        records = load_table(place / f"{team}_original.csv", place / "roles.toml").records
        release = defenses[number % 3].apply(records, generator(number, "speed"))
        origin = pd.Series(release.origin, dtype=object).where(release.origin >= 0, "")
        cup.hand_in(team, release.frame.assign(original_row=origin))
    cup.publish()
    for number, team in enumerate(TEAMS):
        rng, paths = np.random.default_rng(number), []
        for target in TEAMS:
            if target != team:
                answers = {"candidate_row": rng.integers(200, size=100), "confidence": rng.random(100).round(3)}
                path = cup.tournament.team_folder(team) / f"{team}_attack_{target}.csv"
                path.write_bytes(csv_bytes(pd.DataFrame({"released_row": np.arange(100), **answers})))
                paths.append(path)
        receipts = list(submit_all(cup.tournament, team, paths, START + DAY + HOUR))
        assert len(receipts) == 199
        assert not any(isinstance(receipt, ValueError) for receipt in receipts)
    return cup.tournament


def test_one_more_file_among_forty_thousand(full):
    path = full.team_folder(TEAMS[0]) / f"{TEAMS[0]}_attack_{TEAMS[1]}.csv"
    seconds = []
    for _ in range(11):
        began = time.perf_counter()
        # A new object knows nothing of the log, as a command does not.
        submit(Tournament(full.folder), TEAMS[0], path, START + DAY + HOUR)
        seconds.append(time.perf_counter() - began)
    print(f"\none more file: {np.median(seconds):.3f} s")
    assert np.median(seconds) < MOST_SECONDS_A_FILE
    assert "40011 accepted files" in verify(full)


def watched(command):
    """Run a command; return its output, and its wall time, processor time (s) and peak memory (B) with its children."""
    began, largest, used = time.perf_counter(), 0, {}
    with (
        tempfile.TemporaryFile("w+") as output,
        subprocess.Popen(command, stdout=output, stderr=output, text=True) as child,
    ):
        while child.poll() is None:
            held = 0
            with suppress(psutil.Error):
                for one in (psutil.Process(child.pid), *psutil.Process(child.pid).children(recursive=True)):
                    held += one.memory_info().rss
                    used[one.pid] = sum(one.cpu_times()[:2])
            largest = max(largest, held)
            time.sleep(0.2)
        seconds = time.perf_counter() - began
        output.seek(0)
        assert child.returncode == 0, output.read()
        return output.read(), seconds, sum(used.values()), largest


def test_all_pairs(full):
    program = "from scenarios.commands.cli import cli; cli()"
    said, seconds, used, largest = watched(
        [sys.executable, "-c", program, "tournament", "score", str(full.folder), "-j", "2"]
    )
    print(f"\n39,800 pairs: {seconds:.1f} s, {used:.1f} s of processors, {largest >> 20} MB")
    counts = [int(number) for number in re.findall(r"scoring: (\d+) of 200 tables", said)]
    assert counts[-1] == 200
    assert len(counts) >= 20
    assert all(first < second for first, second in pairwise(counts))
    matrix = pd.read_csv(full.host / "matrix.csv")
    assert len(matrix) == 200 * (199 + 4)
    assert largest < MOST_BYTES
    assert seconds < MOST_SECONDS
