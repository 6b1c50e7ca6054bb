"""Tables of a comparison: plain text, Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict

from leaderboard.comparison import Change
from leaderboard.goals import goal_words
from leaderboard.number_text import number
from leaderboard.result import canonical, label
from leaderboard.tables import place_title

CHANGE_COLUMNS = (
    *("scenario", "variant", "defense", "parameters", "attack", "attack_parameters", "measure"),
    *("base", "head", "change", "low", "high", "p", "plays", "judged", "worse", "significant", "alarm"),
)
_HEADERS = ("", "scenario", "defense", "attack", "measure", "base", "head", "change", "interval", "plays")
_ALIGN = ("left", "left", "left", "left", "left", "right", "right", "right", "right", "right")


def changes_to_terminal(changes: Sequence[Change]) -> str:
    """Changes as a plain table: ``✗`` marks a significant worsening, ``✓`` a significant improvement."""
    from tabulate import tabulate

    return tabulate(_cells(changes), _HEADERS, tablefmt="simple", colalign=_ALIGN, disable_numparse=True)


def changes_to_markdown(changes: Sequence[Change]) -> str:
    """Changes as a Markdown table."""
    from tabulate import tabulate

    cells = [[cell.replace("|", r"\|") for cell in line] for line in _cells(changes)]
    return tabulate(cells, _HEADERS, tablefmt="pipe", colalign=_ALIGN, disable_numparse=True) + "\n"


def changes_to_csv(changes: Sequence[Change]) -> str:
    """Changes as CSV with the columns `CHANGE_COLUMNS`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CHANGE_COLUMNS)
    for line in map(_flat, changes):
        writer.writerow([canonical(value) if isinstance(value, dict | bool) else value for value in line.values()])
    return text.getvalue()


def changes_to_json(changes: Sequence[Change]) -> str:
    """Changes as a JSON list of objects with the keys `CHANGE_COLUMNS`."""
    return json.dumps([_flat(change) for change in changes], indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _flat(change: Change) -> dict[str, object]:
    values = {**asdict(change), "alarm": change.alarm}
    return {name: values[name] for name in CHANGE_COLUMNS}


def _cells(changes: Sequence[Change]) -> list[list[str]]:
    return [
        [
            ("✗" if change.worse else "✓") if change.significant else "",
            place_title(change.scenario, change.variant),
            label(change.defense, change.parameters),
            "–" if change.attack is None else label(change.attack, change.attack_parameters),
            goal_words(change.measure),
            *_ends(change),
            str(change.plays),
        ]
        for change in changes
    ]


def _ends(change: Change) -> tuple[str, str, str, str]:
    """Base, head, change and interval as text, in the units of the measure."""
    if change.measure == "failures":
        return f"{change.base:g}", f"{change.head:g}", f"{change.change:+g}", ""
    if change.measure == "time":
        shares = (f"{100 * value:+.0f} %" for value in (change.change, change.low, change.high))
        moved, low, high = shares
        return _seconds(change.base), _seconds(change.head), moved, f"[{low}, {high}]"
    moved = f"{'+' if change.change > 0 else ''}{number(change.change, 3)}"
    return number(change.base, 3), number(change.head, 3), moved, f"[{number(change.low, 3)}, {number(change.high, 3)}]"


def _seconds(value: float) -> str:
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"
