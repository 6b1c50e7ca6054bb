"""Scenario files, and what is to be played."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scenarios.games.game import Game
from scenarios.methods import build, find, source_name, suggestion
from scenarios.running.limits import Limits, read_size
from scenarios.tables.dataset import Dataset, with_columns

# What tells one game of a scenario from another; lists of other parameters would need boards of their own.
GAME_GRID = "decoys"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Method(BaseModel):
    """A table that names a method under ``use`` and its parameters, lists of which make grids."""

    model_config = ConfigDict(extra="allow")
    use: str


class _Head(_Strict):
    name: str = Field(min_length=1)
    title: str = ""
    dataset: str = ""
    columns: list[str] = Field(default_factory=list)
    game: Method
    plays: int = Field(default=20, ge=1)
    seed: int = Field(default=1, ge=0)
    time_limit: float = Limits().time
    memory_limit: str | int = Limits().memory


class _File(_Strict):
    scenario: _Head
    defense: list[Method] = Field(min_length=1)
    attack: list[Method] = Field(min_length=1)


@dataclass(frozen=True)
class Entry:
    """A defense or an attack as a scenario names it.

    Attributes
    ----------
    name : str
        Class name, or ``module:Class``.
    method : Defense or Attack
        The method itself.
    parameters : dict
        The parameters that the scenario gives; others have their defaults.
    """

    name: str
    method: Any
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is to be played.

    Attributes
    ----------
    name : str
        The scenario; part of every seed.
    dataset : Dataset
        Whose records.
    games : tuple of Game
        Variants of one game, which share their releases.
    defenses, attacks : tuple of Entry
        Everything that plays.
    plays, seed : int
        How often, and the seed of all of it.
    limits : Limits
        What a trial may take of time and memory.
    """

    name: str
    dataset: Dataset
    games: tuple[Game, ...]
    defenses: tuple[Entry, ...]
    attacks: tuple[Entry, ...]
    plays: int
    seed: int
    limits: Limits = field(default_factory=Limits)

    def filtered(self, defenses: Sequence[str], attacks: Sequence[str]) -> Plan:
        """Keep the defenses and attacks named; add those named ``module:Class`` with their default parameters.

        Raises
        ------
        ValueError
            If a name is none of the scenario's.
        """
        return replace(
            self,
            defenses=_chosen(self.defenses, defenses, "defenses"),
            attacks=_chosen(self.attacks, attacks, "attacks"),
        )


def library() -> dict[str, Path]:
    """Shipped scenario files by name."""
    folder = resources.files("scenarios") / "library"
    return {
        Path(str(file)).stem: Path(str(file))
        for file in sorted(folder.iterdir(), key=str)
        if file.name.endswith(".toml")
    }


def read_plan(source: str, *, dataset: Dataset | None = None) -> Plan:
    """Read a scenario.

    Parameters
    ----------
    source : str
        The name of a shipped scenario, or the path of a TOML file.
    dataset : Dataset, optional
        Play on these records instead of the scenario's own; the plan is then named after both.

    Raises
    ------
    ValueError
        If there is no such scenario, or a table or key of it is wrong; names file, table and key.
    """
    path = scenario_path(source)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        if "experiment" in content:
            raise ValueError(f"{path}: this is an experiment, not a board of defenses and attacks")
        file = _File.model_validate(content)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None
    except ValidationError as error:
        raise ValueError(f"{path}: {complaint(error, _Head, _File)}") from None
    head = file.scenario
    if dataset is None:
        from scenarios.datasets import load

        if not head.dataset:
            raise ValueError(f"{_place(path)}: names no data set; name a table of your own with --data")
        dataset = within(path, "scenario.dataset", load, head.dataset)
        name = head.name
    else:
        name = f"{head.name} on {dataset.name}"
    if head.columns:
        dataset = within(path, "scenario.columns", with_columns, dataset, head.columns)
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


def scenario_path(source: str) -> Path:
    """File of a scenario: one that is shipped under this name, or a TOML file at this path."""
    shipped = library()
    if source in shipped:
        return shipped[source]
    if source.endswith(".toml") or "/" in source:
        path = Path(source)
        if not path.is_file():
            raise ValueError(f"there is no scenario file {source}")
        return path
    raise ValueError(f"there is no scenario {source!r}{suggestion(source, shipped)}")


def complaint(error: ValidationError, head: type[BaseModel], file: type[BaseModel]) -> str:
    """The first complaint about a scenario file of these tables, in one line."""
    problem = error.errors()[0]
    place = ".".join(str(part + 1) if isinstance(part, int) else part for part in problem["loc"])
    if problem["type"] != "extra_forbidden":
        return f"{place}: {problem['msg']}"
    table, _, key = place.rpartition(".")
    known = (head if table == "scenario" else file).model_fields
    return f"unknown key {key!r}{f' in [{table}]' if table else ''}{suggestion(key, list(known))}"


def within(path: Path, table: str, make: Any, *arguments: Any) -> Any:
    """Make something of a scenario file; what is wrong is said to be in this table of it."""
    try:
        return make(*arguments)
    except ValueError as error:
        raise ValueError(f"{_place(path)}: {table}: {error}") from None


def _place(path: Path) -> str:
    """How messages name a scenario file: by its name where it is shipped."""
    return f"scenario {path.stem!r}" if path in library().values() else str(path)


def _grid(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the values that are lists; a list of tables is one value (the steps of a pipeline)."""
    choices = [
        value if isinstance(value, list) and not any(isinstance(item, dict) for item in value) else [value]
        for value in table.values()
    ]
    empty = [name for name, values in zip(table, choices, strict=True) if not values]
    if empty:
        raise ValueError(f"{table['use']}: {empty[0]} is an empty list")
    for values in itertools.product(*choices):
        yield dict(zip(table, values, strict=True))


def _entry(table: dict[str, Any], package: str) -> Entry:
    method = build(table, package)
    parameters = {name: value for name, value in table.items() if name != "use"}
    return Entry(source_name(method), method, parameters)


def _entries(tables: Sequence[Method], package: str) -> list[Entry]:
    return [_entry(point, package) for table in tables for point in _grid(table.model_dump())]


def _limits(time: float, memory: str | int) -> Limits:
    return Limits(time, read_size(memory) if isinstance(memory, str) else memory)


def _games(table: dict[str, Any], dataset: Dataset) -> list[Game]:
    known = find(table["use"], "scenarios").parameter_names()
    lists = [name for name, value in table.items() if isinstance(value, list) and name in known and name != GAME_GRID]
    if lists:
        raise ValueError(f"{lists[0]}: only {GAME_GRID} may be a list; write one scenario for each value")
    return [build({**point, "records": dataset.records}, "scenarios") for point in _grid(table)]


def _chosen(entries: tuple[Entry, ...], names: Sequence[str], package: str) -> tuple[Entry, ...]:
    if not names:
        return entries
    known = {entry.name for entry in entries}
    kept: list[Entry] = []
    for name in dict.fromkeys(names):
        if name in known:
            kept += [entry for entry in entries if entry.name == name]
        elif ":" in name:
            kept.append(_entry({"use": name}, package))
        else:
            find(name, package)
            raise ValueError(f"the scenario does not play {name!r}{suggestion(name, sorted(known))}")
    return tuple(kept)
