"""The board as one self-contained HTML page that works offline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.board import Row, by_place
from leaderboard.chart import picture
from leaderboard.documents import render
from leaderboard.goals import goal_title, goal_words
from leaderboard.pairs import Pair, goals
from leaderboard.result import label
from leaderboard.tables import grids, number, place_title, plays_text


@dataclass(frozen=True)
class HeatCell:
    """Cell of the heat map: its text, the strength of its colour in [0, 1], and its tooltip."""

    text: str
    heat: float | None
    details: str


def render_page(
    rows: Sequence[Row], pairs: Sequence[Pair], about: Mapping[str, str], descriptions: Mapping[str, str]
) -> str:
    """HTML page of the board, which loads no external resources.

    Parameters
    ----------
    rows : sequence of Row
        Rows as returned by `rank`.
    pairs : sequence of Pair
        Pairs as returned by `matrix`.
    about : mapping of str
        Facts about the run: scenario, plays, seed, version, date.
    descriptions : mapping of str
        Description of each name in one line; occurrences of the name link to it.
    """
    grid = grids(pairs)
    scenarios = sorted({row.scenario for row in rows})
    places = [
        {
            **_place(group, grid.get((scenario, variant), {})),
            "id": f"place-{index}",
            "title": place_title(scenario, variant),
            # With a single scenario, the variant alone suffices.
            "choice": variant if variant and len(scenarios) == 1 else place_title(scenario, variant),
        }
        for index, ((scenario, variant), group) in enumerate(by_place(rows).items())
    ]
    return render(
        "board.html",
        {"words": _words, "anchor": _anchor},
        scenarios=scenarios,
        places=places,
        about=about,
        descriptions=descriptions,
        goal_words=goal_words,
        goal_title=goal_title,
        label=label,
    )


def _place(rows: Sequence[Row], grid: Mapping[str, Mapping[str, Pair]]) -> dict[str, Any]:
    """Template variables of one scenario and variant."""
    attacks = sorted({attack for line in grid.values() for attack in line})
    names = [label(row.defense, row.parameters) for row in rows]
    return {
        "rows": list(zip(names, rows, [_details(row) for row in rows], strict=True)),
        "plays": plays_text(rows),
        "pictures": {
            "wide": picture(rows, 880, 560, 10, labelled=True),
            "narrow": picture(rows, 350, 400, 9, labelled=False),
        },
        "attacks": attacks,
        "heat": {
            goal: [
                (name, row, [_heat(grid.get(name, {}).get(attack), goal) for attack in attacks])
                for name, row in zip(names, rows, strict=True)
            ]
            for goal in goals([pair for line in grid.values() for pair in line.values()])
        },
    }


def _details(row: Row) -> str:
    """Tooltip of a defense, in lines."""
    lines = [label(row.defense, row.parameters)]
    if row.guarantee:
        lines.append(f"guarantee {row.guarantee}")
    if row.measured:
        lines.append("measured " + ", ".join(f"{name}={value:g}" for name, value in row.measured.items()))
    lines.append(f"utility {_interval(row.utility, row.utility_low, row.utility_high)}")
    lines += [f"· {name} {number(value)}" for name, value in row.components.items()]
    if row.worst_attack is not None:
        attack = label(row.worst_attack, row.worst_parameters or {})
        success = _interval(row.success, row.success_low, row.success_high)
        lines.append(f"worst attack {attack}")
        lines.append(f"· {goal_words(row.goal or '')} {success}, chance {number(row.chance, 3)}")
        lines.append(f"· advantage {number(row.advantage)}")
    lines.append(f"score {number(row.score, 3)}")
    if not row.complete:
        lines.append(f"incomplete: {row.failures} failed" + (f" ({row.reason})" if row.reason else ""))
    return "\n".join(lines)


def _heat(pair: Pair | None, goal: str) -> HeatCell:
    if pair is None:
        return HeatCell("", None, "not played")
    head = f"{label(pair.attack, pair.attack_parameters)}\nagainst {label(pair.defense, pair.parameters)}"
    success = pair.success(goal)
    note = "" if pair.status == "ok" else f"\n{pair.status}" + (f": {pair.reason}" if pair.reason else "")
    if success is None:
        unmeasured = f"\nno {goal_words(goal)} to measure" if pair.status == "ok" else note
        return HeatCell("–" if pair.status == "ok" else pair.status, None, head + unmeasured)
    rate = success.rate
    measured = (
        f"\n{goal_words(goal)} {_interval(rate.value, rate.low, rate.high)}, chance {number(success.chance, 3)}"
        f"\nadvantage {number(success.advantage)}, {pair.plays} plays"
    )
    measured += "".join(f"\n· {name.replace('_', ' ')} {number(value)}" for name, value in pair.measures.items())
    mark = "" if pair.status == "ok" else "!"
    return HeatCell(
        number(success.advantage) + mark, round(min(1.0, max(0.0, success.advantage)), 3), head + measured + note
    )


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    return number(value) if value is None else f"{number(value)} [{number(low)}, {number(high)}]"


def _words(name: str) -> list[str]:
    """Parts of a name; a line may break between them."""
    return re.split(r"(?<=[a-z])(?=[A-Z])", name)


def _anchor(name: str) -> str:
    """HTML identifier of a described name."""
    return "name-" + "".join(letter if letter.isalnum() else f"-{ord(letter):x}-" for letter in name)
