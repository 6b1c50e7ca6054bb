"""Plans: scenario files as data set, games, defenses and attacks."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from defenses import Guarantee, Microdata
from leaderboard import StatedGuarantee, label
from metrics.columns import refuse, refuse_any, require
from scenarios.games import Game, Question, SharedPeople
from scenarios.running.methods.methods import (
    build,
    describe,
    exported,
    find,
    game_settings,
    source_name,
    written_method,
)
from scenarios.running.workers.isolation import Limits, read_size
from scenarios.tables import (
    Dataset,
    MethodTable,
    ScenarioTable,
    known_as,
    located,
    scenario_label,
    scenario_path,
    scenario_tables,
    suggestion,
    validated,
    with_columns,
    with_rules,
    within,
)
from scenarios.tables.review import about_rows

# Questions of a scenario about the same people.


def read_questions(table: Mapping[str, Any]) -> list[Question]:
    """Questions of a game's table under ``question``: a name or a table with ``use``, or a list of them.

    Raises ValueError if there is none, or a name or a parameter is wrong.
    """
    given = table.get("question", [])
    questions = [_question(one) for one in (given if isinstance(given, list) else [given])]
    require(questions, f"question: name at least one of {', '.join(exported('questions'))}")
    return questions


def _question(given: Any) -> Question:
    described = {"use": given} if isinstance(given, str) else given
    require(
        isinstance(described, Mapping) and "use" in described,
        f"question: must be a name or a table with use, got {given!r}",
    )
    try:
        question: Question = build(described, "questions")
    except ValueError:
        # To look at all games imports all of them, which takes a second.
        if str(described["use"]) in exported("scenarios"):
            raise ValueError(
                f"question: {described['use']} is a game that draws its own people; give it a scenario of its own"
            ) from None
        raise
    return question


def check_questions(
    games: Sequence[SharedPeople], defenses: Sequence[Any], attacks: Sequence[Any], *, whole: bool = True
) -> None:
    """Check that the questions, named defenses and named attacks of a scenario fit each other.

    A ValueError is raised if two questions have the same goal, or a question has no attack or an attack no question. A
    defense that makes no table is refused, too.

    - whole: Whether these are all attacks of the scenario, so that each question must have one.
    """
    goals: dict[str, str] = {}
    for game in games:
        name = type(game.question).__name__
        for goal in game.takes:
            require(
                goal not in goals, f"{name} and {goals.get(goal)} are both about {goal}; write one scenario for each"
            )
            goals[goal] = name
        require(
            not whole or any(entry.method.goal in game.takes for entry in attacks),
            f"{name} is about {' and '.join(game.takes)}, but no [[attack]] of the scenario is",
        )
    refuse_any(
        (entry for entry in attacks if entry.method.goal not in goals),
        lambda entry: f"no question is about {entry.method.goal}, the goal of [[attack]] {entry.name}",
    )
    refuse_any(
        (entry for entry in defenses if entry.method.kind != games[0].accepts),
        lambda entry: (
            f"the questions are about a {games[0].accepts} release, "
            f"but [[defense]] {entry.name} makes {entry.method.kind}"
        ),
    )


# Settings that a scenario writes more than once: each is played once.

T = TypeVar("T")


def distinct(entries: Iterable[T], setting: Callable[[T], Any]) -> tuple[T, ...]:
    """The entries of different settings in their order; of equal ones the first, as it is written.

    `setting` gives an entry's setting as JSON values, in which 1 and 1.0 are one number.

    Examples
    --------
    >>> distinct([0.5, 1, 1.0, True, 5e-1], lambda value: {"retention": value})
    (0.5, 1, True)
    """
    first: dict[str, T] = {}
    for entry in entries:
        first.setdefault(repr(_by_value(setting(entry))), entry)
    return tuple(first.values())


def _by_value(value: Any) -> Any:
    """A value whose whole numbers are integers, and whose mappings are sorted: equal ones have equal texts."""
    if isinstance(value, Mapping):
        return {name: _by_value(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [_by_value(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _ScenarioHead(ScenarioTable):
    name: str = Field(min_length=1)
    title: str = ""
    dataset: str | list[str] = ""
    columns: list[str] = Field(default_factory=list)
    game: MethodTable
    plays: int = Field(default=20, ge=1)
    seed: int = Field(default=1, ge=0)
    time_limit: float = Limits().time
    memory_limit: str | int = Limits().memory


class BoardMethodTable(MethodTable):
    """A method of a board; with ``dataset``, it plays on this one of the scenario's data sets only."""

    dataset: str | None = None

    def on(self, dataset: str) -> dict[str, Any] | None:
        """Name and parameters of the method, None if it does not play on the data set."""
        return self.model_dump(exclude={"dataset"}) if self.dataset in (None, dataset) else None


