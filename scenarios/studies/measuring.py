"""How an experiment measures: each measurement has a name and settings, so that its result can be stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

Value = TypeVar("Value")
Losses = Sequence[Mapping[str, float]]
"""Measures of each play by name, of which smaller is better; those of a value without plays stand in one mapping."""

REFUTED = "refuted_by"
"""Measure by which a measurement refutes a claim; a run with one fails its gate."""
SUCCESS = "success"
"""Measure that is the success rate of an attack, which a gate may bound."""


class Measuring(Protocol):
    """Makes a measurement, or returns the stored value of an equal one."""

    def __call__(
        self, subject: str, settings: Mapping[str, Any], measure: Callable[[], Value], losses: Callable[[Value], Losses]
    ) -> Value:
        """Return the value of a measurement.

        Parameters
        ----------
        subject : str
            What is measured, such as a mechanism.
        settings : mapping of str
            Everything that the value depends on besides the subject, the code, the data, the seed and the number of
            plays; JSON values. Subject and settings name the measurement within its experiment.
        measure : callable
            Makes the measurement. Its value consists of numbers, texts, arrays, lists, dictionaries, and dataclasses of
            this project (`scenarios.studies.recorded_measurements`).
        losses : callable
            Measures of each play in the value, for comparisons of two runs.
        """


def measured_anew(
    subject: str, settings: Mapping[str, Any], measure: Callable[[], Value], losses: Callable[[Value], Losses]
) -> Value:
    """Make a measurement without storing it (a `Measuring`)."""
    return measure()


def no_losses(value: object) -> Losses:
    """No measures, for values that are not compared."""
    return ()


def by_play(**rates: Sequence[float]) -> list[dict[str, float]]:
    """Measures of each play, from sequences over plays; a shorter sequence lacks the last plays.

    Examples
    --------
    >>> by_play(error=[0.5, 0.25], guessed=[0.75])
    [{'error': 0.5, 'guessed': 0.75}, {'error': 0.25}]
    """
    plays = max(map(len, rates.values()), default=0)
    return [
        {name: float(values[play]) for name, values in rates.items() if play < len(values)} for play in range(plays)
    ]
