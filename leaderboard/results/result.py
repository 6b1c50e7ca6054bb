"""Result of one trial or one release, and its label."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from metrics.score import Score

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")

LISTED = 2
"""Number of items of a longer list that a label shows."""
FAILURES = ("error", "timeout", "oom")
EXPERIMENT = "experiment"
"""Key of `Result.game` that marks a measurement of an experiment, with the experiment's class name."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Result of one trial (a play of a defense against an attack) or of one release (a play of a defense).

    Parameters
    ----------
    key : str
        Hash of everything that the result depends on, 64 hexadecimal digits. Each key is played once.
    parts : str
        Hash of the document that lists what the result depends on, besides the play; empty if none was kept.
    scenario : str
        Name of the scenario.
    game : dict
        Parameters of the game that differ within the scenario, such as ``{"decoys": "hard"}``.
    defense, attack : str
        Class names. A release has no attack (None), and belongs to every game of its scenario.
    parameters, attack_parameters : dict
        Constructor arguments of both, of JSON types.
    guarantee : str
        Privacy guarantee of the defense.
    play : int
        Number of the play.
    status : str
        ``ok``, ``skipped``, ``error``, ``timeout`` or ``oom`` (out of memory).
    reason : str
        Why the status is not ``ok``; if it is, what the method warned of.
    scores : dict of str to Score
        Scores of the trial's attack by goal; none for a release.
    values : dict of float or None
        Further measures, all finite; None for 0 of 0. For a release, its utility.
    seconds : float
        Wall-clock time.
    created : str
        Time at which it ended, ISO 8601.

    Examples
    --------
    >>> from leaderboard import Result
    >>> release = Result(key="1" * 64, scenario="bank", defense="Mondrian", play=0, values={"marginals": 0.75})
    >>> release.status
    'ok'
    """

    key: str
    parts: str = ""
    scenario: str
    game: dict[str, Any] = field(default_factory=dict)
    defense: str
    parameters: dict[str, Any] = field(default_factory=dict)
    guarantee: str = ""
    attack: str | None = None
    attack_parameters: dict[str, Any] = field(default_factory=dict)
    play: int
    status: str = "ok"
    reason: str = ""
    scores: Mapping[str, Score] = field(default_factory=dict)
    values: Mapping[str, float | None] = field(default_factory=dict)
    seconds: float = 0.0
    created: str = ""

    @property
    def is_measurement(self) -> bool:
        """Whether it is a measurement of an experiment, whose values are measures of which smaller is better."""
        return EXPERIMENT in self.game

    @cached_property
    def parameters_text(self) -> str:
        """Canonical text of `parameters`, written once: summaries group the same results again and again."""
        return canonical(self.parameters)

    @cached_property
    def attack_parameters_text(self) -> str:
        """Canonical text of `attack_parameters`."""
        return canonical(self.attack_parameters)


def grouped_by(things: Iterable[Thing], key: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    """Things of each key, in their order; a key that none has stands for no things."""
    groups: dict[Key, list[Thing]] = defaultdict(list)
    for thing in things:
        groups[key(thing)].append(thing)
    return groups


def canonical(value: Any) -> str:
    """Compact JSON with sorted keys: equal parameters give equal text.

    Raises
    ------
    ValueError
        If a number is not finite.
    TypeError
        If a value has no JSON type.

    Examples
    --------
    >>> canonical({"retention": 0.5, "columns": ["job"]})
    '{"columns":["job"],"retention":0.5}'
    """
    return _encoder.encode(value)


def _plain(value: Any) -> Any:
    """A numpy scalar or array as Python numbers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r} cannot be written as JSON")


_encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain)


def label(name: str, parameters: Mapping[str, Any]) -> str:
    """Readable name of a method with its parameters, as in ``Mondrian k=5``; None parameters are left out.

    A parameter that is a method (a mapping with ``use``), or a list of methods, is labelled in the same way.

    Examples
    --------
    >>> label("Mondrian", {"k": 5, "l": None})
    'Mondrian k=5'
    """
    parts = [
        _written(value) if _methods(value) else f"{key}={_written(value)}"
        for key, value in parameters.items()
        if value is not None
    ]
    return " ".join([name, *parts])


def _methods(value: Any) -> bool:
    """Whether a value is a list of methods, which is shown without the parameter's name."""
    is_list = isinstance(value, Sequence) and not isinstance(value, str) and bool(value)
    return is_list and all(isinstance(part, Mapping) and "use" in part for part in value)


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        if "use" in value:
            inner = label(str(value["use"]), {key: part for key, part in value.items() if key != "use"})
            return f"({inner})" if " " in inner else inner
        return "{" + ", ".join(f"{key}: {_written(part)}" for key, part in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        if _methods(value):
            return " + ".join(_written(part) for part in value)
        items = [_written(part) for part in value[:LISTED]]
        return ",".join(items) + (f",…({len(value)})" if len(value) > LISTED else "")
    return f"{value:g}" if isinstance(value, float) else str(value)
