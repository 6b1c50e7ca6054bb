"""Heat map of the matrix."""

from dataclasses import replace

from leaderboard import Pair, Row
from leaderboard.pages.board_tables import grids
from leaderboard.pages.heat_map import STEPS, heat_map
from leaderboard.statistics.pairs import Success

FAMILIES = ["Mondrian", "Rounding"]


def row(defense: str, k: int, advantage: float) -> Row:
    return Row(
        scenario="bank",
        variant="",
        defense=defense,
        parameters={"k": k},
        guarantee="",
        utility=0.5,
        components={},
        measured={},
        advantage=advantage,
        plays=1,
        attacks=1,
        failures=0,
        reason="",
        complete=True,
        seconds=0.0,
    )


def pair(defense: str, k: int, attack: str, status: str = "ok", **rates: float) -> Pair:
    return Pair(
        scenario="bank",
        variant="",
        defense=defense,
        parameters={"k": k},
        attack=attack,
        attack_parameters={},
        successes={goal: Success(goal, (rate,), 100, 0.5) for goal, rate in rates.items()},
        measures={"precision": 0.25},
        plays=0 if status == "skipped" else 1,
        status=status,
        reason="" if status == "ok" else "out of luck",
        seconds=0.0,
    )


ROWS = [row("Rounding", 5, 0.2), row("Mondrian", 9, 0.1), row("Mondrian", 2, 0.8)]
PAIRS = [
    pair("Rounding", 5, "Weak", membership=0.5),
    pair("Rounding", 5, "Strong", membership=1.0, attribute=0.75),
    pair("Mondrian", 9, "Weak", "skipped"),
    pair("Mondrian", 9, "Strong", "timeout"),
    pair("Mondrian", 9, "Broken", "error"),
    pair("Mondrian", 2, "Strong", membership=0.4),
]


def test_settings_stand_with_their_family_and_attacks_with_their_goal() -> None:
    heat = heat_map(ROWS, grids(PAIRS)["bank", ""], FAMILIES)
    assert heat is not None
    assert [(line.row.defense, line.row.parameters["k"], line.first) for line in heat.lines] == [
        ("Mondrian", 2, True),
        ("Mondrian", 9, False),
        ("Rounding", 5, True),
    ]
    assert [line.position for line in heat.lines] == [2, 1, 0]
    assert [(group.goal, group.attacks) for group in heat.columns] == [
        ("membership", ["Strong", "Weak"]),
        ("attribute", ["Strong"]),
        ("", ["Broken"]),
    ]


def test_cells_say_advantage_failure_or_that_nothing_was_measured() -> None:
    heat = heat_map(ROWS, grids(PAIRS)["bank", ""], FAMILIES)
    assert heat is not None
    light, strong, rounding = ([(cell.text, cell.step, cell.failed) for cell in line.cells] for line in heat.lines)
    assert light == [("-.20", 0, False), ("", None, False), ("–", None, False), ("", None, False)]
    assert strong == [("time", None, True), ("–", None, False), ("time", None, True), ("err", None, True)]
    assert rounding == [("1.00", STEPS, False), (".00", 0, False), (".50", STEPS // 2, False), ("", None, False)]
    assert heat.lines[1].cells[0].details == "timeout: out of luck"
    details = heat.lines[2].cells[2].details
    assert details.startswith("values .75 [")
    assert details.endswith("chance .500, 1 play\n· precision .25")


def test_large_maps_leave_out_measures_besides_the_scores() -> None:
    rows = [row("Mondrian", k, 0.1) for k in range(2000)]
    heat = heat_map(rows, grids([pair("Mondrian", 1, "Strong", membership=0.6)])["bank", ""], FAMILIES)
    assert heat is not None
    assert not heat.detailed
    assert all("precision" not in cell.details for line in heat.lines for cell in line.cells)


def test_large_maps_state_plays_that_are_not_the_rows() -> None:
    rows = [row("Mondrian", k, 0.1) for k in range(2000)]
    fewer = replace(pair("Mondrian", 2, "Strong", membership=0.6), plays=3)
    heat = heat_map(rows, grids([pair("Mondrian", 1, "Strong", membership=0.6), fewer])["bank", ""], FAMILIES)
    assert heat is not None
    details = {line.row.parameters["k"]: line.cells[0].details for line in heat.lines}
    assert details[1].endswith("chance .500")
    assert details[2].endswith("chance .500, 3 plays")


def test_without_attacks_there_is_no_map() -> None:
    assert heat_map(ROWS, {}, FAMILIES) is None
