"""Audit of a claimed epsilon: a lower bound with stated confidence, from runs on neighbouring inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from attacks.statistics.distinguishing import learn_event
from defenses.base import Guarantee, Parametrized
from defenses.federated.noise import gaussian_epsilon
from metrics.columns import Booleans, Floats, check_integer, check_real, refuse
from metrics.empirical_epsilon import gaussian_shift_bound, one_run_epsilon

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

    Raises ValueError if the claimed epsilon is not finite and at least 0, or the claimed delta is not in [0, 1).
    """

    name: str
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_real(f"epsilon that {self.name} claims", self.epsilon, low=0)
        check_real(f"delta that {self.name} claims", self.delta, low=0, high=1, open_high=True)


def claim_of(mechanism: Any, guaranteed: Guarantee) -> tuple[str, float, float]:
    """Fields of a `Claim` from what a mechanism guarantees; ValueError if that names no epsilon."""
    if guaranteed.epsilon is None:
        raise ValueError(f"{type(mechanism).__name__} claims no epsilon")
    return repr(mechanism), float(guaranteed.epsilon), float(guaranteed.delta or 0.0)


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

    - bounds: Lower bounds on epsilon.
    - runs: Runs of the mechanism.
    - confidence: 1 minus the false-alarm probability: a correct mechanism fails with probability at most 1 -
      confidence.
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
    distinguishes the inputs (`attacks.statistics.distinguishing`). The frequencies of that event in the other half give
    a bound by Clopper and Pearson's limits. With several pairs, each bound is computed at the level 1 - (1 -
    confidence) / pairs (Bonferroni). A correct mechanism therefore fails with probability at most 1 - confidence.

    - runs: Runs on each input, at least 8, or a ValueError is raised. The default is that of the subject.
    - confidence: Joint confidence of the bounds, in (0, 1), or a ValueError is raised.

    Source: Ding, Wang, Wang, Zhang and Kifer (2018), Detecting violations of differential privacy. Jagielski, Ullman
    and Oprea (2020), Auditing differentially private machine learning.

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


def twice_the_epsilon(mechanism: Any) -> Any:
    """Return the mechanism with every epsilon doubled, so that its noise is halved; None if it has no such parameter.

    Pure noise is halved exactly. The standard deviation of Gaussian noise falls to between a half and 0.71 of what it
    was.

    Examples
    --------
    >>> from defenses.dp import Laplace
    >>> twice_the_epsilon(Laplace(epsilon=0.5))
    Laplace(epsilon=1.0, sensitivity=1.0)
    """
    if not isinstance(mechanism, Parametrized):
        return None
    epsilons = {
        name: 2 * value
        for name, value in mechanism.get_params().items()
        if name.partition("_")[0] == "epsilon" and value is not None
    }
    return mechanism.clone().set_params(**epsilons) if epsilons else None


# Audit of a claimed epsilon in one run or a few, from guesses about many canaries.

# Shares of the canaries that are guessed. They are fixed before the run, and their bounds hold jointly.
SHARES = (1.0, 1 / 4, 1 / 16)
GAUSSIAN_SHARES = (1 / 16, 1 / 64)
FEWEST = 16
# Default number of runs.
RUNS = 20

CanaryRelease = Callable[[Booleans, Generator], Floats]
"""``release(included, rng)``: scores of the canaries of each run, shape (runs, canaries); higher if likely included."""


@dataclass(frozen=True)
class Canaries(Claim):
    """A claim, which must cover the inclusion of each single canary, and a way to run the mechanism on many canaries.

    - title: Short description of the canaries.
    - release: Runs the mechanism; see `CanaryRelease`.
    - count: Default number of canaries in a run.
    - gaussian: Whether the mechanism protects a canary by Gaussian noise, so that its trade-off function is Gaussian.
    """

    title: str
    release: CanaryRelease
    count: int = 2_000
    gaussian: bool = False


@dataclass(frozen=True)
class Guesses:
    """Guesses about some canaries, and what they prove.

    - form, {"any", "gaussian"}: The assumed trade-off function.
    - guesses: Number of guesses in each run.
    - correct: Number of correct guesses in all runs.
    - bound: Lower bound on epsilon at the claimed delta.
    """

    form: str
    guesses: int
    correct: int
    bound: float


@dataclass(frozen=True)
class OneRunAudit(ClaimAudit):
    """An audit in one run or a few, with the number of canaries in each run and the guesses behind each bound."""

    subject: Canaries
    canaries: int
    parts: tuple[Guesses, ...]


