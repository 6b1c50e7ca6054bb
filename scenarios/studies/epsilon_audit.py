"""Experiment: measured epsilon of every mechanism beside the claimed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from defenses import Curator, PrivateMarginals, RetentionReplacement
from leaderboard.pages.line_chart import Lines, Series
from leaderboard.pages.report import Section, Table, Value
from metrics.columns import check_integer, check_list, check_real
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.names import mechanisms
from scenarios.checks.audits.subjects import subject
from scenarios.studies.experiment import REFUTED, Experiment, Losses, Measuring, by_play, measured_anew
from scenarios.tables.seeds import generator

# Audits of every mechanism at several claimed epsilons, and of whole defenses.

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

    - level: The epsilon that was asked for.
    - claim: The epsilon that the mechanism itself claims.
    - neighbours: Titles of the pairs of neighbours.
    - lower: For each of the independent audits, at least one, the lower bound on epsilon for each pair.
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
        """True if no audit contradicts the mechanism's claim, which may differ from `level`."""
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

    - name: One of `mechanisms`.
    - delta: Claimed delta of mechanisms that take one.
    - plays: Number of audits at each epsilon.
    - measured: Makes each audit, or returns its stored value.
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

    - delta: The claimed delta of Gaussian noise.
    - releases: Releases of each of two neighbouring tables.
    - plays: Number of audits of each defense.
    - measured: Makes each audit, or returns its stored value.
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


# Report of the epsilon audit: tables and charts of measured against claimed epsilon.


def mechanism_section(title: str, audits: Sequence[Sequence[RepeatedAudit]], runs: int, delta: float) -> Section:
    """Bounds of some mechanisms at every claimed epsilon, as a table and a chart.

    - audits: For each mechanism, its audits at the same claims in ascending order.
    - delta: Claimed delta of Gaussian noise.
    """
    levels = [audit.level for audit in audits[0]]
    rows: list[list[Value]] = []
    lines = [Series("the claim", levels, levels)]
    for mechanism in audits:
        name, bounds = mechanism[0].name, [audit.bound for audit in mechanism]
        share = max(bound / level for bound, level in zip(bounds, levels, strict=True))
        rows.append([name, *bounds, 100 * share, _verdict(mechanism)])
        lines.append(Series(name, levels, bounds))
    return Section(
        title,
        (),
        (
            Table(
                "Epsilon is at least",
                ("mechanism", *(f"claim {level:g}" for level in levels), "nearest to its claim, %", "verdict"),
                rows,
                digits=2,
                note=f"{runs:,} runs on each of two neighbouring inputs, confidence {CONFIDENCE:.1%} a cell; Gaussian "
                f"noise at delta {delta:g}. Bounds rest on how often a learned event happens: small claims and rare "
                "events need more runs.",
            ),
        ),
        lines=(Lines("Measured against claimed epsilon", "claimed epsilon", "epsilon at least", tuple(lines)),),
    )


def defense_section(audits: Sequence[RepeatedAudit], releases: int) -> Section:
    """Bounds of defenses for each pair of neighbours, as a table.

    - audits: One for each defense, all with the same claim.
    - releases: Releases of each of two neighbouring tables.
    """
    rows: list[list[Value]] = [
        [audit.name, title, bound, _verdict([audit])] for audit in audits for title, bound in audit.bounds.items()
    ]
    return Section(
        f"Curators and tables that claim epsilon {audits[0].level:g}",
        (),
        (
            Table(
                "Epsilon is at least, by what is asked or changed",
                ("defense", "question or neighbours", "at least", "verdict"),
                rows,
                digits=2,
                note=f"{releases:,} releases of each of two tables that differ in one record; the bounds of a defense "
                f"hold jointly with confidence {CONFIDENCE:.1%}. A budget is divided among the queries of a session. "
                "So few releases prove little where the distinguishing event is rare: with a delta, or many queries.",
            ),
        ),
    )


def _verdict(audits: Sequence[RepeatedAudit]) -> str:
    return "holds" if all(audit.holds for audit in audits) else "BROKEN"


class EpsilonAudit(Experiment):
    """Audits of every mechanism of `defenses.dp` and `defenses.ldp`, and of defenses that use them.

    A measured epsilon is a lower bound (`scenarios.checks.audits.audit`). A bound above the claim proves the mechanism
    broken. A bound near the claim shows that the mechanism adds no more noise than it needs. Several audits of one
    mechanism are combined: the report shows the largest bound, and all bounds hold jointly at the stated confidence.

    Parameters
    ----------
    epsilon : sequence of float
        Claimed epsilons, each in [0.001, 20].
    delta : float
        Claimed delta of Gaussian noise, in (0, 1). A small delta makes the worst event too rare to be observed.
    runs, releases : int
        Runs of a mechanism, and of a whole defense, on each of two neighbouring inputs; at least 8.

    Raises
    ------
    ValueError
        If a list is empty or a number out of range.

    References
    ----------
    Ding, Wang, Wang, Zhang and Kifer (2018), Detecting violations of differential privacy.
    """

    def __init__(
        self,
        *,
        epsilon: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
        delta: float = 0.01,
        runs: int = 40_000,
        releases: int = 400,
    ) -> None:
        self.epsilon = check_list("epsilon", epsilon, check_real, low=1e-3, high=20)
        self.delta = check_real("delta", delta, low=0, high=1, open_low=True, open_high=True)
        self.runs = check_integer("runs", runs, low=8)
        self.releases = check_integer("releases", releases, low=8)

    def run(
        self, plays: int, seed: int, say: Callable[[str], None], measured: Measuring = measured_anew
    ) -> tuple[Section, ...]:
        """Audit every mechanism and defense `plays` times."""
        levels = sorted(float(level) for level in self.epsilon)
        sections = []
        for title, names in grouped().items():
            say(f"{title}: {', '.join(names)}")
            audits = [
                audit_mechanism(name, levels, self.delta, runs=self.runs, plays=plays, seed=seed, measured=measured)
                for name in names
            ]
            sections.append(mechanism_section(title, audits, self.runs, self.delta))
        say(f"Curators and tables, {self.releases} releases on each input")
        defenses = audit_defenses(
            levels[-1], self.delta, releases=self.releases, plays=plays, seed=seed, measured=measured
        )
        return (*sections, defense_section(defenses, self.releases))
