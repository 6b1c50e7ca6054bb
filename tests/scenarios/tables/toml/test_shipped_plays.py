"""Shipped scenarios have enough plays for their own gates."""

import itertools

import pytest

from leaderboard.statistics.significance import plays_for
from scenarios.tables.toml.scenario_file import library, scenario_tables

LEVEL = 0.01
# Boards of an hour: their gate judges utility and success. Times are for the gate of a shorter board.
LONG = {"arena"}
BOARDS = [name for name, path in sorted(library().items()) if "experiment" not in scenario_tables(path)]


def variants(tables):
    """Number of methods that tables with lists of parameter values stand for."""
    return sum(
        len(list(itertools.product(*(value for value in table.values() if isinstance(value, list)))))
        for table in tables
    )


@pytest.mark.parametrize("name", BOARDS)
def test_compare_can_alarm_on_every_measure(name):
    tables = scenario_tables(library()[name])
    defenses, attacks = variants(tables["defense"]), variants(tables["attack"])
    # The most that can be compared: a claim about rows may be scored for membership, too.
    game = tables["scenario"]["game"]
    goals = 2 if game["use"] == "CandidateFile" else 1
    # Of several questions about the same people, an attack meets the one of its goal (test_arena.py).
    rates = defenses * attacks * goals * (1 if game["use"] == "SharedPeople" else variants([game]))
    measures = ["utility"] * defenses + ["success"] * rates
    if name not in LONG:
        measures += ["time"] * defenses
    assert tables["scenario"].get("plays", 20) >= plays_for(measures, LEVEL)
