"""Geometry of the scatter chart: no line and no disc lies under a name."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard import Row
from leaderboard.pages.advantage_axis import SCALES, Scale, crosses, distance, inside, is_free, staircase, steps
from leaderboard.pages.chart import Picture, box_of, lines_of, picture, places_of
from leaderboard.results.result import label
from leaderboard.statistics.board import ranked

SIZE = 880.0, 560.0, 10.0
names = st.sampled_from(["Mondrian", "PrivateMarginals", "OptimalRetentionByOutput", "Identity", "A"])
shares = st.floats(0, 1) | st.sampled_from([0.0, 0.98, 0.99, 1.0])


@st.composite
def boards(draw: st.DrawFn) -> list[Row]:
    """Rows with random scores and intervals; many of them near advantage 1."""
    rows = []
    for index in range(draw(st.integers(1, 25))):
        utility, advantage, wide, high = draw(shares), draw(shares), draw(st.floats(0, 0.3)), draw(st.floats(0, 0.3))
        measured: dict[str, Any] = {
            "utility": utility,
            "utility_low": max(0.0, utility - high),
            "utility_high": min(1.0, utility + high),
            "advantage": advantage,
            "success": 0.5 + advantage / 2,
            "success_low": max(0.0, 0.5 + advantage / 2 - wide),
            "success_high": min(1.0, 0.5 + advantage / 2 + wide),
            "score": utility * (1 - advantage),
        }
        rows.append(
            Row(
                scenario="bank",
                variant="",
                defense=draw(names),
                parameters={"k": index},
                guarantee="",
                components={},
                measured={},
                worst_attack="Homer",
                worst_parameters={},
                goal="membership",
                chance=0.5,
                plays=3,
                attacks=1,
                failures=0,
                reason="",
                complete=True,
                seconds=1.0,
                **measured,
            )
        )
    return ranked(rows)


def front_of(drawn: Picture) -> list[tuple[float, float, float, float]]:
    points = sorted((point for point in drawn.points if point.row.pareto), key=lambda point: (point.x, -point.y))
    return steps(staircase([(point.x, point.y) for point in points], drawn.width - drawn.margin[1]))


@pytest.mark.thorough
@pytest.mark.parametrize("scale", SCALES)
@settings(max_examples=60, deadline=None)
@given(rows=boards())
def test_no_error_bar_leader_front_or_disc_lies_under_a_name(scale: Scale, rows: list[Row]) -> None:
    drawn = picture(rows, *SIZE, labelled=True, scale=scale)
    left, right, top, bottom = drawn.margin
    boxes = [box_of(name) for name in drawn.labels]
    radius = drawn.radius
    centres = [(point.disc_x, point.disc_y) for point in drawn.points]
    discs = [(x - radius, x + radius, y - radius, y + radius) for x, y in centres]
    lines = [*front_of(drawn), *(line for point in drawn.points for line in lines_of(point))]
    for index, box in enumerate(boxes):
        assert inside(box, (left, drawn.width - right, top, drawn.height - bottom))
        assert is_free(box, [*boxes[:index], *discs])
        assert not [line for line in lines if crosses(box, line)]


@pytest.mark.thorough
@pytest.mark.parametrize("scale", SCALES)
@settings(max_examples=60, deadline=None)
@given(rows=boards())
def test_a_name_stands_nearest_to_its_own_disc(scale: Scale, rows: list[Row]) -> None:
    drawn = picture(rows, *SIZE, labelled=True, scale=scale)
    owners = {label(point.row.defense, point.row.parameters): point for point in drawn.points}
    for name in drawn.labels:
        own = owners[name.text]
        near = distance(box_of(name), (own.disc_x, own.disc_y))
        for other in (point for point in drawn.points if point is not own):
            for place in places_of(other):
                assert near < distance(box_of(name), place) or place == (own.disc_x, own.disc_y)


def test_a_defense_alone_is_named_beside_its_disc() -> None:
    [row] = boards_of_one()
    [name] = picture([row], *SIZE, labelled=True).labels
    assert name.text == "Mondrian k=5"


def test_the_path_of_the_front_runs_through_its_points() -> None:
    rows = ranked([*boards_of_one(), *boards_of_one(utility=0.9, advantage=0.8, k=2)])
    drawn = picture(rows, *SIZE, labelled=True)
    safe, useful = sorted(drawn.points, key=lambda point: point.x)
    assert drawn.front == f"M{safe.x:g} {safe.y:g}H{useful.x:g}V{useful.y:g}H866"


def boards_of_one(utility: float = 0.5, advantage: float = 0.2, k: int = 5) -> list[Row]:
    return ranked(
        [
            Row(
                scenario="bank",
                variant="",
                defense="Mondrian",
                parameters={"k": k},
                guarantee="",
                utility=utility,
                components={},
                measured={},
                worst_attack="Homer",
                chance=0.5,
                success=0.5 + advantage / 2,
                advantage=advantage,
                score=utility * (1 - advantage),
                plays=3,
                attacks=1,
                failures=0,
                reason="",
                complete=True,
                seconds=1.0,
            )
        ]
    )
