"""An attack whose file changes between runs: boards show one version of it."""

import csv
import io

import pytest
from run_tools import invoke, tokumei

pytestmark = pytest.mark.waits

ATTACK = """
from attacks import NearestNeighbour

class Mine(NearestNeighbour):
    def __init__(self, *, turned={turned}):
        super().__init__()
        self.turned = turned

"""
SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
columns = ["age", "job", "marital", "education", "balance", "housing", "y"]
game = { use = "CandidateFile", originals = 20, candidates = 40, held_out = 0, auxiliary = 30 }
seed = 5

[[defense]]
use = "Mondrian"

[[defense]]
use = "AdditiveNoise"

[[attack]]
use = "NearestNeighbour"
"""
ATTACKS = ("-a", "mine_changing:Mine", "-a", "NearestNeighbour")


def play(folder, *arguments, turned):
    (folder / "mine_changing.py").write_text(ATTACK.format(turned=turned))
    (folder / "small.toml").write_text(SCENARIO)
    tokumei("run", "small.toml", *arguments, "--plays", "2", "-j", "1", "--quiet", cwd=folder, check=0)


def compared(folder):
    done = invoke("board", "--db", folder / "tokumei.db", "--baseline", "NearestNeighbour", "--format", "csv")
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return {row["defenses"] for row in rows if row["attack"] == "mine_changing:Mine"}, done.stderr


def test_a_changed_default_is_not_pooled_and_comes_back_with_the_file(tmp_path):
    play(tmp_path, *ATTACKS, turned=False)
    assert compared(tmp_path) == ({"2"}, "")
    play(tmp_path, "-d", "Mondrian", *ATTACKS, turned=True)
    defenses, said = compared(tmp_path)
    assert defenses == {"1"}
    assert "results of mine_changing:Mine are of an earlier version and left out (with AdditiveNoise)" in said
    # Everything is stored: the run plays nothing, and its results count again.
    play(tmp_path, "-d", "Mondrian", *ATTACKS, turned=False)
    assert compared(tmp_path) == ({"2"}, "")
