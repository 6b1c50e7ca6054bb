"""The published experiment on optimal PRAM, repeated, with an assessment of the matrix's privacy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from defenses.base.parameters import check_integer, check_list
from leaderboard.pages.number_text import counted
from leaderboard.pages.report import Section
from scenarios.studies.experiment import Experiment
from scenarios.studies.measuring import Measuring, measured_anew, no_losses
from scenarios.studies.pram_case import ages, bell, power_law
from scenarios.studies.pram_limits import measure_limits
from scenarios.studies.pram_privacy import audit_forms, play_pk, read_matrices
from scenarios.studies.pram_region import region_section
from scenarios.studies.pram_releases import losses_of_case, measure_case
from scenarios.studies.pram_report import (
    audit_section,
    case_axis,
    case_section,
    limit_section,
    matrix_section,
    pk_section,
)
from scenarios.tables.seeds import generator


class PramHistogram(Experiment):
    """Histograms after retention-replacement and after optimal PRAM, beside the published figures.

    Parameters
    ----------
    k : sequence of int
        Pk-anonymities; each at least 2.
    audits : int
        Releases of each of two neighbouring tables in the audit of forms with a noisy matrix; at least 2.

    Raises
    ------
    ValueError
        If `k` is empty or has a number below 2, or `audits` is out of range.

    References
    ----------
    Miura and Hasegawa, section 4, Table 1 and Figures 1 to 7.
    """

    def __init__(self, *, k: Sequence[int] = (2, 10, 100), audits: int = 400) -> None:
        check_list("k", k)
        for level in k:
            check_integer("k", level, low=2)
        check_integer("audits", audits, low=2)
        self.k = k
        self.audits = audits

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data sets of the cases and columns."""
        return ("adult", "bank")

    def run(
        self, plays: int, seed: int, say: Callable[[str], None], measured: Measuring = measured_anew
    ) -> tuple[Section, ...]:
        """Release each histogram `plays` times by both methods for each k, then audit.

        Raises
        ------
        ValueError
            If a k exceeds the number of records.
        """
        sections = []
        for position, make in enumerate((bell, power_law, ages), start=1):
            case = make()
            say(f"case {position}: {case.counts.sum():,} records, {counted(plays, 'release')} for each k and method")
            rng = generator(seed, "pram-histogram", "case", position)
            settings = {"case": position, "k": [int(level) for level in self.k]}
            result = measured(
                "released histograms", settings, partial(measure_case, case, self.k, plays, rng), losses_of_case
            )
            mean_at = min(self.k) if position == 3 else None
            sections.append(case_section(result, case_axis(position, case), mean_at))
        say("reading the histogram out of the matrix")
        levels = {"k": [int(level) for level in self.k]}
        rng = generator(seed, "pram-histogram", "matrix")
        readings = measured("published matrix", levels, lambda: read_matrices(ages(), self.k, rng), no_losses)
        say("matrices under full freedom")
        limits = measured("full freedom", {}, measure_limits, no_losses)
        say("the distinguishing audit")
        audits = measured(
            "distinguishing audit",
            {"audits": self.audits},
            lambda: audit_forms(self.audits, generator(seed, "pram-histogram", "audit")),
            no_losses,
        )
        say("the Pk game")
        results = measured("Pk game", {}, lambda: play_pk(plays, seed), no_losses)
        return (
            *sections,
            region_section(),
            matrix_section(ages(), readings),
            limit_section(limits),
            audit_section(audits),
            pk_section(results, plays),
        )
