"""Settings of methods by the names that boards show, and in the words of a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import sqlalchemy as sql

from leaderboard.results.result import Result, canonical, label
from leaderboard.results.store import Store, document_content, results_table
from metrics.columns import nearest_name, refuse

LISTED, FEW = 30, 5
"""Largest number of settings that an error message lists, and of those that it lists if none is near what was named."""
Setting = tuple[str, str]
"""Name of a method, and the canonical text of its parameters."""
Method = tuple[str, Mapping[str, Any]]
"""Name of a method, and its parameters."""
Texts = Callable[[Mapping[Setting, Method]], Mapping[Setting, str]]
"""Gives what each setting may be called."""
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
"""A number that stands alone in a label, such as a parameter's value."""


def setting_named(text: str, settings: Iterable[tuple[str, Mapping[str, Any]]], kind: str) -> Setting:
    """The setting of a name such as ``Mondrian k=5``; the name alone suffices for a method with one setting.

    Of several settings, the name alone means the one whose parameters all have their defaults, if that is among them. A
    user's class has two names, ``mine:Rounded`` and ``Rounded``. The whole name comes first, so that ``Mondrian`` is
    the built-in class beside a ``mine:Mondrian``. Numbers are compared by value, to the six digits that boards show:
    ``width=0.30`` is ``width=0.3``.

    A ValueError is raised if no setting has this name, or several have. The message names the nearest one, or those
    that have it, and calls them by `kind`: ``defense`` or ``attack``.

    Examples
    --------
    >>> setting_named("Mondrian k=5", [("Mondrian", {"k": 2}), ("Mondrian", {"k": 5})], "defense")
    ('Mondrian', '{"k":5}')
    >>> setting_named("Noise width=0.30", [("Noise", {"width": 0.3}), ("mine:Noise", {"width": 0.3})], "defense")
    ('Noise', '{"width":0.3}')
    """
    known = _by_setting(settings)
    found = _found(text, known, (_labels, _names), kind)
    shown = listed(known[setting] for setting in found)
    refuse(len(found) > 1, f"{' '.join(text.split())!r} names several {kind}s; name one of {shown}")
    return found[0]


def settings_named(text: str, settings: Iterable[tuple[str, Mapping[str, Any]]], kind: str) -> list[Setting]:
    """The settings of a name as in `setting_named`; the name alone stands for all settings of the method.

    These include the setting whose parameters all have their defaults, which boards show by the name alone.

    Raises ValueError if no setting has this name; the message names the nearest one, or a few of them.

    Examples
    --------
    >>> settings_named("Mondrian", [("Mondrian", {"k": 2}), ("Mondrian", {"k": 5})], "defense")
    [('Mondrian', '{"k":2}'), ('Mondrian', '{"k":5}')]
    >>> settings_named("Gower", [("Gower", {}), ("Gower", {"power": 2})], "attack")
    [('Gower', '{}'), ('Gower', '{"power":2}')]
    """
    return _found(text, _by_setting(settings), (_names, _labels), kind)


def _by_setting(settings: Iterable[Method]) -> dict[Setting, Method]:
    return {(name, canonical(parameters)): (name, parameters) for name, parameters in settings}


def _names(known: Mapping[Setting, Method]) -> dict[Setting, str]:
    return {setting: name for setting, (name, _) in known.items()}


def _labels(known: Mapping[Setting, Method]) -> dict[Setting, str]:
    return {setting: label(*method) for setting, method in known.items()}


def _found(text: str, known: Mapping[Setting, Method], texts_of: Sequence[Texts], kind: str) -> list[Setting]:
    """Settings that have the wanted text, of the first kind of texts that has any."""
    wanted = " ".join(text.split())
    # What was typed in full comes before what it may stand for.
    for form, texts, same in product((_as_it_is, _without_module), texts_of, (_as_it_is, _by_value)):
        found = [setting for setting, one in texts(known).items() if same(form(one)) == same(wanted)]
        if found:
            return found
    near = nearest_name(wanted, [*_labels(known).values(), *_names(known).values()])
    advice = f"did you mean {near!r}?" if near else f"there are {listed(known.values(), most=FEW)}"
    raise ValueError(f"there is no {kind} {wanted!r}; {advice}")


