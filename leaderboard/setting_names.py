"""Settings of methods by the names that boards show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leaderboard.result import canonical, label

LISTED = 30
"""Largest number of settings that an error message lists."""
Setting = tuple[str, str]
"""Name of a method, and the canonical text of its parameters."""


def setting_named(text: str, settings: Iterable[tuple[str, Mapping[str, Any]]], kind: str) -> Setting:
    """The setting of a name such as ``Mondrian k=5``; the name alone suffices for a method with one setting.

    A class of one's own has two names, ``mine:Rounded`` and ``Rounded``.

    Parameters
    ----------
    text : str
        The name.
    settings : iterable of tuple
        Names of methods with their parameters.
    kind : str
        What the methods are, for messages: ``defense`` or ``attack``.

    Raises
    ------
    ValueError
        If no setting has this name, or several have; the message names the settings.

    Examples
    --------
    >>> setting_named("Mondrian k=5", [("Mondrian", {"k": 2}), ("Mondrian", {"k": 5})], "defense")
    ('Mondrian', '{"k":5}')
    """
    given = list(settings)
    found = settings_named(text, given, kind)
    if len(found) > 1:
        shown = listed((name, parameters) for name, parameters in given if (name, canonical(parameters)) in found)
        raise ValueError(f"{' '.join(text.split())!r} names several {kind}s; name one of {shown}")
    return found[0]


def settings_named(text: str, settings: Iterable[tuple[str, Mapping[str, Any]]], kind: str) -> list[Setting]:
    """The settings of a name as in `setting_named`; the name alone stands for all settings of the method.

    Raises
    ------
    ValueError
        If no setting has this name; the message names the settings.

    Examples
    --------
    >>> settings_named("Mondrian", [("Mondrian", {"k": 2}), ("Mondrian", {"k": 5})], "defense")
    [('Mondrian', '{"k":2}'), ('Mondrian', '{"k":5}')]
    """
    wanted = " ".join(text.split())
    known = {(name, canonical(parameters)): (name, parameters) for name, parameters in settings}
    by_label = [setting for setting, (name, given) in known.items() if wanted in _names(label(name, given))]
    found = by_label or [setting for setting, (name, _) in known.items() if wanted in _names(name)]
    if not found:
        raise ValueError(f"there is no {kind} {wanted!r}; there are {listed(known.values())}")
    return found


def listed(settings: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Labels of settings in alphabetical order, separated by commas; of many, the first ones."""
    labels = sorted({label(name, parameters) for name, parameters in settings})
    more = f" and {len(labels) - LISTED} more" if len(labels) > LISTED else ""
    return ", ".join(labels[:LISTED]) + more


def _names(text: str) -> tuple[str, str]:
    """A label with and without the module of its class."""
    name, space, rest = text.partition(" ")
    return text, name.rpartition(":")[2] + space + rest
