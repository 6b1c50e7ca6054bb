"""Measurements of an experiment in the store of results: each is measured once and stored when it ends."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

from defenses.base import Parametrized
from leaderboard.results import EXPERIMENT, Result, Store, canonical
from metrics.columns import require
from scenarios.running.methods import describe, digest, reason_of, sources, status_of, versions
from scenarios.running.units import SCORER, key_of_play
from scenarios.running.workers.worker import current_moment
from scenarios.studies.experiment import ExperimentPlan, Losses, Value

# Values of measurements as JSON text, exact to the last bit.

MODULES = ("scenarios.", "metrics.", "leaderboard.")
"""Beginnings of the modules whose dataclasses and named tuples a text may name; no others are imported."""


def written(value: Any) -> str:
    """Text of a value.

    It may hold numbers, texts, arrays, lists, tuples, dictionaries and protocols of local differential privacy, and
    dataclasses and named tuples of this project. Anything else raises a TypeError.

    Examples
    --------
    >>> read(written({"a": (1, 2.5, float("inf")), "b": None}))
    {'a': (1, 2.5, inf), 'b': None}
    """
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def read(text: str) -> Any:
    """Value of a text that `written` made.

    Raises ValueError if `written` did not make this text.
    """
    try:
        return _value(json.loads(text))
    except (KeyError, TypeError, AttributeError, IndexError, ImportError, RecursionError) as error:
        raise ValueError(f"a stored measurement is damaged ({type(error).__name__})") from None


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        return {
            "array": [_plain(item) for item in value.ravel().tolist()],
            "of": str(value.dtype),
            "shape": value.shape,
        }
    if isinstance(value, Parametrized):
        return {"protocol": type(value).__name__, "parameters": _plain(describe(value))}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"named": _name(value), "items": [_plain(item) for item in value]}
    if is_dataclass(value) and not isinstance(value, type):
        return {"named": _name(value), "fields": {f.name: _plain(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, tuple):
        return {"tuple": [_plain(item) for item in value]}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(key), _plain(item)] for key, item in value.items()]}
    raise TypeError(f"{type(value).__name__} cannot be stored")


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_value(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if "float" in plain:
        return float(plain["float"])
    if "array" in plain:
        return np.array([_value(item) for item in plain["array"]], dtype=plain["of"]).reshape(plain["shape"])
    if "tuple" in plain:
        return tuple(_value(item) for item in plain["tuple"])
    if "pairs" in plain:
        return {_value(key): _value(item) for key, item in plain["pairs"]}
    if "protocol" in plain:
        return _protocol(plain["protocol"], _value(plain["parameters"]))
    kind = _kind(plain["named"])
    if "items" in plain:
        return kind(*(_value(item) for item in plain["items"]))
    return kind(**{name: _value(item) for name, item in plain["fields"].items()})


def _protocol(name: str, parameters: dict[str, Any]) -> Any:
    from scenarios.checks.audits.names import mechanisms

    require(name in mechanisms(), f"a stored measurement is damaged (there is no protocol {name!r})")
    return mechanisms()[name](**parameters)


def _name(value: Any) -> str:
    name = f"{type(value).__module__}:{type(value).__qualname__}"
    require(name.startswith(MODULES), f"{name} cannot be stored", TypeError)
    return name


def _kind(name: str) -> type[Any]:
    """Class of a dataclass or named tuple of this project."""
    module, _, qualified = name.partition(":")
    kind = getattr(importlib.import_module(module), qualified, None) if module.startswith(MODULES) else None
    if not isinstance(kind, type) or not (is_dataclass(kind) or issubclass(kind, tuple)):
        raise ValueError(f"a stored measurement is damaged (there is no value {name!r})")
    return kind


class MeasurementFailed(Exception):  # noqa: N818 (a stored failure, of which the run ends)
    """A measurement raised an exception, which is stored as its status."""


@dataclass
class RecordedMeasurements:
    """Makes the measurements of one run of an experiment that are not yet stored (a `Measuring`).

    A measurement is stored as one result a play, with its measures as values, and its whole value as a document. It is
    measured again if the code, the data, the seed, the number of plays or its settings change.

    - store: Holds earlier measurements and receives new ones.
    - plan: The experiment, with the plays and the seed of this run.
    - fresh: Make every measurement, including those that are stored.
    - results: Results of the measurements asked for so far.
    - made: Number of measurements made, and not taken from the store.
    """

    store: Store
    plan: ExperimentPlan
    fresh: bool = False
    results: list[Result] = field(default_factory=list)
    made: int = 0

    def __post_init__(self) -> None:
        from scenarios.datasets import load

        self._sources = sources(self.plan.experiment)
        self._data = {name: load(name).sha256 for name in self.plan.experiment.datasets}

    def __call__(
        self, subject: str, settings: Mapping[str, Any], measure: Callable[[], Value], losses: Callable[[Value], Losses]
    ) -> Value:
        """Return the stored value of a measurement, or make and store it.

        Raises MeasurementFailed if the measurement raises an exception other than a ValueError; the failure is stored.
        Raises ValueError if the measurement refuses its input.
        """
        documents = self._documents(subject, settings)
        parts = next(iter(documents))
        key = key_of_play(parts, 0)
        content = hashlib.sha256(f"value {key}".encode()).hexdigest()
        blank = Result(
            key=key,
            parts=parts,
            scenario=self.plan.name,
            game={EXPERIMENT: type(self.plan.experiment).__name__},
            defense=subject,
            parameters=dict(settings),
            play=0,
        )
        known = not self.fresh and self.store.known([key]).get(key) == "ok"
        stored = self.store.document(content) if known else None
        if stored is not None:
            value: Value = read(stored)
            self.results += _results(blank, losses(value), 0.0, "")
            return value
        self.made += 1
        started = time.perf_counter()
        try:
            value = measure()
            # The value that is reported is the one that a later run reads.
            text = written(value)
            results = _results(blank, losses(value), time.perf_counter() - started, current_moment())
        except ValueError:
            # A parameter that does not fit the data is bad input, which is refused and not stored.
            raise
        except Exception as error:
            failure = replace(
                blank,
                status=status_of(error),
                reason=reason_of(error),
                seconds=time.perf_counter() - started,
                created=current_moment(),
            )
            self.store.add([failure], documents)
            self.results.append(failure)
            raise MeasurementFailed(f"{subject}: {failure.reason.partition(chr(10))[0]}") from error
        self.store.add(results, {**documents, content: text})
        self.results += results
        return value

    def _documents(self, subject: str, settings: Mapping[str, Any]) -> dict[str, str]:
        """Documents that list what a measurement depends on, by their hash; the first names the others."""
        source = {"name": subject, "parameters": dict(settings), "source": digest(self._sources)}
        parts = {
            "scenario": self.plan.name,
            "data": self._data,
            "seed": self.plan.seed,
            "plays": self.plan.plays,
            "defense": source,
            "scorer": {"version": SCORER, "source": digest(self._sources)},
            "versions": versions(),
        }
        return {digest(parts): canonical(parts), digest(self._sources): canonical(self._sources)}


def _results(blank: Result, losses: Losses, seconds: float, created: str) -> list[Result]:
    """One result a play, of which the first has the time of all."""
    return [
        replace(
            blank,
            key=key_of_play(blank.parts, play),
            play=play,
            values=dict(values),
            seconds=0.0 if play else seconds,
            created=created,
        )
        for play, values in enumerate(losses or [{}])
    ]
