"""Recorded runs of a database: start, version, revision, machine, packages and results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sql

from leaderboard import Lines, Result, Row, Section, Series, Store, Table, canonical, label, rank
from leaderboard.pages import COLOURS, LARGEST, advantage_text, attack_text, place_title
from leaderboard.results.result import grouped_by
from leaderboard.results.setting_names import settings_named
from metrics.columns import refuse, require

_schema = sql.MetaData()
_runs = sql.Table(
    "tokumei_runs",
    _schema,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("started", sql.Text, nullable=False),
    sql.Column("about", sql.Text, nullable=False),
    sql.Column("plan", sql.String(64), nullable=False),
    sqlite_autoincrement=True,
)
# Runs of the same plan share their results: the keys are stored once.
_plans = sql.Table(
    "tokumei_plans",
    _schema,
    sql.Column("plan", sql.String(64), primary_key=True),
    sql.Column("key", sql.String(64), primary_key=True),
)


@dataclass(frozen=True)
class Run:
    """One run of one or more scenarios.

    Parameters
    ----------
    number : int
        Number of the run in its database, from 1.
    started : str
        Start time, ISO 8601.
    about : dict
        Facts about the run: ``scenarios``, ``version`` of tokumei, ``revision`` of the code under version control,
        ``machine`` and ``packages``.
    """

    number: int
    started: str
    about: dict[str, Any]

    @property
    def revision(self) -> str:
        """Revision of the code; empty if the code was not under version control."""
        return str(self.about.get("revision", ""))


def record_run(store: Store, started: str, about: Mapping[str, Any], keys: Collection[str]) -> Run:
    """Record a run before it plays.

    Parameters
    ----------
    store : Store
        Database.
    started : str
        Start time, ISO 8601.
    about : mapping
        See `Run`.
    keys : collection of str
        Keys of all its results, including those known from earlier runs.
    """
    ordered = sorted(set(keys))
    plan = hashlib.sha256("\n".join(ordered).encode()).hexdigest()
    with store.transaction_alone() as connection:
        _schema.create_all(connection)
        stored = connection.execute(sql.select(_plans.c.plan).where(_plans.c.plan == plan).limit(1)).first()
        if stored is None and ordered:
            connection.execute(_plans.insert(), [{"plan": plan, "key": key} for key in ordered])
        row = {"started": started, "about": canonical(dict(about)), "plan": plan}
        number = connection.execute(_runs.insert().returning(_runs.c.id), row).scalar_one()
    return Run(number, started, json.loads(row["about"]))


def recorded_runs(store: Store) -> list[Run]:
    """All recorded runs, oldest first.

    Raises
    ------
    ValueError
        If a run was changed by others.
    """
    return [Run(row["id"], row["started"], _about(row["id"], row["about"])) for row in store.rows_of(_runs, _runs.c.id)]


def _about(number: int, text: Any) -> dict[str, Any]:
    """Facts about a run from their JSON."""
    try:
        about: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"run {number} is damaged ({error})") from None
    require(isinstance(about, dict), f"run {number} is damaged ({type(about).__name__} where an object is expected)")
    return about


def find_run(store: Store, name: str, revision: str = "") -> Run:
    """Find a run by number, or the latest run of a revision by the beginning of its name (four digits or more).

    A run on files that differ from their revision is marked by ``+``. It counts only if the revision itself was not
    run, or if the name includes the ``+``.

    Parameters
    ----------
    store : Store
        Database.
    name : str
        Number of the run, or beginning of its revision.
    revision : str, optional
        Revision to which the name refers in the repository, such as a branch's.

    Raises
    ------
    ValueError
        If there is no such run, or if runs of several revisions match.
    """
    runs = recorded_runs(store)
    numbered = [run for run in runs if str(run.number) == name]
    if numbered:
        return numbered[0]
    matches = [run for run in runs if len(name) >= 4 and run.revision.startswith(name)]
    if not matches and revision:
        matches = [run for run in runs if run.revision.startswith(revision)]
    latest = ", ".join(str(run.number) for run in runs[-5:]) or "none"
    require(matches, f"there is no run {name!r}; the latest runs are {latest}")
    revisions = sorted({run.revision.removesuffix("+") for run in matches})
    refuse(len(revisions) > 1, f"runs of several revisions start with {name!r}: {', '.join(revisions)}")
    clean = [run for run in matches if not run.revision.endswith("+")]
    return (clean or matches)[-1]


def results_of(store: Store, run: Run) -> list[Result]:
    """Finished results of a run, including those known from earlier runs."""
    with store.transaction() as connection:
        plan = sql.select(_runs.c.plan).where(_runs.c.id == run.number).scalar_subquery()
        keys = connection.execute(sql.select(_plans.c.key).where(_plans.c.plan == plan)).scalars().all()
    return store.results(keys=frozenset(keys))


# History of a defense over the recorded runs of a database.

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
    return [
        HistoryEntry(run, row)
        for run in recorded_runs(store)
        for row in rank([one for one in results_of(store, run) if (one.defense, one.parameters_text) in kept])
    ]


def history_report(entries: Sequence[HistoryEntry]) -> tuple[Section, ...]:
    """Report with a section for each scenario and variant: a table per defense, and charts of utility and success."""
    places = grouped_by(entries, lambda entry: place_title(entry.row.scenario, entry.row.variant))
    return tuple(_section(title, own) for title, own in sorted(places.items()))


def _section(title: str, entries: Sequence[HistoryEntry]) -> Section:
    defenses = grouped_by(entries, lambda entry: label(entry.row.defense, entry.row.parameters))
    tables = tuple(
        Table(
            name,
            _COLUMNS,
            [_cells(entry) for entry in own],
            3,
            note="" if all(entry.row.advantage_unbiased for entry in own) else f"{LARGEST}.",
        )
        for name, own in defenses.items()
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
