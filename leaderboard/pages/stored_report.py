"""Reports of experiments in a database of results: the last complete report of each scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sql

from leaderboard.pages.line_chart import Lines, Series
from leaderboard.pages.report import Bars, Section, Table
from leaderboard.results.result import canonical
from leaderboard.results.store import Store

_schema = sql.MetaData()
_reports = sql.Table(
    "tokumei_reports",
    _schema,
    sql.Column("scenario", sql.Text, primary_key=True),
    sql.Column("title", sql.Text, nullable=False),
    sql.Column("about", sql.Text, nullable=False),
    sql.Column("sections", sql.Text, nullable=False),
)


@dataclass(frozen=True)
class StoredReport:
    """A complete report of an experiment.

    Parameters
    ----------
    scenario, title : str
        Name and title of the scenario.
    about : mapping of str
        Facts about the run: scenario, plays and seed.
    sections : tuple of Section
        The report.
    """

    scenario: str
    title: str
    about: Mapping[str, str]
    sections: tuple[Section, ...]


def keep_report(store: Store, report: StoredReport) -> None:
    """Store a report in place of an earlier one of the same scenario."""
    row = {
        "scenario": report.scenario,
        "title": report.title,
        "about": canonical(dict(report.about)),
        "sections": canonical([asdict(section) for section in report.sections]),
    }
    with store.transaction_alone() as connection:
        _schema.create_all(connection)
        connection.execute(_reports.delete().where(_reports.c.scenario == report.scenario))
        connection.execute(_reports.insert(), row)


def stored_reports(store: Store, scenarios: Sequence[str] = ()) -> list[StoredReport]:
    """Reports of a database by name of their scenario, all of them or those named.

    Raises
    ------
    ValueError
        If a report was changed by others.
    """
    with store.transaction() as connection:
        if not sql.inspect(connection).has_table(_reports.name):
            return []
        rows = connection.execute(sql.select(_reports).order_by(_reports.c.scenario)).mappings().all()
    return [_report(dict(row)) for row in rows if not scenarios or row["scenario"] in scenarios]


def _report(row: Mapping[str, Any]) -> StoredReport:
    try:
        sections = tuple(_section(content) for content in json.loads(row["sections"]))
        about = {str(name): str(value) for name, value in json.loads(row["about"]).items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"the report of {row['scenario']!r} is damaged ({type(error).__name__})") from None
    return StoredReport(row["scenario"], row["title"], about, sections)


def _section(content: dict[str, Any]) -> Section:
    return Section(
        content["title"],
        tuple(content["text"]),
        tuple(Table(**{**table, "columns": tuple(table["columns"])}) for table in content["tables"]),
        tuple(Bars(**{**bars, "ends": tuple(bars["ends"])}) for bars in content["bars"]),
        tuple(
            Lines(**{**lines, "series": tuple(Series(**series) for series in lines["series"])})
            for lines in content["lines"]
        ),
    )