class LeftOut(ScenarioTable):
    """Exported methods that a scenario does not play, and why."""

    use: list[str] = Field(min_length=1)
    reason: str = Field(min_length=1)


class _BoardFile(ScenarioTable):
    scenario: _ScenarioHead
    defense: list[BoardMethodTable] = Field(min_length=1)
    attack: list[BoardMethodTable] = Field(min_length=1)
    left_out: list[LeftOut] = Field(default_factory=list)


@dataclass(frozen=True)
class NamedMethod:
    """A defense or an attack with its name and parameters in a scenario.

    - name: Class name, or ``module:Class``.
    - parameters: Parameters given in the scenario; the others have their defaults.
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
        Variants of one game, which share their releases; with `Game.shares_people`, questions about the same people.
    defenses, attacks : tuple of NamedMethod
        The defenses and the attacks.
    plays, seed : int
        Number of plays, and the seed of the run.
    limits : Limits
        Limits of time and memory for one trial.
    left_out : dict of str to str
        Reason by exported method, for methods that the scenario names as not played.
    not_built : dict of str to tuple of str
        Names of further ``defenses`` and ``attacks`` of the scenario, which were not asked for and not built.
    """

    name: str
    dataset: Dataset
    games: tuple[Game, ...]
    defenses: tuple[NamedMethod, ...]
    attacks: tuple[NamedMethod, ...]
    plays: int
    seed: int
    limits: Limits = field(default_factory=Limits)
    left_out: dict[str, str] = field(default_factory=dict)
    not_built: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def methods(self) -> list[Any]:
        """The games, the defenses and the attacks."""
        return [*self.games, *(entry.method for entry in (*self.defenses, *self.attacks))]

    def pairs(self) -> list[tuple[int, int]]:
        """Positions of game and attack of the trials on one release.

        Variants of a game meet every attack. Of several questions about the same people, each meets the attacks that
        pursue one of its goals.
        """
        return [
            (game, attack)
            for game, rules in enumerate(self.games)
            for attack, entry in enumerate(self.attacks)
            if not rules.shares_people or entry.method.goal in rules.takes
        ]

    def draw_of(self, game: int) -> int:
        """Position of the game whose draw of people this game uses: questions use that of the first one."""
        return 0 if self.games[game].shares_people else game

    def filtered(self, defenses: Sequence[str | NamedMethod], attacks: Sequence[str | NamedMethod]) -> Plan:
        """Keep only the named defenses and attacks; add given methods, ``module:Class`` and ``Mondrian k=3``.

        What a method that is added does not say has its default. A setting that is named twice is kept once.

        Raises
        ------
        ValueError
            If a name is not in the scenario.
        """
        return replace(
            self,
            defenses=_distinct(_obeying(self._chosen(self.defenses, defenses, "defenses"), self.dataset)),
            attacks=_distinct(self._chosen(self.attacks, attacks, "attacks")),
        )

    def _chosen(
        self, entries: tuple[NamedMethod, ...], names: Sequence[str | NamedMethod], package: str
    ) -> tuple[NamedMethod, ...]:
        if not names:
            return entries
        scenario_names = {*(entry.name for entry in entries), *self.not_built.get(package, ())}
        chosen = [_as_written(entries, name) for name in names if isinstance(name, NamedMethod)]
        for name in dict.fromkeys(name for name in names if isinstance(name, str)):
            if name in scenario_names:
                chosen += [entry for entry in entries if entry.name == name]
            elif shown := [entry for entry in entries if label(entry.name, entry.parameters) == " ".join(name.split())]:
                chosen += shown
            elif ":" in name or (" " in name and known_as(name, exported(package)) is None):
                chosen.append(_as_written(entries, _entry(written_method(name, package), package)))
            else:
                known = find(name, package).__name__
                require(
                    known in scenario_names,
                    f"the scenario does not play {name!r}{suggestion(name, sorted(scenario_names))}; "
                    f"{package}:{known} adds it",
                )
                chosen += [entry for entry in entries if entry.name == known]
        return tuple(chosen)


