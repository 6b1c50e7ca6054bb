"""The files of the guides keep the contracts and do what the guides say."""

import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from attacks import DistanceToClosestRecord, NearestNeighbour
from defenses import Identity, Shuffle
from scenarios import CandidateFile, load, play

SITE = Path(__file__).parents[2] / "docs" / "site"
EXAMPLES = SITE / "examples"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long  # the build of the site runs both commands
@pytest.mark.parametrize("method", ["rounded_age:RoundedAge", "compatible_people:CompatiblePeople"])
def test_methods_conform(folder, method):
    result = invoke("check", method)
    assert "conforms" in result.output
    assert result.exit_code == 0


def test_the_scenario_is_valid(folder):
    assert invoke("validate", "suspects.toml").exit_code == 0


@pytest.mark.thorough
def test_the_game_separates_a_copy_from_a_shuffled_table():
    game = importlib.import_module("two_suspects").TwoSuspects(records=load("adult").records, pairs=50, auxiliary=60)
    rates = [
        play(defense, DistanceToClosestRecord(), game, np.random.default_rng(1)).scores["membership"].rate
        for defense in (Identity(), Shuffle())
    ]
    assert rates[0] > 0.9
    assert abs(rates[1] - 0.5) < 0.3
    with pytest.raises(ValueError, match=r"pairs: .* people are needed"):
        type(game)(records=load("adult").records, pairs=10**6)


@pytest.mark.thorough
def test_the_attack_finds_people_in_a_copy():
    attack = importlib.import_module("compatible_people").CompatiblePeople()
    game = CandidateFile(records=load("bank").records, originals=20, candidates=40)
    rates = [
        play(Identity(), one, game, np.random.default_rng(1)).scores["reidentification"].rate
        for one in (attack, NearestNeighbour())
    ]
    assert min(rates) > 0.8


def test_the_metric_counts_cells():
    module = importlib.import_module("kept_cells")
    assert doctest.testmod(module) == (0, 2) or doctest.testmod(module).failed == 0
    frame = load("bank").records.frame.head(3)
    assert module.kept_cells(frame, frame) == 1
    with pytest.raises(ValueError, match="rows"):
        module.kept_cells(frame, frame.head(2))
    with pytest.raises(ValueError, match="at least one row"):
        module.kept_cells(frame.head(0), frame.head(0))


def test_the_table_is_valid(folder):
    importlib.import_module("make_visits")
    assert invoke("validate", "visits.csv", "--roles", "visits_roles.toml").exit_code == 0


@pytest.mark.thorough
def test_the_export_of_patients_is_described_repaired_and_valid(folder):
    importlib.import_module("make_patients")
    noted = invoke("describe", "patients.csv", "-o", "guess.toml").output
    for words in (
        "Cost: commas or points may mark decimals or separate thousands",
        "Sex: 1 category differs from another one only in case",
        "give --na N/A",
    ):
        assert words in noted
    reasons = " ".join(line.removeprefix("#").strip() for line in Path("guess.toml").read_text().splitlines())
    assert "Patient ID: identifier?: by its name; 3 of its 3003 values repeat another: rows exported twice" in reasons
    Path("patients.csv").write_bytes(Path("patients.csv").read_bytes().replace(b",f,", b",F,"))
    parts = ("-o", "treated.csv", "--control", "others.csv")
    result = invoke("split", "patients.csv", "--person", "Patient ID", "--drop-repeated", *parts)
    assert "threshold .2: enough" in result.output
    treated, others = (pd.read_csv(name, dtype=str) for name in ("treated.csv", "others.csv"))
    assert (len(treated), len(others)) == (2400, 600)
    assert not set(treated["Patient ID"]) & set(others["Patient ID"])
    assert set(treated["Postcode"].str[0]) == {"0"}
    codes = sorted(set(treated["Postcode"]))
    Path("postcodes.csv").write_text("".join(f"{code},{code[:4]},*\n" for code in codes))
    result = invoke("validate", "treated.csv", "--roles", "patients_roles.toml")
    assert result.exit_code == 0
    assert "inferred from the data, hence not public: Cost\n" in result.output


@pytest.mark.thorough
def test_the_blocks_of_a_lesson_are_a_program(folder):
    text = (SITE / "en" / "learn" / "recoding.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\{run-python\}\n(?::[^\n]*\n)*(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    Path("lesson.py").write_text("\n".join(blocks), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(SITE / "support")}
    done = subprocess.run([sys.executable, "lesson.py"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("sex: smallest class 2\n")
