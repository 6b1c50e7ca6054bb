"""Settings of methods by the names that boards show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from leaderboard.result import canonical, label
from metrics.near_names import nearest_name

LISTED, FEW = 30, 5
"""Largest number of settings that an error message lists, and of those that it lists if none is near what was named."""
Setting = tuple[str, str]
"""Name of a method, and the canonical text of its parameters."""
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
"""A number that stands alone in a label, such as a parameter's value."""


def setting_named(text: str, settings: Iterable[tuple[str, Mapping[str, Any]]], kind: str) -> Setting:
    """The setting of a name such as ``Mondrian k=5``; the name alone suffices for a method with one setting.

    A class of one's own has two names, ``mine:Rounded`` and ``Rounded``. The whole name comes first, so that
    ``Mondrian`` is the built-in class beside a ``mine:Mondrian``. Numbers are compared by value, to the six digits that
    boards show: ``width=0.30`` is ``width=0.3``.

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
        If no setting has this name, or several have; the message names the nearest one, or those that have it.

    Examples
    --------
    >>> setting_named("Mondrian k=5", [("Mondrian", {"k": 2}), ("Mondrian", {"k": 5})], "defense")
    ('Mondrian', '{"k":5}')
    >>> setting_named("Noise width=0.30", [("Noise", {"width": 0.3}), ("mine:Noise", {"width": 0.3})], "defense")
    ('Noise', '{"width":0.3}')
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
        If no setting has this name; the message names the nearest one, or a few of them.

    Examples
    --------
    >>> settings_named("Mondrian", [("Mondrian", {"k": 2}), ("Mondrian", {"k": 5})], "defense")
    [('Mondrian', '{"k":2}'), ('Mondrian', '{"k":5}')]
    """
    wanted = " ".join(text.split())
    known = {(name, canonical(parameters)): (name, parameters) for name, parameters in settings}
    labels = {setting: label(*method) for setting, method in known.items()}
    names = {setting: name for setting, (name, _) in known.items()}
    found: list[Setting] = []
    # What was typed in full comes before what it may stand for.
    for form in (_as_it_is, _without_module):
        for texts in (labels, names):
            for same in (_as_it_is, _by_value):
                found = found or [setting for setting, text in texts.items() if same(form(text)) == same(wanted)]
    if not found:
        near = nearest_name(wanted, [*labels.values(), *names.values()])
        advice = f"did you mean {near!r}?" if near else f"there are {listed(known.values(), most=FEW)}"
        raise ValueError(f"there is no {kind} {wanted!r}; {advice}")
    return found


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
