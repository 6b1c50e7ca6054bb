"""Tables of a comparison: plain text, Markdown, CSV, JSON, LaTeX and the sections of a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from leaderboard import Change, ReportedCheck, Section, Table, canonical, label
from leaderboard.pages.latex import latex_table
from leaderboard.pages.number_text import counted, number
from leaderboard.pages.tables import csv_lines, place_title, text_table
from leaderboard.results.goals import goal_words
from leaderboard.statistics.comparison import COUNTED

CHANGE_COLUMNS = (
    *("scenario", "variant", "defense", "parameters", "attack", "attack_parameters", "measure"),
    *("base", "head", "change", "low", "high", "p", "plays", "judged", "worse", "significant", "alarm"),
    *("base_defense", "base_parameters"),
)
_HEADERS = ("", "scenario", "defense", "attack", "measure", "base", "head", "change", "interval", "plays")
_ALIGN = ("left", "left", "left", "left", "left", "right", "right", "right", "right", "right")


def changes_to_terminal(changes: Sequence[Change]) -> str:
    """Changes as a plain table: ``✗`` marks a significant worsening, ``✓`` a significant improvement."""
    return text_table(_HEADERS, _cells(changes), _ALIGN, "simple")


def changes_to_markdown(changes: Sequence[Change]) -> str:
    """Changes as a Markdown table."""
    return text_table(_HEADERS, _cells(changes), _ALIGN, "pipe") + "\n"


def changes_to_csv(changes: Sequence[Change]) -> str:
    """Changes as CSV with the columns `CHANGE_COLUMNS`."""
    return csv_lines(
        CHANGE_COLUMNS,
        (
            [canonical(value) if isinstance(value, dict | bool) else value for value in _flat(change).values()]
            for change in changes
        ),
    )


def changes_to_json(changes: Sequence[Change]) -> str:
    """Changes as a JSON list of objects with the keys `CHANGE_COLUMNS`."""
    return json.dumps([_flat(change) for change in changes], indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def changes_to_latex(changes: Sequence[Change]) -> str:
    """Changes as a LaTeX table (booktabs)."""
    return latex_table("Changes", _HEADERS, _cells(changes), _ALIGN)


def change_sections(changes: Sequence[Change], summary: str) -> list[Section]:
    """Sections of a page: the significant changes, and every measure that was compared.

    Parameters
    ----------
    changes : sequence of Change
        Changes as returned by `compare`.
    summary : str
        Lines above the tables.
    """
    significant = [change for change in changes if change.significant]
    heads = ("verdict", *_HEADERS[1:])
    words = {"✗": "✗ worse", "✓": "✓ better"}
    tables = [
        Table(counted(len(listed), what), heads, [[words.get(mark, mark), *rest] for mark, *rest in _cells(listed)])
        for what, listed in (("significant change", significant), ("measure", changes))
    ]
    return [
        Section("What changed", tuple(summary.splitlines()), tuple(tables[:1] if significant else ())),
        Section("Every measure that was compared", (), (tables[1],)),
    ]


def change_checks(changes: Sequence[Change]) -> list[ReportedCheck]:
    """Changes as checks of a report: an alarm is a failure, a measure with too few plays is skipped."""
    checks = []
    for change in changes:
        attack = "" if change.attack is None else f" against {label(change.attack, change.attack_parameters)}"
        base, head, moved, interval = _ends(change)
        name = f"{_defenses(change)}{attack}: {goal_words(change.measure)}"
        failure = f"{base} became {head} ({moved}{f', {interval}' if interval else ''})" if change.alarm else ""
        skipped = "" if change.alarm or change.judged else "too few plays"
        checks.append(
            ReportedCheck(place_title(change.scenario, change.variant), name, failure=failure, skipped=skipped)
        )
    return checks


def _flat(change: Change) -> dict[str, object]:
    values = {**asdict(change), "alarm": change.alarm}
    return {name: values[name] for name in CHANGE_COLUMNS}


def _cells(changes: Sequence[Change]) -> list[list[str]]:
    return [
        [
            ("✗" if change.worse else "✓") if change.significant else "",
            place_title(change.scenario, change.variant),
            _defenses(change),
            "–" if change.attack is None else label(change.attack, change.attack_parameters),
            goal_words(change.measure),
            *_ends(change),
            str(change.plays),
        ]
        for change in changes
    ]


def _defenses(change: Change) -> str:
    """The defense, or that of the base and that of the head if they are two."""
    sides = (label(change.base_defense, change.base_parameters), label(change.defense, change.parameters))
    return " → ".join(dict.fromkeys(sides))


def _ends(change: Change) -> tuple[str, str, str, str]:
    """Base, head, change and interval as text, in the units of the measure."""
    if change.measure in COUNTED:
        return f"{change.base:g}", f"{change.head:g}", f"{change.change:+g}", ""
    if change.measure == "time":
        shares = (f"{100 * value:+.0f} %" for value in (change.change, change.low, change.high))
        moved, low, high = shares
        return _seconds(change.base), _seconds(change.head), moved, f"[{low}, {high}]"
    moved = f"{'+' if change.change > 0 else ''}{number(change.change, 3)}"
    return number(change.base, 3), number(change.head, 3), moved, f"[{number(change.low, 3)}, {number(change.high, 3)}]"


def _seconds(value: float) -> str:
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"