def listed(settings: Iterable[tuple[str, Mapping[str, Any]]], most: int = LISTED) -> str:
    """Labels of settings in alphabetical order, separated by commas; of many, the first ones."""
    labels = sorted({label(name, parameters) for name, parameters in settings})
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(labels[:most]) + more


def _as_it_is(text: str) -> str:
    return text


def _by_value(text: str) -> str:
    """A label whose numbers are written as `label` writes fractions, so that equal values have equal texts."""
    return _NUMBER.sub(lambda number: f"{float(number[0]):g}", text)


def _without_module(text: str) -> str:
    """A label without the module of its class."""
    name, space, rest = text.partition(" ")
    return name.rpartition(":")[2] + space + rest


_METHODS = (("defense", "parameters"), ("attack", "attack_parameters"))
"""Columns of a method's name and of its parameters as they were written."""
Whole = tuple[str, str, str]
"""Role, name, and canonical text of all parameters, defaults included."""


def reword(store: Store, scenario: str, run: Iterable[Result], documents: Mapping[str, str]) -> None:
    """Give stored results the parameters as a run writes them.

    ``Mondrian k=5`` and ``Mondrian`` are one setting, since k is 5 by default. Written in two ways, it would be two
    rows of a board. What a result was played with stands in the document of its parts: only results with the same
    parameters are changed, whatever a default was in another version.

    - run: Releases and trials of the run.
    - documents: Documents of their parts, as JSON by hash.
    """
    words: dict[Whole, str] = {}
    for result in run:
        texts = (result.parameters_text, result.attack_parameters_text)
        for (role, _), text in zip(_METHODS, texts, strict=True):
            if result.parts in documents and (whole := _whole(role, result.parts, documents[result.parts])):
                words[whole] = text
    for role, column in _METHODS:
        own = {whole: text for whole, text in words.items() if whole[0] == role}
        _reword(store, scenario, results_table.c[role], results_table.c[column], own)


def _reword(
    store: Store, scenario: str, name: sql.Column[Any], parameters: sql.Column[Any], words: Mapping[Whole, str]
) -> None:
    """Reword what is written as the run writes no setting of the method, and was played with one of its settings."""
    known = {(method, text) for (_, method, _), text in words.items()}
    names = {method for method, _ in known}
    columns = (name, parameters, results_table.c.parts)
    of_scenario = results_table.c.scenario == scenario
    settings = sql.select(name, parameters).where(of_scenario).distinct()
    with store.transaction() as connection:
        others = {tuple(row) for row in connection.execute(settings) if row[0] in names} - known
        query = sql.select(*columns).where(of_scenario, parameters.in_({text for _, text in others})).distinct()
        written = [row for row in connection.execute(query) if (row[0], row[1]) in others] if others else []
    documents = store.documents({row[2] for row in written}) if written else {}
    wholes = [(row, _whole(name.name, row[2], documents[row[2]])) for row in written if row[2] in documents]
    changes = [(*row, words[whole]) for row, whole in wholes if whole is not None and whole in words]
    if changes:
        with store.transaction() as connection:
            for *row, new in changes:
                same = (column == value for column, value in zip(columns, row, strict=True))
                connection.execute(sql.update(results_table).where(of_scenario, *same).values({parameters.name: new}))


def _whole(role: str, parts: str, text: str) -> Whole | None:
    """The setting of a role in the document of a result's parts; None where it has none."""
    part = document_content(parts, text).get(role)
    return None if part is None else (role, str(part["name"]), canonical(part["parameters"]))
