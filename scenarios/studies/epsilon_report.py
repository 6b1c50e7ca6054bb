"""Report of the epsilon audit: tables and charts of measured against claimed epsilon."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.pages.line_chart import Lines, Series
from leaderboard.pages.report import Section, Table, Value
from scenarios.studies.epsilon_measures import CONFIDENCE, RepeatedAudit


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
