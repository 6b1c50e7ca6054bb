"""History of a defense over the recorded runs of a database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from leaderboard import Lines, Row, Run, Section, Series, Store, Table, label, rank, recorded_runs, results_of
from leaderboard.pages.line_chart import COLOURS
from leaderboard.pages.tables import LARGEST, advantage_text, attack_text, place_title
from leaderboard.results.setting_names import settings_named

_COLUMNS = (
    "run",
    "started",
    "version",
    "revision",
    "plays",
    "utility",
    "worst attack",
    "success",
    "advantage",
    "score",
)


@dataclass(frozen=True)
class HistoryEntry:
    """A row of the board in one run."""

    run: Run
    row: Row


def history_of(store: Store, defense: str) -> list[HistoryEntry]:
    """Board rows of a defense in every recorded run, oldest run first.

    Parameters
    ----------
    store : Store
        Database with the runs.
    defense : str
        Its name as boards show it, with or without parameters; see `leaderboard.results.setting_names.settings_named`.

    Raises
    ------
    ValueError
        If the database has results, but none of such a defense; the message names the nearest one.
    """
    played = [(result.defense, result.parameters) for result in store.results()]
    kept = set(settings_named(defense, played, "defense")) if played else set()
    entries = []
    for run in recorded_runs(store):
        results = [result for result in results_of(store, run) if (result.defense, result.parameters_text) in kept]
        entries += [HistoryEntry(run, row) for row in rank(results)]
    return entries


def history_report(entries: Sequence[HistoryEntry]) -> tuple[Section, ...]:
    """Report with a section for each scenario and variant: a table per defense, and charts of utility and success."""
    places: dict[str, dict[str, list[HistoryEntry]]] = defaultdict(lambda: defaultdict(list))
    for entry in entries:
        row = entry.row
        places[place_title(row.scenario, row.variant)][label(row.defense, row.parameters)].append(entry)
    return tuple(_section(title, defenses) for title, defenses in sorted(places.items()))


def _section(title: str, defenses: Mapping[str, Sequence[HistoryEntry]]) -> Section:
    tables = tuple(
        Table(
            name,
            _COLUMNS,
            [_cells(entry) for entry in entries],
            3,
            note="" if all(entry.row.advantage_unbiased for entry in entries) else f"{LARGEST}.",
        )
        for name, entries in defenses.items()
    )
    names = list(defenses)
    groups = [names[start : start + COLOURS] for start in range(0, len(names), COLOURS)]
    charts = [
        chart
        for group in groups
        for chart in (
            _chart("Utility", "utility", "higher", {name: defenses[name] for name in group}),
            _chart("Success of the worst attack", "success", "lower", {name: defenses[name] for name in group}),
        )
        if chart is not None
    ]
    return Section(title, tables=tables, lines=tuple(charts))


def _cells(entry: HistoryEntry) -> tuple[str | float | int | None, ...]:
    run, row = entry.run, entry.row
    advantage = row.advantage if row.advantage_unbiased else advantage_text(row, 3)
    return (
        *(run.number, run.started[:16].replace("T", " "), str(run.about.get("version", "")), _short(run.revision)),
        *(row.plays, row.utility, attack_text(row), row.success, advantage, row.score),
    )


def _short(revision: str) -> str:
    return revision[:8] + ("+" if revision.endswith("+") else "") if revision else "–"


def _chart(
    title: str, measure: str, better: Literal["higher", "lower"], defenses: Mapping[str, Sequence[HistoryEntry]]
) -> Lines | None:
    """Chart of a measure of the board's rows with its interval; None if no run measured it."""
    parts = (measure, f"{measure}_low", f"{measure}_high")
    lines = []
    for name, entries in defenses.items():
        points = [(entry.run.number, *(getattr(entry.row, part) for part in parts)) for entry in entries]
        measured = [point for point in points if None not in point[:2]]
        if measured:
            run, value, low, high = zip(*measured, strict=True)
            bounded = None not in low and None not in high
            lines.append(Series(name, run, value, low if bounded else (), high if bounded else ()))
    if not lines:
        return None
    return Lines(title, "run", measure, tuple(lines), better=better)
