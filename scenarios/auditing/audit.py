"""Auditing a claimed epsilon: many runs on neighbours, an event learned on a half of them, a bound from the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.random import Generator

from attacks.statistics.learned_event import learn_event
from defenses.base.parameters import check_integer, check_real
from metrics.arrays import Floats

Sample = Callable[[int, Generator], Floats]
"""``sample(runs, rng)``: features of independent outputs on one input, shape (runs, features)."""


@dataclass(frozen=True)
class Neighbours:
    """Two neighbouring inputs of a mechanism.

    Parameters
    ----------
    title : str
        What they are, in a few words.
    first, second : callable
        Run the mechanism on either.
    """

    title: str
    first: Sample
    second: Sample


@dataclass(frozen=True)
class Subject:
    """A mechanism whose claim is to be audited.

    Parameters
    ----------
    name : str
        The mechanism with its parameters.
    epsilon, delta : float
        What it claims.
    neighbours : tuple of Neighbours
        Where it is tried; the claim must hold on all.
    tight : bool
        Whether neighbours that are known to be worst are among them, so that a bound far below the claim says that the
        mechanism adds more noise than it needs; or that a delta is too small for its events to be seen in so few runs.
    runs : int
        How many runs on each input take some seconds.

    Raises
    ------
    ValueError
        If it claims no finite epsilon of at least 0 and delta in [0, 1).
    """

    name: str
    epsilon: float
    delta: float
    neighbours: tuple[Neighbours, ...]
    tight: bool = True
    runs: int = 200_000

    def __post_init__(self) -> None:
        check_real(f"epsilon that {self.name} claims", self.epsilon, low=0)
        check_real(f"delta that {self.name} claims", self.delta, low=0, high=1, open_high=True)


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes
    ----------
    subject : Subject
        What was audited.
    bounds : tuple of float
        Lower bound on epsilon for each pair of neighbours; together they hold with probability `confidence`.
    runs : int
        Runs on each input, a half of which the bounds rest on.
    confidence : float
        1 minus the rate of false alarms: how often an honest mechanism is failed, at most.
    """

    subject: Subject
    bounds: tuple[float, ...]
    runs: int
    confidence: float

    @property
    def bound(self) -> float:
        """The largest bound."""
        return max(self.bounds)

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the claim."""
        return self.bound <= self.subject.epsilon


def audit(subject: Subject, *, runs: int | None = None, confidence: float = 0.999, rng: Generator) -> Audit:
    """Measure a lower bound on a mechanism's epsilon.

    For each pair of neighbours the mechanism runs on both. On a half of the outputs an event is learned
    (`attacks.statistics.learned_event`); how often it happens among the others gives a bound by Clopper and Pearson's
    limits.
    With several pairs each bound is taken at the level 1 - (1 - confidence) / pairs (Bonferroni). An honest mechanism
    is therefore failed with probability at most 1 - confidence.

    Parameters
    ----------
    subject : Subject
        The mechanism, its claim and its neighbours.
    runs : int, optional
        Runs on each input, at least 8; as many as the subject says where not given.
    confidence : float
        In (0, 1).
    rng : Generator
        All randomness.

    Raises
    ------
    ValueError
        If `runs` or `confidence` is out of range.

    References
    ----------
    Ding, Wang, Wang, Zhang and Kifer (2018), Detecting violations of differential privacy.
    Jagielski, Ullman and Oprea (2020), Auditing differentially private machine learning.
    """
    runs = subject.runs if runs is None else runs
    check_integer("runs", runs, low=8)
    check_real("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    level = 1 - (1 - confidence) / len(subject.neighbours)
    half = runs // 2
    bounds = []
    for pair, pair_rng in zip(subject.neighbours, rng.spawn(len(subject.neighbours)), strict=True):
        first_rng, second_rng = pair_rng.spawn(2)
        first, second = pair.first(runs, first_rng), pair.second(runs, second_rng)
        event = learn_event(first[:half], second[:half], delta=subject.delta, confidence=level)
        bounds.append(event.bound(first[half:], second[half:], delta=subject.delta, confidence=level))
    return Audit(subject, tuple(bounds), runs, confidence)
