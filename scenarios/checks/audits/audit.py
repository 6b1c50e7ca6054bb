"""Audit of a claimed epsilon: a lower bound with stated confidence, from runs on neighbouring inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.random import Generator

from attacks.statistics.learned_event import learn_event
from metrics.columns import Floats, check_integer, check_real

Sample = Callable[[int, Generator], Floats]
"""``sample(runs, rng)``: features of independent outputs on one input, shape (runs, features)."""


@dataclass(frozen=True)
class Neighbours:
    """A pair of neighbouring inputs of a mechanism.

    Parameters
    ----------
    title : str
        Short description of the two inputs.
    first, second : callable
        Run the mechanism on the first and on the second input; see `Sample`.
    """

    title: str
    first: Sample
    second: Sample


@dataclass(frozen=True)
class Claim:
    """A mechanism with its parameters, by name, and the privacy that it claims.

    Raises
    ------
    ValueError
        If the claimed epsilon is not finite and at least 0, or the claimed delta is not in [0, 1).
    """

    name: str
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_real(f"epsilon that {self.name} claims", self.epsilon, low=0)
        check_real(f"delta that {self.name} claims", self.delta, low=0, high=1, open_high=True)


@dataclass(frozen=True)
class Subject(Claim):
    """A claim, and the neighbouring inputs on which it is audited.

    Parameters
    ----------
    neighbours : tuple of Neighbours
        Pairs of inputs on which the mechanism is run; the claim must hold on all of them.
    tight : bool
        True if the pairs include one that is known to be worst. A bound far below the claim then has
        one of two causes. The mechanism adds more noise than necessary, or events of probability delta are too rare to
        be observed.
    runs : int
        Default number of runs on each input, which take some seconds.
    """

    neighbours: tuple[Neighbours, ...]
    tight: bool = True
    runs: int = 200_000


@dataclass(frozen=True)
class ClaimAudit:
    """Lower bounds on the epsilon of a claim, which hold jointly with probability `confidence`.

    Attributes
    ----------
    subject : Claim
        The audited claim.
    bounds : tuple of float
        Lower bounds on epsilon.
    runs : int
        Runs of the mechanism.
    confidence : float
        1 minus the false-alarm probability: a correct mechanism fails with probability at most 1 - confidence.
    """

    subject: Claim
    bounds: tuple[float, ...]
    runs: int
    confidence: float

    @property
    def bound(self) -> float:
        """The largest bound."""
        return max(self.bounds)

    @property
    def holds(self) -> bool:
        """True if no bound exceeds the claimed epsilon."""
        return self.bound <= self.subject.epsilon


@dataclass(frozen=True)
class Audit(ClaimAudit):
    """An audit with a bound for each pair of neighbours, computed from half of the runs on each input."""

    subject: Subject


def audit(subject: Subject, *, runs: int | None = None, confidence: float = 0.999, rng: Generator) -> Audit:
    """Compute a lower bound on a mechanism's epsilon, with stated confidence.

    For each pair of neighbours the mechanism runs on both inputs. Half of the outputs serve to learn an event that
    distinguishes the inputs (`attacks.statistics.learned_event`). The frequencies of that event in the other half give
    a bound by Clopper and Pearson's limits. With several pairs, each bound is computed at the level
    1 - (1 - confidence) / pairs (Bonferroni). A correct mechanism therefore fails with probability at most
    1 - confidence.

    Parameters
    ----------
    subject : Subject
        The mechanism, its claim and its neighbours.
    runs : int, optional
        Runs on each input, at least 8. The default is that of the subject.
    confidence : float
        Joint confidence of the bounds, in (0, 1).
    rng : Generator
        Source of all randomness.

    Raises
    ------
    ValueError
        If `runs` or `confidence` is out of range.

    Examples
    --------
    Randomized response that claims epsilon 0.5 and answers truthfully with odds e^1:

    >>> import numpy as np
    >>> def answers(probability):
    ...     return lambda runs, rng: (rng.random((runs, 1)) < probability).astype(float)
    >>> claimed = Subject("coin", 0.5, 0.0, (Neighbours("no or yes", answers(0.27), answers(0.73)),))
    >>> result = audit(claimed, runs=20_000, rng=np.random.default_rng(1))
    >>> result.holds, round(result.bound, 1)
    (False, 0.9)

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
