"""Audits of every mechanism at several claimed epsilons, and of whole defenses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from defenses.curators.curator import Curator
from defenses.pram.retention_replacement import RetentionReplacement
from defenses.synthetic.private_marginals import PrivateMarginals
from scenarios.auditing.audit import Audit, audit
from scenarios.auditing.names import mechanisms
from scenarios.auditing.subjects import subject
from scenarios.seeds import generator

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
    audits : tuple of Audit
        Independent audits, at least one.
    """

    name: str
    level: float
    audits: tuple[Audit, ...]

    @property
    def bound(self) -> float:
        """The largest lower bound on epsilon."""
        return max(one.bound for one in self.audits)

    @property
    def bounds(self) -> dict[str, float]:
        """The largest lower bound for each pair of neighbours, by the pair's title."""
        pairs = self.audits[0].subject.neighbours
        return {pair.title: max(one.bounds[position] for one in self.audits) for position, pair in enumerate(pairs)}

    @property
    def holds(self) -> bool:
        """True if no audit contradicts the mechanism's own claim, which may differ from `level`."""
        return all(one.holds for one in self.audits)


def grouped() -> dict[str, tuple[str, ...]]:
    """Names of all mechanisms by the title of their chart; mechanisms of no group come last, under "Others"."""
    groups = {title: tuple(name for name in names if name in mechanisms()) for title, names in GROUPS.items()}
    others = tuple(name for name in mechanisms() if not any(name in names for names in GROUPS.values()))
    return {title: names for title, names in groups.items() if names} | ({"Others": others} if others else {})


def audit_mechanism(
    name: str, levels: Sequence[float], delta: float, *, runs: int, plays: int, seed: int
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
    """
    mechanism: Any = mechanisms()[name]
    options = {**SMALL, "delta": delta}
    options = {key: value for key, value in options.items() if key in mechanism.parameter_names()}
    return tuple(
        _repeated_audit(name, level, mechanism(epsilon=level, **options), runs, plays, seed) for level in levels
    )


def audit_defenses(level: float, delta: float, *, releases: int, plays: int, seed: int) -> tuple[RepeatedAudit, ...]:
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
    """
    with_delta = f"delta {delta:g}"
    defenses: dict[str, Any] = {
        "Curator": Curator(epsilon=level),
        f"Curator, Gaussian noise, {with_delta}": Curator(epsilon=level, delta=delta, mechanism="gaussian"),
        "Curator, a record added or removed": Curator(epsilon=level, neighbours="add or remove"),
        f"PrivateMarginals, {with_delta}": PrivateMarginals(epsilon=level, delta=delta),
        "RetentionReplacement": RetentionReplacement(epsilon=level),
    }
    return tuple(_repeated_audit(name, level, defense, releases, plays, seed) for name, defense in defenses.items())


def _repeated_audit(name: str, level: float, mechanism: Any, runs: int, plays: int, seed: int) -> RepeatedAudit:
    audited = subject(mechanism)
    rng = generator(seed, "epsilon-audit", repr(mechanism))
    confidence = 1 - (1 - CONFIDENCE) / plays
    audits = tuple(audit(audited, runs=runs, confidence=confidence, rng=play_rng) for play_rng in rng.spawn(plays))
    return RepeatedAudit(name, level, audits)
