"""Tables of a comparison: plain text, Markdown, CSV, JSON, LaTeX and the sections of a page."""

from __future__ import annotations

import json
from collections.abc import Sequence

from leaderboard import Change, ReportedCheck, Section, Table, canonical, label
from leaderboard.pages.latex import latex_table
from leaderboard.pages.number_text import counted, number
from leaderboard.pages.tables import Column, cells_of, csv_lines, place_title, records_as_text
from leaderboard.results.goals import goal_words
from leaderboard.statistics.comparison import COUNTED

_COLUMNS = (
    Column("mark", "", text=lambda change: _mark(change), in_csv=False),
    Column("scenario", "scenario", text=lambda change: place_title(change.scenario, change.variant)),
    Column("variant"),
    Column("defense", "defense", text=lambda change: _defenses(change)),
    Column("parameters"),
    Column(
        "attack",
        "attack",
        text=lambda change: "–" if change.attack is None else label(change.attack, change.attack_parameters),
    ),
    Column("attack_parameters"),
    Column("measure", "measure", text=lambda change: goal_words(change.measure)),
    Column("base", "base", "right", lambda change: _ends(change)[0]),
    Column("head", "head", "right", lambda change: _ends(change)[1]),
    Column("change", "change", "right", lambda change: _ends(change)[2]),
    Column("interval", "interval", "right", lambda change: _ends(change)[3], in_csv=False),
    *map(Column, ("low", "high", "p")),
    Column("plays", "plays", "right"),
    *map(Column, ("judged", "worse", "significant", "alarm", "base_defense", "base_parameters")),
)
CHANGE_COLUMNS = tuple(column.name for column in _COLUMNS if column.in_csv)
_HEADERS = tuple(str(column.heading) for column in _COLUMNS if column.heading is not None)
_ALIGN = tuple(column.align for column in _COLUMNS if column.heading is not None)


def changes_to_terminal(changes: Sequence[Change]) -> str:
    """Changes as a plain table: ``✗`` marks a significant worsening, ``✓`` a significant improvement."""
    return records_as_text(_COLUMNS, changes, "simple")


def changes_to_markdown(changes: Sequence[Change]) -> str:
    """Changes as a Markdown table."""
    return records_as_text(_COLUMNS, changes, "pipe") + "\n"


def changes_to_csv(changes: Sequence[Change]) -> str:
    """Changes as CSV with the columns `CHANGE_COLUMNS`."""
    return csv_lines(
        CHANGE_COLUMNS,
        (
            [canonical(value) if isinstance(value, dict | bool) else value for value in record.values()]
            for record in _records(changes)
        ),
    )


def changes_to_json(changes: Sequence[Change]) -> str:
    """Changes as a JSON list of objects with the keys `CHANGE_COLUMNS`."""
    return json.dumps(_records(changes), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def changes_to_latex(changes: Sequence[Change]) -> str:
    """Changes as a LaTeX table (booktabs)."""
    return latex_table("Changes", _HEADERS, cells_of(_COLUMNS, changes), _ALIGN)


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
        Table(
            counted(len(listed), what),
            heads,
            [[words.get(mark, mark), *rest] for mark, *rest in cells_of(_COLUMNS, listed)],
        )
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


def _records(changes: Sequence[Change]) -> list[dict[str, object]]:
    return [{name: getattr(change, name) for name in CHANGE_COLUMNS} for change in changes]


def _mark(change: Change) -> str:
    return ("✗" if change.worse else "✓") if change.significant else ""


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
