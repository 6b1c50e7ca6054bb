"""Names of methods as tables show them: a class of one's own by its class name, where that says which class it is."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from leaderboard import BaselineDifference, Change, Promise, Result

PARTS = (
    *("defense", "parameters", "base_defense", "base_parameters"),
    *("attack", "attack_parameters", "baseline", "baseline_parameters"),
)
"""Fields that name methods, alone or among their parameters."""


One = TypeVar("One", Result, Promise, Change, BaselineDifference)
Other = TypeVar("Other", Change, BaselineDifference)


def shown_board(results: Sequence[Result], promises: Sequence[Promise] = ()) -> tuple[list[Result], list[Promise]]:
    """Results and promises of a board with ``module:Class`` shortened to the class name where that is not ambiguous.

    A name stays as it is if another method on the board has its class name, or a method that Tokumei exports. Files for
    programs (CSV, JSON) and the database keep the stored names.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials of the board.
    promises : sequence of Promise
        What its defenses promise.

    Examples
    --------
    >>> from leaderboard import Result
    >>> common = {"key": "1" * 64, "scenario": "bank", "play": 0}
    >>> results, _ = shown_board([Result(defense=name, **common) for name in ("mine:Rounded", "mine:Mondrian")])
    >>> [result.defense for result in results]
    ['Rounded', 'mine:Mondrian']
    """
    names = class_names(results)
    return _all_renamed(results, names), _all_renamed(promises, names)


def shown_rows(rows: Sequence[Other]) -> list[Other]:
    """Rows of a comparison with the names that tables show, as `shown_board` has them."""
    return _all_renamed(rows, class_names(rows))


def class_names(named: Iterable[Result | Change | BaselineDifference]) -> dict[str, str]:
    """Class name of each method ``module:Class`` whose class name no other method has, by stored name."""
    owners: dict[str, set[str]] = defaultdict(set)
    for name in {name for one in named for name in _names_in(one)}:
        owners[name.rpartition(":")[2]].add(name)
    taken = {name for package in ("defenses", "attacks") for name in importlib.import_module(package).__all__}
    return {
        name: short
        for short, (name, *others) in ((short, sorted(names)) for short, names in owners.items())
        if name != short and not others and short not in taken
    }


def _names_in(one: Any) -> Iterator[str]:
    for part in PARTS:
        value = getattr(one, part, None)
        if isinstance(value, str):
            yield value
        else:
            yield from _used(value)


def _used(value: Any) -> Iterator[str]:
    """Names of methods among parameters: values of ``use``."""
    if isinstance(value, Mapping):
        if "use" in value:
            yield str(value["use"])
        for part in value.values():
            yield from _used(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _used(part)


def _all_renamed(group: Sequence[One], names: Mapping[str, str]) -> list[One]:
    return [_renamed(one, names) for one in group] if names else list(group)


def _renamed(one: One, names: Mapping[str, str]) -> One:
    changes: dict[str, Any] = {}
    for part in PARTS:
        value = getattr(one, part, None)
        if value:
            changes[part] = names.get(value, value) if isinstance(value, str) else _with_names(value, names)
    return replace(one, **changes)


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    """Parameters whose methods are renamed."""
    if isinstance(value, Mapping):
        return {
            key: names.get(part, part) if key == "use" and isinstance(part, str) else _with_names(part, names)
            for key, part in value.items()
        }
    return [_with_names(part, names) for part in value] if isinstance(value, list | tuple) else value
