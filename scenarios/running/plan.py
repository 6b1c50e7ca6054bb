"""Plans: scenario files as data set, games, defenses and attacks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import Field

from scenarios.files.scenario_file import (
    MethodTable,
    ScenarioTable,
    scenario_label,
    scenario_path,
    scenario_tables,
    within,
)
from scenarios.files.toml_file import validated
from scenarios.games.game import Game
from scenarios.methods import build, find, source_name, suggestion
from scenarios.running.limits import Limits, read_size
from scenarios.tables.dataset import Dataset, with_columns


class _ScenarioHead(ScenarioTable):
    name: str = Field(min_length=1)
    title: str = ""
    dataset: str = ""
    columns: list[str] = Field(default_factory=list)
    game: MethodTable
    plays: int = Field(default=20, ge=1)
    seed: int = Field(default=1, ge=0)
    time_limit: float = Limits().time
    memory_limit: str | int = Limits().memory


class _BoardFile(ScenarioTable):
    scenario: _ScenarioHead
    defense: list[MethodTable] = Field(min_length=1)
    attack: list[MethodTable] = Field(min_length=1)


@dataclass(frozen=True)
class NamedMethod:
    """A defense or an attack with its name and parameters in a scenario.

    Attributes
    ----------
    name : str
        Class name, or ``module:Class``.
    method : Defense or Attack
        The defense or attack.
    parameters : dict
        Parameters given in the scenario; the others have their defaults.
    """

    name: str
    method: Any
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """The defenses, attacks and games of a scenario, and how often each combination is played.

    Attributes
    ----------
    name : str
        Name of the scenario; part of every seed.
    dataset : Dataset
        The data set.
    games : tuple of Game
        Variants of one game, which share their releases.
    defenses, attacks : tuple of NamedMethod
        The defenses and the attacks.
    plays, seed : int
        Number of plays, and the seed of the run.
    limits : Limits
        Limits of time and memory for one trial.
    """

    name: str
    dataset: Dataset
    games: tuple[Game, ...]
    defenses: tuple[NamedMethod, ...]
    attacks: tuple[NamedMethod, ...]
    plays: int
    seed: int
    limits: Limits = field(default_factory=Limits)

    def filtered(self, defenses: Sequence[str], attacks: Sequence[str]) -> Plan:
        """Keep only the named defenses and attacks; add those named ``module:Class`` with default parameters.

        Raises
        ------
        ValueError
            If a name is not in the scenario.
        """
        return replace(
            self,
            defenses=_chosen(self.defenses, defenses, "defenses"),
            attacks=_chosen(self.attacks, attacks, "attacks"),
        )


def read_plan(source: str, *, dataset: Dataset | None = None) -> Plan:
    """Read a scenario.

    Parameters
    ----------
    source : str
        The name of a shipped scenario, or the path of a TOML file.
    dataset : Dataset, optional
        Data set to use instead of the scenario's own; the plan is then named after both.

    Raises
    ------
    ValueError
        If the scenario does not exist, or a table or key is wrong; the message names file, table and key.

    Examples
    --------
    >>> from scenarios import read_plan
    >>> plan = read_plan("bank")
    >>> plan.name, plan.plays, len(plan.defenses) > 10
    ('bank', 20, True)
    """
    path = scenario_path(source)
    tables = scenario_tables(path)
    if "experiment" in tables:
        raise ValueError(f"{path}: this is an experiment, not a board of defenses and attacks")
    file = validated(path, tables, _BoardFile)
    head = file.scenario
    if dataset is None:
        from scenarios.datasets import load

        if not head.dataset:
            raise ValueError(f"{scenario_label(path)}: names no data set; name a table of your own with --data")
        dataset = within(path, "scenario", load, head.dataset, key="dataset")
        name = head.name
    else:
        name = f"{head.name} on {dataset.name}"
    if head.columns:
        dataset = within(path, "scenario", with_columns, dataset, head.columns, key="columns")
    return Plan(
        name=name,
        dataset=dataset,
        games=tuple(within(path, "scenario.game", _games, head.game.model_dump(), dataset)),
        defenses=tuple(within(path, "defense", _entries, file.defense, "defenses")),
        attacks=tuple(within(path, "attack", _entries, file.attack, "attacks")),
        plays=head.plays,
        seed=head.seed,
        limits=within(path, "scenario", _limits, head.time_limit, head.memory_limit),
    )


def _grid(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All combinations of the values in lists; a list of tables is a single value (the steps of a pipeline)."""
    choices = [
        value if isinstance(value, list) and not any(isinstance(item, dict) for item in value) else [value]
        for value in table.values()
    ]
    empty = [name for name, values in zip(table, choices, strict=True) if not values]
    if empty:
        raise ValueError(f"{table['use']}: {empty[0]} is an empty list")
    for values in itertools.product(*choices):
        yield dict(zip(table, values, strict=True))


def _entry(table: dict[str, Any], package: str) -> NamedMethod:
    method = build(table, package)
    parameters = {name: value for name, value in table.items() if name != "use"}
    return NamedMethod(source_name(method), method, parameters)


def _entries(tables: Sequence[MethodTable], package: str) -> list[NamedMethod]:
    return [_entry(point, package) for table in tables for point in _grid(table.model_dump())]


def _limits(time: float, memory: str | int) -> Limits:
    return Limits(time, read_size(memory) if isinstance(memory, str) else memory)


def _games(table: dict[str, Any], dataset: Dataset) -> list[Game]:
    game = find(table["use"], "scenarios")
    variants = getattr(game, "variants", ())
    lists = [
        name
        for name, value in table.items()
        if isinstance(value, list) and name in game.parameter_names() and name not in variants
    ]
    if lists:
        allowed = (
            f"only {' and '.join(variants)} may be a list" if variants else "no parameter of this game may be a list"
        )
        raise ValueError(f"{lists[0]}: {allowed}; write one scenario for each value")
    return [build({**point, "records": dataset.records}, "scenarios") for point in _grid(table)]


def _chosen(entries: tuple[NamedMethod, ...], names: Sequence[str], package: str) -> tuple[NamedMethod, ...]:
    if not names:
        return entries
    scenario_names = {entry.name for entry in entries}
    chosen: list[NamedMethod] = []
    for name in dict.fromkeys(names):
        if name in scenario_names:
            chosen += [entry for entry in entries if entry.name == name]
        elif ":" in name:
            chosen.append(_entry({"use": name}, package))
        else:
            find(name, package)
            raise ValueError(f"the scenario does not play {name!r}{suggestion(name, sorted(scenario_names))}")
    return tuple(chosen)
