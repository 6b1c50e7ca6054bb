"""The report of a choice: the best settings, what each costs, and the front of utility against risk."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from leaderboard.exposure import Exposure
from leaderboard.line_chart import Lines, Series
from leaderboard.number_text import exact, number
from leaderboard.promise_table import promise_tables
from leaderboard.promises import Promise
from leaderboard.report import Section, Table, Value
from leaderboard.result import label
from scenarios.choosing.choice import Choice, Finalist
from scenarios.choosing.confirmation import ERROR
from scenarios.choosing.halving import front
from scenarios.running.plan import NamedMethod

COMMANDS = "Commands"
"""Title of the section of commands, which a terminal shows unbroken."""
USELESS = 0.05
"""Utility below which a setting keeps nearly nothing."""


@dataclass(frozen=True)
class Source:
    """The files that a choice is about.

    Attributes
    ----------
    table : str
        The table.
    roles : Path, optional
        Its roles file.
    """

    table: str
    roles: Path | None

    def command(self, entry: NamedMethod) -> str:
        """The command that releases the whole table by a setting."""
        parameters = [f"-p {shlex.quote(f'{name}={_toml(value)}')}" for name, value in entry.parameters.items()]
        roles = [] if self.roles is None else ["--roles", shlex.quote(str(self.roles))]
        return " ".join(["tokumei defend", entry.name, *parameters, shlex.quote(self.table), *roles, "-o released.csv"])


def choice_sections(
    choice: Choice,
    bound: float,
    people: int,
    source: Source,
    costs: Mapping[str, Mapping[str, str]],
    promises: Sequence[Promise] = (),
) -> list[Section]:
    """Sections of the report.

    Parameters
    ----------
    choice : Choice
        The outcome.
    bound : float
        Bound of the worst advantage.
    people : int
        Number of people in a release.
    source : Source
        The files.
    costs : mapping of str to mapping
        What each finalist costs, by its label and by column.
    promises : sequence of Promise
        What each finalist promises on the whole table.
    """
    best = _best(choice, bound, people)
    covered = [Section("Promises", tables=tuple(tables)) for tables in promise_tables(promises).values()]
    return [best, *covered, *_commands(choice, source), *_costs(choice.finalists, costs), *_front(choice, bound)]


def commands(choice: Choice, source: Source) -> list[tuple[str, str]]:
    """Label of each finalist, and the command that releases the whole table by it."""
    return [(_label(one.entry), source.command(one.entry)) for one in choice.finalists]


def verdict(choice: Choice, bound: float) -> str:
    """The outcome in one sentence."""
    confirmed = [one for one in choice.finalists if one.confirmed]
    if confirmed:
        best = _label(confirmed[0].entry)
        kept = _utility(confirmed[0].exposure)
        useless = f", but it keeps nearly nothing (utility {number(kept)})" if kept < USELESS else ""
        within = f"{len(confirmed)} of {len(choice.finalists)} finalists keep within {exact(bound)}"
        return f"{within}; the most useful is {best}{useless}"
    if choice.finalists:
        more = "; more time (--budget) means more plays" if choice.ended_early else ""
        return f"none meets the bound {exact(bound)} for sure{more}"
    early = "; the budget ended the choice early, and --budget gives more" if choice.ended_early else ""
    return f"none meets the bound {exact(bound)}{early}"


def _best(choice: Choice, bound: float, people: int) -> Section:
    """Table of the finalists on fresh plays."""
    columns = ("setting", "meets", "promise", "utility", "worst attack", "goal", "advantage", "at most")
    rows = [_row(one) for one in choice.finalists]
    note = (
        f"Fresh plays: {choice.plays}, each with {people:,} released people. The probability that a setting is said to "
        f"meet the bound and does not is at most {exact(ERROR)}."
    )
    tables = (Table(f"Best settings within {exact(bound)}", columns, rows, digits=3, note=note),) if rows else ()
    says = verdict(choice, bound)
    return Section("Choice", (f"{says[0].upper()}{says[1:]}.",), tables)


def _commands(choice: Choice, source: Source) -> list[Section]:
    rows = commands(choice, source)
    title = "Release of the whole table"
    return [Section(COMMANDS, tables=(Table(title, ("setting", "command"), rows),))] if rows else []


def _row(one: Finalist) -> list[Value]:
    exposure = one.exposure
    if exposure is None or exposure.utility is None or exposure.overall is None:
        return [_label(one.entry), "not played", "", None, "", "", None, None]
    worst = exposure.overall
    return [
        _label(one.entry),
        "yes" if one.confirmed else "not for sure",
        exposure.guarantee,
        exposure.utility.value,
        label(worst.attack, worst.attack_parameters),
        worst.goal,
        max(0.0, worst.advantage),
        one.upper,
    ]


def _costs(finalists: Sequence[Finalist], costs: Mapping[str, Mapping[str, str]]) -> list[Section]:
    """What each finalist does to each column of the whole table."""
    shown = [_label(one.entry) for one in finalists if _label(one.entry) in costs]
    if not shown:
        return []
    columns = list(costs[shown[0]])
    rows = [[column, *(costs[name].get(column, "left out") for name in shown)] for column in columns]
    return [
        Section(
            "Costs",
            tables=(Table("What each setting does to the columns of the whole table", ("column", *shown), rows),),
        )
    ]


def _front(choice: Choice, bound: float) -> list[Section]:
    """Settings that no other one beats, as a table and a picture."""
    best = front(choice.measured)
    if not best:
        return []
    rows: list[list[Value]] = [[_name(one), _utility(one), _upper(one)] for one in best]
    series = [Series("front while choosing", [_upper(one) for one in best], [_utility(one) for one in best])]
    fresh = sorted(
        (one.upper, _utility(one.exposure))
        for one in choice.finalists
        if one.exposure is not None and one.upper is not None
    )
    if fresh:
        x, y = zip(*fresh, strict=True)
        series.append(Series("finalists on fresh plays", x, y))
    inside = [one for one in best if _upper(one) <= bound]
    note = (
        f"{len(choice.measured)} settings were measured while choosing, most in few plays, which makes their upper "
        f"bounds high; {len(inside)} of this front lie within {exact(bound)}. Fresh plays confirm the finalists."
    )
    return [
        Section(
            "Front",
            tables=(Table("Utility against risk", ("setting", "utility", "advantage at most"), rows, 3, note),),
            lines=(
                Lines(
                    "Utility against risk", "advantage of the worst attack, at most", "utility", tuple(series), "higher"
                ),
            ),
        )
    ]


def _label(entry: NamedMethod) -> str:
    return label(entry.name, entry.parameters)


def _name(exposure: Exposure) -> str:
    return label(exposure.defense, exposure.parameters)


def _utility(exposure: Exposure | None) -> float:
    return 0.0 if exposure is None or exposure.utility is None else exposure.utility.value


def _upper(exposure: Exposure) -> float:
    return 1.0 if exposure.overall is None else min(1.0, exposure.overall.upper)


def _toml(value: object) -> str:
    """A parameter as it is written on the command line."""
    import tomli_w

    return tomli_w.dumps({"value": value}).removeprefix("value = ").strip() if not isinstance(value, str) else value
