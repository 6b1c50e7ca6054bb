"""Reasons why each release and trial of a plan would be played: the changes since its last play."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from leaderboard import Section, Table, report_to_markdown, report_to_terminal
from leaderboard.pages import Column, Records
from leaderboard.results import Result, Store, canonical, grouped_by, identity, label
from scenarios.running.units import DONE, Catalogue

# Number of changed modules named in a reason; the others are only counted.
NAMED = 3
LONGEST = 100


@dataclass(frozen=True)
class Explanation(Result):
    """One release or trial, the numbers of its plays that are missing, and the reason why."""

    plays: tuple[int, ...] = ()


def explain(catalogue: Catalogue, store: Store, *, fresh: bool) -> list[Explanation]:
    """Explain each missing result of a plan; results with the same reason are grouped, in the order of the plan.

    If `fresh`, every result is played again.
    """
    stored = _Stored(catalogue, store)

    def subject(result: Result) -> tuple[str, ...]:
        what = (canonical(result.game), result.defense, canonical(result.parameters), result.attack or "")
        return (*what, canonical(result.attack_parameters), stored.reason(result))

    missing = catalogue.missing(store, fresh=fresh)
    groups = grouped_by((result for unit in missing for result in unit.results), subject)
    return [
        Explanation(**{**vars(results[0]), "reason": why, "plays": tuple(result.play for result in results)})
        for (*_, why), results in groups.items()
    ]


class _Stored:
    """Earlier results, and their differences from planned ones."""

    def __init__(self, catalogue: Catalogue, store: Store) -> None:
        self.traces = store.traces(catalogue.plan.name)
        self.statuses = store.statuses(catalogue.plan.name)
        self.failures = {trace.key: trace for trace in self.traces.values() if trace.status not in DONE}
        self.documents = {**store.documents(), **catalogue.documents}
        present = {identity(result) for unit in catalogue.units for result in unit.results}
        # A stored result that the plan no longer contains may be the earlier version of a planned one.
        self.former = {
            _without_parameters(stored): trace for stored, trace in self.traces.items() if stored not in present
        }
        self._difference = lru_cache(maxsize=None)(self._compared)

    def reason(self, result: Result) -> str:
        """Reason why a result is missing."""
        status = self.statuses.get(result.key)
        if status in DONE:
            return "--fresh"
        if status is not None:
            why = self.failures[result.key].reason.partition("\n")[0] if result.key in self.failures else ""
            return f"failed before ({status}): {why}"[:LONGEST]
        same = identity(result)
        trace = self.traces.get(same) or self.former.get(_without_parameters(same))
        return self._difference(trace.parts, result.parts) if trace else "new"

    def _compared(self, before: str, now: str) -> str:
        if before not in self.documents:
            return "played by an earlier version of tokumei"
        return "; ".join(_differences(self._read(before), self._read(now), self._read)) or "new"

    def _read(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.documents.get(name, "{}"))
        return content


def _without_parameters(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Identity of a result without the game's variant and the parameters."""
    scenario, _, defense, _, attack, _, play = key
    return scenario, defense, attack, play


def _differences(before: Mapping[str, Any], now: Mapping[str, Any], read: Any) -> list[str]:
    """Differences between a result's earlier and present dependencies."""
    words = {"data": "data changed", "seed": f"seed {before['seed']} -> {now['seed']}"}
    changes = [change for part, change in words.items() if before[part] != now[part]]
    for role in ("defense", "attack", "game"):
        if role in now and role in before:
            parameters = _values(before[role]["parameters"], now[role]["parameters"])
            changes += [f"parameters of {now[role]['name']}: {', '.join(parameters)}"] if parameters else []
    if before["scorer"]["version"] != now["scorer"]["version"]:
        changes.append("scorer changed")
    roles = [role for role in ("defense", "attack", "game", "scorer") if role in now and role in before]
    sources = [(before[role]["source"], now[role]["source"]) for role in roles]
    changes += _modules([(read(old), read(new)) for old, new in sources if old != new])
    return changes + _values(before["versions"], now["versions"])


def _values(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Names of changed values, with the old and the new value."""
    return [
        f"{name} {_short(before.get(name))} -> {_short(now.get(name))}"
        for name in sorted(set(before) | set(now))
        if before.get(name) != now.get(name)
    ]


def _short(value: Any) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _modules(closures: list[tuple[Mapping[str, str], Mapping[str, str]]]) -> list[str]:
    """Modules whose source changed; if there are none, modules that were added to or removed from the imports."""
    changed = {name for old, new in closures for name in set(old) & set(new) if old[name] != new[name]}
    names = sorted(changed or {name for old, new in closures for name in set(old) ^ set(new)})
    if not names:
        return ["source changed"] if closures else []
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return [f"source of {', '.join(names[:NAMED])}{more} changed"]


# Explanations of planned plays as tables, CSV or JSON.

_COLUMNS = (
    Column("scenario", "scenario"),
    Column("game", "game", text=lambda one: " ".join(map(str, one.game.values()))),
    Column("defense", "defense", text=lambda one: label(one.defense, one.parameters)),
    Column("parameters"),
    Column(
        "attack",
        "attack",
        text=lambda one: label(one.attack, one.attack_parameters) if one.attack else "(release)",
    ),
    Column("attack_parameters"),
    Column("plays", "plays", text=lambda one: _ranges(one.plays)),
    Column("reason", "why"),
)


def written_explanations(explanations: Sequence[Explanation], form: str) -> str:
    """Format explanations as ``table``, ``markdown``, ``csv`` or ``json``."""
    records = Records.of(explanations, [column.name for column in _COLUMNS])
    if form == "json":
        return records.json()
    if form == "csv":
        return Records(records.columns, [{**row, "plays": _ranges(row["plays"])} for row in records.rows]).csv()
    if not explanations:
        return "nothing is to be played\n"
    section = Section("", tables=(Table.of("", _COLUMNS, explanations),))
    return (report_to_markdown if form == "markdown" else report_to_terminal)([section])


def _ranges(plays: Sequence[int]) -> str:
    """Format integers as ranges, such as ``0-3, 7``."""
    runs = [[play for _, play in run] for _, run in groupby(enumerate(sorted(plays)), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
