"""Runs as a database remembers them: when, with which version, revision, machine and packages, and which results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql

from leaderboard.result import Result, canonical
from leaderboard.store import Store

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
# Runs of one plan have the same results: their keys are kept once.
_plans = sql.Table(
    "tokumei_plans",
    _schema,
    sql.Column("plan", sql.String(64), primary_key=True),
    sql.Column("key", sql.String(64), primary_key=True),
)


@dataclass(frozen=True)
class Run:
    """One run of a scenario or several.

    Parameters
    ----------
    number : int
        Counted from 1 in each database.
    started : str
        When, ISO 8601.
    about : dict
        What it ran on: ``scenarios``, ``version`` of tokumei, ``revision`` of the code under version control,
        ``machine`` and ``packages``.
    """

    number: int
    started: str
    about: dict[str, Any]

    @property
    def revision(self) -> str:
        """Revision of the code, or nothing where it was under no version control."""
        return str(self.about.get("revision", ""))


def record_run(store: Store, started: str, about: Mapping[str, Any], keys: Collection[str]) -> Run:
    """Remember a run before it plays.

    Parameters
    ----------
    store : Store
        Where.
    started : str
        When, ISO 8601.
    about : mapping
        See `Run`.
    keys : collection of str
        Keys of all its results, those known from earlier runs too.
    """
    ordered = sorted(set(keys))
    plan = hashlib.sha256("\n".join(ordered).encode()).hexdigest()
    with store.transaction() as connection:
        _schema.create_all(connection)
        known = connection.execute(sql.select(_plans.c.plan).where(_plans.c.plan == plan).limit(1)).first()
        if known is None and ordered:
            connection.execute(_plans.insert(), [{"plan": plan, "key": key} for key in ordered])
        row = {"started": started, "about": canonical(dict(about)), "plan": plan}
        number = connection.execute(_runs.insert().returning(_runs.c.id), row).scalar_one()
    return Run(number, started, json.loads(row["about"]))


def recorded_runs(store: Store) -> list[Run]:
    """All runs, the first one first."""
    with store.transaction() as connection:
        if not sql.inspect(connection).has_table(_runs.name):
            return []
        rows = connection.execute(sql.select(_runs).order_by(_runs.c.id)).mappings().all()
    return [Run(row["id"], row["started"], json.loads(row["about"])) for row in rows]


def find_run(store: Store, name: str, revision: str = "") -> Run:
    """The run of this number, or the latest of the revision that starts with this name (four digits or more).

    Runs on files that differ from their revision, marked by ``+``, count where the revision itself was not run, or
    where the name is all of theirs.

    Parameters
    ----------
    store : Store
        Where.
    name : str
        Number or revision.
    revision : str, optional
        The revision that the name stands for in the repository, such as a branch's.

    Raises
    ------
    ValueError
        If there is none, or runs of several revisions start so.
    """
    runs = recorded_runs(store)
    numbered = [run for run in runs if str(run.number) == name]
    if numbered:
        return numbered[0]
    found = [run for run in runs if len(name) >= 4 and run.revision.startswith(name)]
    if not found and revision:
        found = [run for run in runs if run.revision.startswith(revision)]
    if not found:
        known = ", ".join(str(run.number) for run in runs[-5:]) or "none"
        raise ValueError(f"there is no run {name!r}; the latest runs are {known}")
    revisions = sorted({run.revision.removesuffix("+") for run in found})
    if len(revisions) > 1:
        raise ValueError(f"runs of several revisions start with {name!r}: {', '.join(revisions)}")
    clean = [run for run in found if not run.revision.endswith("+")]
    return (clean or found)[-1]


def results_of(store: Store, run: Run) -> list[Result]:
    """Results of a run that have ended, those too that it knew from earlier runs."""
    with store.transaction() as connection:
        plan = sql.select(_runs.c.plan).where(_runs.c.id == run.number).scalar_subquery()
        keys = connection.execute(sql.select(_plans.c.key).where(_plans.c.plan == plan)).scalars().all()
    return store.results(keys=frozenset(keys))
