"""Experiment: measured epsilon of every mechanism beside the claimed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from defenses.base.parameters import check_integer, check_list, check_real
from leaderboard.pages.report import Section
from scenarios.studies.epsilon_measures import audit_defenses, audit_mechanism, grouped
from scenarios.studies.epsilon_report import defense_section, mechanism_section
from scenarios.studies.experiment import Experiment
from scenarios.studies.measuring import Measuring, measured_anew


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
        check_list("epsilon", epsilon)
        for level in epsilon:
            check_real("epsilon", level, low=1e-3, high=20)
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
