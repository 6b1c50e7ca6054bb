"""Experiment: measured epsilon of every mechanism beside the claimed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from leaderboard.pages.line_chart import Lines, Series
from leaderboard.pages.report import Section, Table, Value
from metrics.columns.parameters import check_integer, check_list, check_real
from scenarios.studies.epsilon_measures import CONFIDENCE, RepeatedAudit, audit_defenses, audit_mechanism, grouped
from scenarios.studies.experiment import Experiment
from scenarios.studies.measuring import Measuring, measured_anew

# Report of the epsilon audit: tables and charts of measured against claimed epsilon.


def mechanism_section(title: str, audits: Sequence[Sequence[RepeatedAudit]], runs: int, delta: float) -> Section:
    """Bounds of some mechanisms at every claimed epsilon, as a table and a chart.

    Parameters
    ----------
    title : str
        Title of the section.
    audits : sequence of sequence of RepeatedAudit
        For each mechanism, its audits at the same claims in ascending order.
    runs : int
        Runs on each input.
    delta : float
        Claimed delta of Gaussian noise.
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

    Parameters
    ----------
    audits : sequence of RepeatedAudit
        One for each defense, all with the same claim.
    releases : int
        Releases of each of two neighbouring tables.
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
        check_list("epsilon", epsilon, check_real, low=1e-3, high=20)
        check_real("delta", delta, low=0, high=1, open_low=True, open_high=True)
        check_integer("runs", runs, low=8)
        check_integer("releases", releases, low=8)
        self.epsilon = epsilon
        self.delta = delta
        self.runs = runs
        self.releases = releases

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
