"""The board of the shipped scenario agrees with what is known of it; minutes, hence `-m long`."""

import csv
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DECOYS = ("random", "hard")
pytestmark = pytest.mark.long


def tokumei(folder, *arguments):
    command = [sys.executable, "-m", "tokumei", *arguments, "--format", "csv"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("references")
    started = time.monotonic()
    board = tokumei(folder, "run", "-j", "2")
    return board, tokumei(folder, "board", "--matrix"), time.monotonic() - started


def line(board, decoys, defense, parameters="{}"):
    (found,) = (
        row for row in board if (row["decoys"], row["defense"], row["parameters"]) == (decoys, defense, parameters)
    )
    return {
        name: float(found[name]) for name in ("utility", "success", "success_low", "success_high", "chance", "score")
    }


def rows_found(matrix, decoys, defense, attack):
    (rate,) = {
        float(row["reidentification"])
        for row in matrix
        if (row["decoys"], row["defense"], row["attack"]) == (decoys, defense, attack)
    }
    return rate


def test_a_board_takes_minutes_at_most(played):
    assert played[2] < 150


@pytest.mark.parametrize("decoys", DECOYS)
def test_identity_is_found_and_constants_are_not(played, decoys):
    board, matrix, _ = played
    identity, constant = line(board, decoys, "Identity"), line(board, decoys, "Constant")
    assert identity["success"] >= 0.99
    assert identity["utility"] == 1
    assert constant["utility"] == 0
    assert constant["success_low"] <= constant["chance"] <= constant["success_high"]
    attacks = {row["attack"] for row in matrix}
    assert len(attacks) == 5
    assert min(rows_found(matrix, decoys, "Identity", attack) for attack in attacks) >= 0.99


@pytest.mark.parametrize("decoys", DECOYS)
def test_microaggregation_hides_most_rows(played, decoys):
    _, matrix, _ = played
    attacks = {row["attack"] for row in matrix}
    assert max(rows_found(matrix, decoys, "Microaggregation", attack) for attack in attacks) < 0.2


@pytest.mark.parametrize("decoys", DECOYS)
def test_less_retention_is_safer_and_worth_less(played, decoys):
    board, _, _ = played
    steps = [line(board, decoys, "RetentionReplacement", f'{{"retention":{p}}}') for p in (0.9, 0.7, 0.5, 0.3, 0.1)]
    for name in ("success", "utility"):
        values = [step[name] for step in steps]
        assert values == sorted(values, reverse=True)
        assert values[0] > values[-1] + 0.3


@pytest.mark.parametrize("decoys", DECOYS)
def test_under_pram_and_noise_knowledge_helps_and_can_be_learned(played, decoys):
    _, matrix, _ = played
    greedy, aware, learned = (
        rows_found(matrix, decoys, "Pipeline", attack)
        for attack in ("NearestNeighbour", "LikelihoodAssignment", "ExpectationMaximizationLinkage")
    )
    assert aware > greedy
    assert learned > aware - 0.08
