"""One setting in the words of a run: defaults may be written out or left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sql

from leaderboard.results.result import Result, canonical
from leaderboard.results.store import Store, document_content, results_table

_METHODS = (("defense", "parameters"), ("attack", "attack_parameters"))
"""Columns of a method's name and of its parameters as they were written."""
Whole = tuple[str, str, str]
"""Role, name, and canonical text of all parameters, defaults included."""


def reword(store: Store, scenario: str, run: Iterable[Result], documents: Mapping[str, str]) -> None:
    """Give stored results the parameters as a run writes them.

    ``Mondrian k=5`` and ``Mondrian`` are one setting, since k is 5 by default. Written in two ways, it would be two
    rows of a board. What a result was played with stands in the document of its parts: only results with the same
    parameters are changed, whatever a default was in another version.

    Parameters
    ----------
    store : Store
        Database of results.
    scenario : str
        Name of the scenario.
    run : iterable of Result
        Releases and trials of the run.
    documents : mapping of str to str
        Documents of their parts, as JSON by hash.
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