def read_plan(source: str, *, dataset: Dataset | None = None) -> Plan:
    """Read a scenario that is played on one data set.

    Parameters
    ----------
    source : str
        The name of a shipped scenario, or the path of a TOML file.
    dataset : Dataset, optional
        Data set to use instead of the scenario's own; the plan is then named after both.

    Raises
    ------
    ValueError
        If the scenario does not exist, or a table or key is wrong; the message names file, table and key. Also if the
        scenario names several data sets.

    Examples
    --------
    >>> from scenarios import read_plan
    >>> plan = read_plan("bank")
    >>> plan.name, plan.plays, len(plan.defenses) > 10
    ('bank', 14, True)
    """
    plans = read_plans(source, dataset=dataset)
    require(len(plans) <= 1, f"{source} is played on {len(plans)} data sets; read_plans reads one plan for each")
    return plans[0]


def read_plans(
    source: str,
    *,
    dataset: Dataset | None = None,
    defenses: Sequence[str | NamedMethod] = (),
    attacks: Sequence[str | NamedMethod] = (),
) -> tuple[Plan, ...]:
    """Read a scenario as one plan for each of its data sets, or for the given one; see `read_plan`.

    With `defenses` or `attacks`, for which the caller filters the plans, other methods of that kind are not built.
    """
    path = scenario_path(source)
    tables = scenario_tables(path)
    require("experiment" not in tables, f"{path}: this is an experiment, not a board of defenses and attacks")
    require(
        not isinstance(tables.get("scenario"), dict) or not isinstance(tables["scenario"].get("game"), list),
        f"{scenario_label(path)}: {located('scenario', 'game')}: a scenario has one game; several questions about "
        "the same people go under SharedPeople, and other games need a scenario each",
    )
    file = validated(path, tables, _BoardFile)
    head = file.scenario
    names = [head.dataset] if isinstance(head.dataset, str) else head.dataset
    _check_data_sets(path, file, names)
    if dataset is not None:
        return (_plan(path, file, f"{head.name} on {dataset.name}", dataset, defenses, attacks),)
    label = f"{scenario_label(path)}: {located('scenario', 'dataset')}"
    require(names and all(names), f"{label}: names no data set; name a table of your own with --data")
    require(len(set(names)) == len(names), f"{label}: names a data set twice")
    from scenarios.datasets import load

    loaded = [within(path, "scenario", load, name, key="dataset") for name in names]
    if len(names) == 1:
        return (_plan(path, file, head.name, loaded[0], defenses, attacks),)
    plans = []
    for one in loaded:
        try:
            plans.append(_plan(path, file, f"{head.name} on {one.name}", one, defenses, attacks))
        except ValueError as error:
            raise ValueError(f"{error} (data set {one.name!r})") from None
    return tuple(plans)


def plan_from_tables(path: Path, tables: dict[str, Any], dataset: Dataset) -> Plan:
    """The plan of a scenario file's tables, which a caller may have changed, on one data set.

    Raises ValueError if a table or key is wrong; the message names file, table and key.
    """
    file = validated(path, tables, _BoardFile)
    return _plan(path, file, f"{file.scenario.name} on {dataset.name}", dataset)


def _check_data_sets(path: Path, file: _BoardFile, names: Sequence[str]) -> None:
    """Raise ValueError if a method plays on a data set that the scenario does not name."""
    for table, methods in (("defense", file.defense), ("attack", file.attack)):
        for method in methods:
            refuse(
                method.dataset is not None and method.dataset not in names,
                f"{scenario_label(path)}: {located(table, 'dataset')}: {method.dataset!r} is not a data set of "
                f"this scenario; it has {', '.join(filter(None, names)) or 'none'}",
            )


def _plan(
    path: Path,
    file: _BoardFile,
    name: str,
    dataset: Dataset,
    defenses: Sequence[str | NamedMethod] = (),
    attacks: Sequence[str | NamedMethod] = (),
) -> Plan:
    """A scenario's plan on one data set, with all of its methods or those that are asked for."""
    head = file.scenario
    if head.columns:
        dataset = within(path, "scenario", with_columns, dataset, head.columns, key="columns")
    built: dict[str, list[NamedMethod]] = {}
    not_built: dict[str, tuple[str, ...]] = {}
    for table, methods, asked in (("defense", file.defense, defenses), ("attack", file.attack, attacks)):
        described = [point for method in methods if (point := method.on(dataset.name)) is not None]
        require(
            described, f"{scenario_label(path)}: table [{table}]: no {table} plays on the data set {dataset.name!r}"
        )
        kind = f"{table}s"
        wanted = {_class_name(one if isinstance(one, str) else one.name, kind) for one in asked}
        needed = [point for point in described if not asked or _class_name(point["use"], kind) in wanted]
        built[f"{table}s"] = within(path, table, _entries, needed, f"{table}s")
        not_built[f"{table}s"] = tuple(point["use"] for point in described if point not in needed)
    plan = Plan(
        name=name,
        dataset=dataset,
        games=distinct(within(path, "scenario.game", _games, head.game.model_dump(), dataset), game_settings),
        defenses=_distinct(_obeying(built["defenses"], dataset)),
        attacks=_distinct(built["attacks"]),
        plays=head.plays,
        seed=head.seed,
        limits=within(path, "scenario", _limits, head.time_limit, head.memory_limit),
        left_out={method: entry.reason for entry in file.left_out for method in entry.use},
        not_built=not_built,
    )
    questions = [game for game in plan.games if isinstance(game, SharedPeople)]
    if questions:
        check = partial(check_questions, whole=not attacks)
        within(path, "scenario.game", check, questions, plan.defenses, plan.attacks, key="question")
    return plan


