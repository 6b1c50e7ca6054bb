"""Speed of what a user waits for first: help, reading and describing a table, texts and files of a tournament."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from run_tools import COMMAND, PATIENCE, ROOT, environment
from tournament_tools import DAY, HOUR, START, opened

from scenarios.tables.dataset import load_table
from scenarios.tables.review.description import describe_table
from scenarios.tournament.host.decisions import admit
from scenarios.tournament.host.presenting import LONGEST_TEXT
from scenarios.tournament.host.scoring_queue import ScoringQueue
from scenarios.tournament.rules.sheets import LARGEST
from scenarios.tournament.rules.submitting import submit
from scenarios.tournament.site.pages.team_pages import method_html


@pytest.mark.parametrize("arguments", [["-m", "tokumei", "--help"], ["-c", "import pandas"]], ids=["help", "pandas"])
def test_help_beside_the_import_of_pandas(benchmark, arguments):
    benchmark.group = "help beside the import of pandas"
    benchmark(subprocess.run, [sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True)


def large_table(rows):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"number{place}": rng.integers(0, 5000, rows) for place in range(8)})
    for place in range(8):
        frame[f"text{place}"] = rng.choice(["a", "b, c", 'd "e"', "f"], rows)
    return frame


def test_a_table_of_100_000_rows_is_read(benchmark, tmp_path):
    large_table(100_000).to_csv(tmp_path / "t.csv", index=False)
    benchmark.pedantic(load_table, args=(tmp_path / "t.csv",), rounds=3)


def test_a_table_of_50_000_rows_is_described(benchmark, tmp_path):
    frame = large_table(50_000).assign(name=[f"person {row}" for row in range(50_000)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    benchmark.pedantic(describe_table, args=(tmp_path / "t.csv", None, tmp_path / "r.toml"), rounds=3)


@pytest.mark.parametrize("unit", ["[", "![", "*a_", "<"])
def test_a_nested_text_of_a_team(benchmark, unit):
    benchmark.pedantic(method_html.__wrapped__, args=(unit * (LONGEST_TEXT // len(unit)),), rounds=3)


@pytest.mark.parametrize("cell", ["x\n", "{", '"', "1,"])
def test_the_largest_file_of_a_team_is_refused(benchmark, tmp_path, cell):
    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"))
    header = ",".join(cup.frame("kyoto").columns) + "\n"
    path = cup.file("kyoto", header + cell * ((LARGEST - len(header)) // len(cell)))

    def hand_in():
        with pytest.raises(ValueError, match="kyoto"):
            submit(cup.tournament, "kyoto", path, START + HOUR)

    benchmark.pedantic(hand_in, rounds=3)


@pytest.mark.long
def test_the_default_board(benchmark, tmp_path):
    def board():
        command = [*COMMAND, "run", "-j", "2", "--fresh", "--format", "csv"]
        subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, check=True)

    benchmark.pedantic(board, rounds=1)


@pytest.mark.long
def test_a_change_among_25_teams(benchmark, tmp_path):
    """Until an attack and a late table are on the boards, beside all 600 pairs."""
    teams = [f"team-{number:02d}" for number in range(25)]
    cup = opened(tmp_path / "cup", teams, originals=100, candidates=200)
    rng = np.random.default_rng(0)
    for team in teams[:-1]:
        frame = cup.frame(team).astype(object)
        frame.loc[rng.random(100) < 0.4, "balance"] = "*"
        cup.hand_in(team, frame)
    cup.publish()
    for team in teams:
        for target in teams[:-1]:
            if target != team:
                cup.attack(team, target, range(100), rng.integers(200, size=100), rng.random(100).round(3))
    late = cup.file(teams[-1], cup.frame(teams[-1])).read_bytes()
    queue = ScoringQueue(cup.tournament.folder, jobs=2)
    queue.start()

    def change():
        cup.attack(teams[0], teams[1], range(100), cup.truth(teams[1]))
        admit(cup.tournament, teams[-1], "late.csv", late, "ill", START + DAY + HOUR)
        assert queue.wait(PATIENCE)

    try:
        assert queue.wait(PATIENCE)
        benchmark.pedantic(change, rounds=1)
    finally:
        queue.stop()