def one_run_audit(
    subject: Canaries,
    *,
    canaries: int | None = None,
    guesses: int | None = None,
    runs: int = RUNS,
    confidence: float = 0.999,
    rng: Generator,
) -> OneRunAudit:
    """Compute a lower bound on a mechanism's epsilon from one run, or a few, on many canaries each.

    Each canary is included with probability 1/2, independently. The mechanism runs once, or a few times, and each run
    gives every canary a score. Of a fixed number of guesses, half go to the highest scores ("included") and half to the
    lowest ("not included"). The audit abstains from the other canaries. The number of correct guesses bounds epsilon:

    - for any (epsilon, delta) private mechanism, by `one_run_epsilon`;
    - for a mechanism with Gaussian noise, also by `gaussian_shift_bound`. The bound on mu is converted to the epsilon
      of Gaussian noise at the claimed delta. With a small delta it is far larger than the general one, since events of
      probability delta are too rare to be observed.

    Several numbers of guesses are tried: all canaries, a quarter and a sixteenth; for the Gaussian form a sixteenth and
    a 64th. They are fixed in advance. Each of the t bounds is computed at the level 1 - (1 - confidence) / t
    (Bonferroni). A correct mechanism therefore fails with probability at most 1 - confidence.

    A ValueError is raised if a number is out of range.

    - canaries: Number of canaries, at least 16. The default is that of the subject.
    - guesses: Number of guesses in each run, in 1..canaries. A single number avoids the correction for several.
    - runs: Number of independent runs, at least 1. The Gaussian form is loose for one run and tight for twenty.
    - confidence: Joint confidence of the bounds, in (0, 1).

    Source: Steinke, Nasr and Jagielski (2023), Privacy auditing with one (1) training run. Mahloujifar, Melis and
    Chaudhuri (2024), Auditing f-differential privacy in one run.

    Examples
    --------
    Randomized response that claims epsilon 0.5 and answers truthfully with odds e^1:

    >>> import numpy as np
    >>> def answers(included, rng):
    ...     return np.where(rng.random(included.shape) < 0.73, included, ~included).astype(float)
    >>> result = one_run_audit(Canaries("coin", 0.5, 0.0, "answers", answers), rng=np.random.default_rng(1))
    >>> result.holds, round(result.bound, 1)
    (False, 0.9)
    """
    count = subject.count if canaries is None else canaries
    check_integer("canaries", count, low=FEWEST)
    check_integer("runs", runs, low=1)
    check_real("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    if guesses is not None:
        check_integer("guesses", guesses, low=1)
        refuse(guesses > count, f"guesses must be at most the number of canaries, {count}, got {guesses}")
    plan = _plan(count, guesses, subject.gaussian)
    level = 1 - (1 - confidence) / len(plan)
    coin_rng, release_rng, tie_rng = rng.spawn(3)
    included = coin_rng.random((runs, count)) < 0.5
    scores = np.asarray(subject.release(included, release_rng), dtype=float)
    refuse(
        scores.shape != included.shape or np.isnan(scores).any(),
        f"{subject.name}: each run must give every canary a score, without NaN",
    )
    # Ties are broken at random, so that the guesses depend on the output alone.
    order = np.lexsort((tie_rng.random(scores.shape), scores))
    ranked = np.take_along_axis(included, order, axis=1)
    correct = [_correct(ranked, number) for _, number in plan]
    parts = []
    for (form, number), hits in zip(plan, correct, strict=True):
        if form == "any":
            bound = one_run_epsilon(hits, runs * number, runs * count, delta=subject.delta, confidence=level)
        else:
            shift = gaussian_shift_bound(hits, number, count, runs=runs, confidence=level)
            bound = gaussian_epsilon(shift, subject.delta) if shift > 0 else 0.0
        parts.append(Guesses(form, number, hits, bound))
    bounds = tuple(part.bound for part in parts)
    return OneRunAudit(subject, bounds, runs, confidence, count, tuple(parts))


def _plan(count: int, guesses: int | None, gaussian: bool) -> list[tuple[str, int]]:
    """Form and number of guesses of each bound."""
    forms = {"any": SHARES} | ({"gaussian": GAUSSIAN_SHARES} if gaussian else {})
    if guesses is not None:
        return [(form, guesses) for form in forms]
    return [(form, max(1, int(count * share))) for form, shares in forms.items() for share in shares]


def _correct(ranked: Booleans, guesses: int) -> int:
    """Number of correct guesses about the canaries of each run, in increasing order of their scores."""
    absent = guesses // 2
    present = guesses - absent
    return int(np.count_nonzero(~ranked[:, :absent])) + int(np.count_nonzero(ranked[:, ranked.shape[1] - present :]))
