"""Page about a scored submission, which the platform shows to its team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from scenarios.tournament.codabench.competition import COLUMNS
from scenarios.tournament.rules.leakage import leaking_columns
from scenarios.tournament.rules.standings import AttackOutcome
from scenarios.tournament.rules.submission_utility import COMPONENTS

_STYLE = "<style>body{font-family:sans-serif}th,td{padding:.2em .8em;text-align:left}</style>"


def table_page(
    team: str,
    numbers: Mapping[str, float],
    values: Mapping[str, float | None],
    outcomes: Sequence[AttackOutcome],
) -> str:
    """Page about a table: parts of its utility, the baseline attacks, and the columns that leak.

    Parameters
    ----------
    team : str
        The team.
    numbers : mapping of str to float
        Scores by the leaderboard's columns.
    values : mapping of str to (float or None)
        Values of the table's result.
    outcomes : sequence of AttackOutcome
        Outcomes of the baseline attacks, strongest first.
    """
    parts = [(name, values[f"table_{name}"]) for name in COMPONENTS if f"table_{name}" in values]
    return _page(
        f"Table of {team}",
        "<p>Score = utility × (1 − advantage of the strongest built-in attack). Other teams may attack better.</p>",
        _table("Scores", ("score", "value"), [(COLUMNS[key][0], value) for key, value in numbers.items()]),
        _table("Utility of the table, part by part", ("part", "value"), parts),
        _outcomes("Built-in attacks", "attack", [(one.attacker, one) for one in outcomes]),
        _table(
            "Share of rows whose original is the nearest candidate (Gower)",
            ("without the column", "nearest", "drop"),
            leaking_columns(values),
        ),
    )


def attack_page(team: str, score: float, outcomes: Mapping[str, AttackOutcome], tables: int) -> str:
    """Page about a team's attacks.

    Parameters
    ----------
    team : str
        The team.
    score : float
        Mean advantage over the other teams' tables.
    outcomes : mapping of str to AttackOutcome
        Outcome by attacked team.
    tables : int
        Number of the other teams' tables.
    """
    return _page(
        f"Attacks of {team}",
        f"<p>Score {score:.3f}, the mean advantage over {tables} tables. A table without an attack counts 0.</p>",
        _outcomes("Attacks", "table", list(outcomes.items())),
    )


def _outcomes(title: str, column: str, rows: Sequence[tuple[str, AttackOutcome]]) -> str:
    cells = [(name, one.goal, one.success, one.chance, one.advantage) for name, one in rows]
    return _table(title, (column, "goal", "success", "chance level", "advantage"), cells)


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(one)}</td>" for one in row) + "</tr>" for row in rows)
    return f"<h2>{escape(title)}</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else escape("–" if value is None else str(value))


def _page(title: str, *parts: str) -> str:
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>{_STYLE}</head>'
    return f"{head}<body><h1>{escape(title)}</h1>{''.join(parts)}</body></html>\n"
