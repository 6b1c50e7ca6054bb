"""Every mechanism's measured epsilon beside the claimed one, and curators' query by query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from defenses.base.parameters import check_integer, check_real
from defenses.curators.curator import Curator
from defenses.pram.retention_replacement import RetentionReplacement
from defenses.synthetic.private_marginals import PrivateMarginals
from leaderboard.line_chart import Lines, Series
from leaderboard.report import Section, Table, Value
from scenarios.auditing.audit import Audit, audit
from scenarios.auditing.names import mechanisms
from scenarios.auditing.subjects import subject
from scenarios.experiments.experiment import Experiment
from scenarios.seeds import generator

CONFIDENCE = 0.999
SMALL = {"d": 16, "m": 32, "k": 4, "letters": "ab", "length": 4}
"""Parameters of protocols: small domains, so that a report's likelihoods are quickly computed."""
GROUPS = {
    "Numbers with noise": ("DiscreteLaplace", "Laplace", "Staircase", "DiscreteGaussian", "Gaussian"),
    "Selections and single answers": ("Exponential", "ReportNoisyMax", "SparseVector", "RandomizedResponse"),
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
    "Local: hashing and sketches": (
        "BinaryLocalHashing",
        "OptimizedLocalHashing",
        "CountMeanSketch",
        "HadamardCountMeanSketch",
        "SequenceFragmentPuzzle",
    ),
}
"""Mechanisms that share a chart."""


class EpsilonAudit(Experiment):
    """Audits every mechanism of `defenses.dp` and `defenses.ldp`, and the defenses that publish through them.

    A measured epsilon is a lower bound (`scenarios.auditing.audit`): above the claim the mechanism is broken; near it
    nothing is given away of accuracy. Several audits of one mechanism are taken together, the largest bound at the
    confidence that all hold.

    Parameters
    ----------
    epsilon : sequence of float
        Claims, positive.
    delta : float
        Claim of Gaussian noise, in (0, 1). A small one makes the worst event too rare to be seen.
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
        if isinstance(epsilon, str) or not isinstance(epsilon, Sequence) or not epsilon:
            raise ValueError(f"epsilon must be a list, got {epsilon!r}")
        for level in epsilon:
            check_real("epsilon", level, low=1e-3, high=20)
        check_real("delta", delta, low=0, high=1, open_low=True, open_high=True)
        check_integer("runs", runs, low=8)
        check_integer("releases", releases, low=8)
        self.epsilon = epsilon
        self.delta = delta
        self.runs = runs
        self.releases = releases

    def run(self, plays: int, seed: int, say: Callable[[str], None]) -> tuple[Section, ...]:
        """Audit everything `plays` times."""
        sections = []
        for title, names in grouped().items():
            say(f"{title}: {', '.join(names)}")
            sections.append(self._section(title, names, plays, seed))
        say(f"Curators and tables, {self.releases} releases on each input")
        return (*sections, self._curators(plays, seed))

    def _section(self, title: str, names: Sequence[str], plays: int, seed: int) -> Section:
        levels = sorted(float(level) for level in self.epsilon)
        rows: list[list[Value]] = []
        lines = [Series("the claim", levels, levels)]
        for name in names:
            found = [self._bound(self._mechanism(name, level), self.runs, plays, seed) for level in levels]
            bounds = [bound for bound, _ in found]
            share = max(bound / level for bound, level in zip(bounds, levels, strict=True))
            # Against the mechanism's own claim, whatever it was asked for.
            holds = all(one.holds for _, audits in found for one in audits)
            rows.append([name, *bounds, 100 * share, "holds" if holds else "BROKEN"])
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
                    note=f"{self.runs:,} runs on each of two neighbouring inputs, confidence {CONFIDENCE:.1%} a cell; "
                    f"Gaussian noise at delta {self.delta:g}. Bounds rest on how often a learned event happens: small "
                    "claims and rare events need more runs.",
                ),
            ),
            lines=(Lines("Measured against claimed epsilon", "claimed epsilon", "epsilon at least", tuple(lines)),),
        )

    def _curators(self, plays: int, seed: int) -> Section:
        level = max(float(one) for one in self.epsilon)
        delta = f"delta {self.delta:g}"
        defenses: dict[str, Any] = {
            "Curator": Curator(epsilon=level),
            f"Curator, Gaussian noise, {delta}": Curator(epsilon=level, delta=self.delta, mechanism="gaussian"),
            "Curator, a record added or removed": Curator(epsilon=level, neighbours="add or remove"),
            f"PrivateMarginals, {delta}": PrivateMarginals(epsilon=level, delta=self.delta),
            "RetentionReplacement": RetentionReplacement(epsilon=level),
        }
        rows: list[list[Value]] = []
        for name, defense in defenses.items():
            _, audits = self._bound(defense, self.releases, plays, seed)
            holds = all(found.holds for found in audits)
            pairs = audits[0].subject.neighbours
            for place, pair in enumerate(pairs):
                bound = max(found.bounds[place] for found in audits)
                rows.append([name, pair.title, bound, "holds" if holds else "BROKEN"])
        return Section(
            f"Curators and tables that claim epsilon {level:g}",
            (),
            (
                Table(
                    "Epsilon is at least, by what is asked or changed",
                    ("defense", "question or neighbours", "at least", "verdict"),
                    rows,
                    digits=2,
                    note=f"{self.releases:,} releases on each of two tables that differ in one record; the bounds of a "
                    f"defense hold together with {CONFIDENCE:.1%}. A budget is divided among a session's questions. So "
                    "few releases prove little where the telling event is rare: with a delta, or many questions.",
                ),
            ),
        )

    def _mechanism(self, name: str, level: float) -> Any:
        made: Any = mechanisms()[name]
        known = {**SMALL, "delta": self.delta}
        return made(epsilon=level, **{key: known[key] for key in known if key in made.parameter_names()})

    def _bound(self, mechanism: Any, runs: int, plays: int, seed: int) -> tuple[float, list[Audit]]:
        """The largest bound of several audits, which all hold with `CONFIDENCE`, and the audits."""
        examined = subject(mechanism)
        rng = generator(seed, "epsilon-audit", repr(mechanism))
        level = 1 - (1 - CONFIDENCE) / plays
        audits = [audit(examined, runs=runs, confidence=level, rng=each) for each in rng.spawn(plays)]
        return max(found.bound for found in audits), audits


def grouped() -> dict[str, tuple[str, ...]]:
    """Names of all mechanisms by chart; those of no group stand at the end."""
    known = {title: tuple(name for name in names if name in mechanisms()) for title, names in GROUPS.items()}
    rest = tuple(name for name in mechanisms() if not any(name in names for names in GROUPS.values()))
    return {title: names for title, names in known.items() if names} | ({"Others": rest} if rest else {})
