"""Audits of every mechanism at several claimed epsilons, and of whole defenses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from defenses import Curator, PrivateMarginals, RetentionReplacement
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.names import mechanisms
from scenarios.checks.audits.subjects import subject
from scenarios.studies.measuring import REFUTED, Losses, Measuring, by_play, measured_anew
from scenarios.tables.seeds import generator

CONFIDENCE = 0.999
"""Joint confidence of the repeated audits of one mechanism."""
SMALL = {"d": 16, "m": 32, "k": 4, "letters": "ab", "length": 4, "horizon": 8}
"""Parameters of protocols: small domains, whose likelihoods are computed quickly."""
GROUPS = {
    "Numbers with noise": ("DiscreteLaplace", "Laplace", "Staircase", "DiscreteGaussian", "Gaussian"),
    "Selections, streams and single answers": (
        "Exponential",
        "ReportNoisyMax",
        "SparseVector",
        "BinaryTree",
        "RandomizedResponse",
    ),
    "Local: answers, sets and responses": (
        "BinaryRandomizedResponse",
        "GeneralizedRandomizedResponse",
        "SubsetSelection",
        "HadamardResponse",
    ),
    "Local: unary and histogram encoding": (
        "SymmetricUnaryEncoding",
        "OptimizedUnaryEncoding",
        "SummationHistogramEncoding",
        "ThresholdedHistogramEncoding",
    ),
    "Local: longitudinal encoding, all rounds": (
        "LongitudinalSymmetricUnaryEncoding",
        "LongitudinalOptimizedUnaryEncoding",
    ),
    "Local: shuffled reports": ("ShuffledResponse",),
    "Local: numbers": ("TwoPointMechanism", "PiecewiseMechanism", "HybridMechanism"),
    "Local: hashing and sketches": (
        "BinaryLocalHashing",
        "OptimizedLocalHashing",
        "CountMeanSketch",
        "HadamardCountMeanSketch",
        "SequenceFragmentPuzzle",
    ),
}
"""Titles of charts, and the mechanisms that share one."""


@dataclass(frozen=True)
class RepeatedAudit:
    """Several audits of one mechanism, whose bounds hold jointly with probability `CONFIDENCE`.

    Attributes
    ----------
    name : str
        The mechanism or defense.
    level : float
        The epsilon that was asked for.
    claim : float
        The epsilon that the mechanism itself claims.
    neighbours : tuple of str
        Titles of the pairs of neighbours.
    lower : tuple of tuple of float
        For each of the independent audits, at least one, the lower bound on epsilon for each pair.
    """

    name: str
    level: float
    claim: float
    neighbours: tuple[str, ...]
    lower: tuple[tuple[float, ...], ...]

    @property
    def bound(self) -> float:
        """The largest lower bound on epsilon."""
        return max(map(max, self.lower))

    @property
    def bounds(self) -> dict[str, float]:
        """The largest lower bound for each pair of neighbours, by the pair's title."""
        return {title: max(one[pair] for one in self.lower) for pair, title in enumerate(self.neighbours)}

    @property
    def holds(self) -> bool:
        """True if no audit contradicts the mechanism's own claim, which may differ from `level`."""
        return self.bound <= self.claim


def grouped() -> dict[str, tuple[str, ...]]:
    """Names of all mechanisms by the title of their chart; mechanisms of no group come last, under "Others"."""
    groups = {title: tuple(name for name in names if name in mechanisms()) for title, names in GROUPS.items()}
    others = tuple(name for name in mechanisms() if not any(name in names for names in GROUPS.values()))
    return {title: names for title, names in groups.items() if names} | ({"Others": others} if others else {})


def audit_mechanism(
    name: str,
    levels: Sequence[float],
    delta: float,
    *,
    runs: int,
    plays: int,
    seed: int,
    measured: Measuring = measured_anew,
) -> tuple[RepeatedAudit, ...]:
    """Audit a mechanism at every claimed epsilon.

    Parameters
    ----------
    name : str
        One of `mechanisms`.
    levels : sequence of float
        Claimed epsilons.
    delta : float
        Claimed delta of mechanisms that take one.
    runs : int
        Runs on each input.
    plays : int
        Number of audits at each epsilon.
    seed : int
        Seed of all randomness.
    measured : Measuring
        Makes each audit, or returns its stored value.
    """
    mechanism: Any = mechanisms()[name]
    options = {**SMALL, "delta": delta}
    options = {key: value for key, value in options.items() if key in mechanism.parameter_names()}
    return tuple(
        measured(
            name,
            {**options, "epsilon": level, "runs": runs},
            partial(_repeated_audit, name, level, mechanism(epsilon=level, **options), runs, plays, seed),
            losses_of_audit,
        )
        for level in levels
    )


def audit_defenses(
    level: float, delta: float, *, releases: int, plays: int, seed: int, measured: Measuring = measured_anew
) -> tuple[RepeatedAudit, ...]:
    """Audit defenses that claim an epsilon.

    Parameters
    ----------
    level : float
        The claimed epsilon.
    delta : float
        The claimed delta of Gaussian noise.
    releases : int
        Releases of each of two neighbouring tables.
    plays : int
        Number of audits of each defense.
    seed : int
        Seed of all randomness.
    measured : Measuring
        Makes each audit, or returns its stored value.
    """
    with_delta = f"delta {delta:g}"
    defenses: dict[str, Any] = {
        "Curator": Curator(epsilon=level),
        f"Curator, Gaussian noise, {with_delta}": Curator(epsilon=level, delta=delta, mechanism="gaussian"),
        "Curator, a record added or removed": Curator(epsilon=level, neighbours="add or remove"),
        f"PrivateMarginals, {with_delta}": PrivateMarginals(epsilon=level, delta=delta),
        "RetentionReplacement": RetentionReplacement(epsilon=level),
    }
    return tuple(
        measured(
            name,
            {"epsilon": level, "releases": releases},
            partial(_repeated_audit, name, level, defense, releases, plays, seed),
            losses_of_audit,
        )
        for name, defense in defenses.items()
    )


def _repeated_audit(name: str, level: float, mechanism: Any, runs: int, plays: int, seed: int) -> RepeatedAudit:
    audited = subject(mechanism)
    rng = generator(seed, "epsilon-audit", repr(mechanism))
    confidence = 1 - (1 - CONFIDENCE) / plays
    audits = tuple(audit(audited, runs=runs, confidence=confidence, rng=play_rng) for play_rng in rng.spawn(plays))
    titles = tuple(pair.title for pair in audited.neighbours)
    return RepeatedAudit(name, level, audited.epsilon, titles, tuple(one.bounds for one in audits))


def losses_of_audit(audit: RepeatedAudit) -> Losses:
    """Largest bound of each audit, and in the first play by how much all of them refute the claim."""
    losses = by_play(epsilon_at_least=[max(bounds) for bounds in audit.lower])
    if not audit.holds:
        losses[0][REFUTED] = audit.bound - audit.claim
    return losses