def _grid(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All combinations of the values in lists; a list of tables is a single value (the steps of a pipeline)."""
    choices = [
        value if isinstance(value, list) and not any(isinstance(item, dict) for item in value) else [value]
        for value in table.values()
    ]
    empty = [name for name, values in zip(table, choices, strict=True) if not values]
    refuse_any(empty, lambda name: f"{table['use']}: {name} is an empty list")
    for values in itertools.product(*choices):
        yield dict(zip(table, values, strict=True))


def _entry(table: dict[str, Any], package: str) -> NamedMethod:
    method = build(table, package)
    parameters = {name: value for name, value in table.items() if name != "use"}
    return NamedMethod(source_name(method), method, parameters)


def _class_name(method: str, package: str) -> str:
    """Name of the class that a method's text means, such as ``Mondrian k=5``, ``AIM`` or ``module:Class``."""
    name = method.strip().partition(" ")[0].rpartition(":")[2]
    known = name in importlib.import_module(package).__all__ or ":" in method
    return name if known else known_as(method, exported(package)) or known_as(name, exported(package)) or name


def _entries(described: Sequence[dict[str, Any]], package: str) -> list[NamedMethod]:
    return [_entry(point, package) for table in described for point in _grid(table)]


def _distinct(entries: Sequence[NamedMethod]) -> tuple[NamedMethod, ...]:
    """Methods without those that another entry describes in other words, such as ``Mondrian k=5`` beside a default."""
    return distinct(entries, lambda entry: [entry.name, describe(entry.method)])


def _obeying(entries: Sequence[NamedMethod], dataset: Dataset) -> tuple[NamedMethod, ...]:
    """Defenses that obey what the roles of the data set declare impossible."""
    if not dataset.impossible:
        return tuple(entries)
    return tuple(replace(entry, method=with_rules(entry.method, dataset.impossible)) for entry in entries)


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
    if getattr(game, "shares_people", False):
        shared = {**{name: value for name, value in table.items() if name != "question"}, "records": dataset.records}
        games = [build({**shared, "question": question}, "scenarios") for question in read_questions(table)]
    else:
        games = [build({**point, "records": dataset.records}, "scenarios") for point in _grid(table)]
    refuse_any(filter(None, (game.rows_of_people() for game in games)), str)
    return games


def _as_written(entries: Sequence[NamedMethod], given: NamedMethod) -> NamedMethod:
    """The scenario's entry of the same setting, which boards then name as the scenario does; else the given one."""
    described = describe(given.method)
    same = (entry for entry in entries if entry.name == given.name and describe(entry.method) == described)
    return next(same, given)


# Columns of a table by role, for what is said about guarantees.


def column_roles(records: Microdata, left_out: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Columns by role (`leaderboard.results.guarantees.ROLES`); the column that says whose row it is has none of them.

    - left_out: Columns without a role, which are among the identifiers of `records`.
    """
    with_role = {*records.quasi_identifiers, *records.sensitive, records.person, records.group}
    return {
        "quasi_identifiers": tuple(records.quasi_identifiers),
        "sensitive": tuple(records.sensitive),
        "unprotected": tuple(name for name in records.released_columns if name not in with_role),
        "identifiers": tuple(name for name in records.identifiers if name not in left_out),
        "left_out": tuple(left_out),
    }


def guarantee_on(dataset: Dataset, entry: NamedMethod, guaranteed: Guarantee) -> StatedGuarantee:
    """The guarantee of a setting on a whole table, for a report."""
    return StatedGuarantee(
        scenario=dataset.name,
        defense=entry.name,
        parameters=entry.parameters,
        guarantee=str(guaranteed),
        statement=about_rows(guaranteed, dataset.records).statement,
        released=dataset.records.released_columns,
        roles=column_roles(dataset.records, dataset.left_out),
    )
