"""Measurements of an experiment in the store of results: each is measured once and stored when it ends."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from leaderboard.results.result import EXPERIMENT, Result, canonical
from leaderboard.results.store import Store
from scenarios.running.methods.fingerprint import digest, sources, versions
from scenarios.running.units import SCORER, key_of_play
from scenarios.running.workers.failure import reason_of, status_of
from scenarios.studies.experiment import ExperimentPlan
from scenarios.studies.measuring import Losses, Value
from scenarios.studies.value_text import read, written


class MeasurementFailed(Exception):  # noqa: N818 (a stored failure, of which the run ends)
    """A measurement raised an exception, which is stored as its status."""


@dataclass
class RecordedMeasurements:
    """Makes the measurements of one run of an experiment that are not yet stored (a `Measuring`).

    A measurement is stored as one result a play, with its measures as values, and its whole value as a document. It is
    measured again if the code, the data, the seed, the number of plays or its settings change.

    Parameters
    ----------
    store : Store
        Holds earlier measurements and receives new ones.
    plan : ExperimentPlan
        The experiment, with the plays and the seed of this run.
    fresh : bool
        Make every measurement, including those that are stored.

    Attributes
    ----------
    results : list of Result
        Results of the measurements asked for so far.
    made : int
        Number of measurements made, and not taken from the store.
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

        Raises
        ------
        MeasurementFailed
            If the measurement raises an exception other than a ValueError; the failure is stored.
        ValueError
            If the measurement refuses its input.
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
        stored = None
        if not self.fresh and self.store.known([key]).get(key) == "ok":
            stored = self.store.document(content)
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
            results = _results(blank, losses(value), time.perf_counter() - started, _now())
        except ValueError:
            # A parameter that does not fit the data is bad input, which is refused and not stored.
            raise
        except Exception as error:
            failure = replace(
                blank,
                status=status_of(error),
                reason=reason_of(error),
                seconds=time.perf_counter() - started,
                created=_now(),
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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
