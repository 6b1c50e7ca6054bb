"""Sections of the report on optimal PRAM: histograms, matrix, limits, audit, Pk game."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.pages.number_text import counted, number
from leaderboard.pages.report import Bars, Section, Table, Value
from metrics.arrays import Floats
from metrics.estimate import Estimate
from scenarios.studies.pram_case import FIRST_AGE, PramCase
from scenarios.studies.pram_limits import ColumnLimits, ProtocolMeasures
from scenarios.studies.pram_privacy import AuditedForm, DistinguishingAudits, MatrixReading, PkPlays
from scenarios.studies.pram_releases import CaseLevel, CaseResult

METHODS = ("retention-replacement", "optimum")
MEASURES = ("mean release", "expected release", "smallest", "largest")

Row = tuple[Value, ...]


def case_section(result: CaseResult, axis: tuple[str, str], mean_at: int | None = None) -> Section:
    """Distances and histograms of both methods beside the published ones.

    Parameters
    ----------
    result : CaseResult
        The measurements.
    axis : tuple of str
        First and last category, as written under the bars.
    mean_at : int, optional
        The k whose mean histograms are drawn too.
    """
    case = result.case
    top = float(case.counts.max())

    def bars(title: str, counts: Floats) -> Bars:
        return Bars(title, counts.tolist(), case.counts.tolist(), top, axis)

    charts = [bars("original", case.counts.astype(float))]
    for level in result.levels:
        methods = list(zip(METHODS, (level.conventional, level.optimal), strict=True))
        charts += [bars(f"k = {level.k}, {name}", released.first) for name, released in methods]
        if level.k == mean_at:
            charts += [
                bars(f"k = {level.k}, {name}, mean of {result.plays}", released.mean) for name, released in methods
            ]
    columns = ("distance", *(f"{name}{source}" for name in METHODS for source in ("", ", published")))
    rebuilt = f" The histogram is not published as data; this is {case.rebuilt}." if case.rebuilt else ""
    return Section(
        case.title,
        (
            f"N = {case.counts.sum():,}, d = {case.counts.size}, largest count {case.counts.max():,}. Bars: one "
            "release; outline: the original.",
        ),
        (
            Table(
                f"Distance of the released histogram from the original, {counted(result.plays, 'release')}",
                columns,
                [row for level in result.levels for row in _distance_rows(case, level)],
                note="Mean release: the mean of all releases. Expected release: their expectation. Smallest and "
                f"largest are those of single releases. Published: 100 releases each.{rebuilt}",
            ),
            Table(
                "Matrices",
                ("k asked for", "epsilon allowed", "epsilon of the optimum", "its exact k"),
                [(level.k, level.epsilon_allowed, level.epsilon, level.exact_k) for level in result.levels],
                digits=4,
            ),
        ),
        tuple(charts),
    )


def _distance_rows(case: PramCase, level: CaseLevel) -> list[Row]:
    """One row a distance: each method's own value beside the published one."""
    published = case.published.get(level.k, ((None,) * 4, (None,) * 4))
    columns = (level.conventional.distances, published[0], level.optimal.distances, published[1])
    return [
        (f"k = {level.k}, {measure}", *values)
        for measure, values in zip(MEASURES, zip(*columns, strict=True), strict=True)
    ]


def case_axis(position: int, case: PramCase) -> tuple[str, str]:
    """First and last category of a case: ranks for the rebuilt ones, ages for the third."""
    return ("1", str(case.counts.size)) if position < 3 else ("17", str(FIRST_AGE + case.counts.size - 1))


def matrix_section(case: PramCase, readings: Sequence[MatrixReading]) -> Section:
    """Leakage of a published matrix about the histogram that it is optimal for."""
    rows: list[Row] = [(_matrix_title(one), one.ages, one.share, one.error, one.correlation) for one in readings]
    table = Table(
        f"Histogram read out of the matrix: {case.title}",
        ("matrix", "ages read", "share of the records", "largest relative error", "correlation"),
        rows,
        digits=3,
        note="Counts relative to each other; ages whose flip probability may stand at a bound are not read.",
    )
    text = (
        "Away from its bounds the optimal matrix flips a category with a probability that goes with one over its "
        "count. Whoever publishes the matrix publishes those counts, up to scale. A matrix that was tuned to a "
        "differentially private histogram gives that one away, and no more.",
    )
    return Section("The published matrix", text, (table,))


def _matrix_title(reading: MatrixReading) -> str:
    if reading.matrix_level is None:
        return f"k = {reading.k}, tuned to the records"
    return f"k = {reading.k}, tuned to a noisy histogram of epsilon {reading.matrix_level:g}"


def limit_section(limits: Sequence[ColumnLimits]) -> Section:
    """Utility of matrices of any form at a few epsilons."""
    tables = [
        Table(
            f"{one.column}: {one.counts.size} categories, {int(one.counts.sum()):,} records",
            ("protocol", "distance of the expected release", "error of the unbiased estimate", "bits a record"),
            [_limit_row(measures) for measures in one.protocols],
            digits=3,
            note="Error: root of the expected squared distance between estimate and histogram; none where reports "
            "allow no unbiased estimate. The least error and the most bits among all protocols of an epsilon are "
            "those of the last two lines of it.",
        )
        for one in limits
    ]
    text = (
        "Without the A-type's form, the distance of the expected release does not measure utility. An example is the "
        "matrix whose every column is the histogram itself. It has distance 0 and, as a fixed matrix, epsilon 0. A "
        "release under it carries no information about any record, but the matrix reveals the histogram. Utility is "
        "therefore measured by the error of an unbiased estimate, and by the information of a report about its record.",
    )
    return Section("Matrices under full freedom", text, tuple(tables))


def _limit_row(measures: ProtocolMeasures) -> Row:
    return (f"ε = {measures.epsilon:g}, {measures.name}", measures.distance, measures.error, measures.bits)


def audit_section(audits: DistinguishingAudits) -> Section:
    """The distinguishing audit on neighbouring histograms."""
    columns = ("form", "epsilon claimed")
    return Section(
        "The distinguishing audit",
        (
            "Two histograms that differ in one record: by what factor can the probability of a release differ? A form "
            "whose matrix is tuned to the records has only the epsilon of a fixed matrix. The audit refutes this "
            "epsilon for the whole procedure, even where the matrix is kept secret. The private forms claim the sum of "
            "the costs of matrix and release, and the audit does not refute it.",
        ),
        (
            Table(
                "Exactly, over all neighbouring histograms of three categories",
                (*columns, "epsilon found", "verdict"),
                [_audit_row(one) for one in audits.exact],
                digits=2,
            ),
            Table(
                f"From {audits.runs} published matrices and releases of each of two neighbours, N = 5",
                (*columns, "epsilon is at least", "verdict"),
                [_audit_row(one) for one in audits.sampled],
                digits=2,
                note="Lower bounds at 95 %; 0 where the samples cannot distinguish the neighbours. The second form "
                "makes a false claim, to show that the audit detects it. For noise on the objective and on the matrix "
                "the audit is weaker. With this many samples it refutes a hundredth of their noise, but not a tenth. "
                "Their claim rests on the proof.",
            ),
        ),
    )


def _audit_row(audited: AuditedForm) -> Row:
    return (audited.form, audited.claimed, audited.measured, "refuted" if audited.refuted else "survives")


def pk_section(results: Sequence[PkPlays], plays: int) -> Section:
    """The Pk game for few and for many records."""
    table = Table(
        f"Worst-case table of two categories, k = 2 asked for, {counted(plays, 'play')}",
        ("adversary", "won", "answered", "won of answers, 95 %", "worst posterior", "typical posterior", "bound 1/k"),
        [_pk_row(one) for one in results],
        digits=3,
        note="Bound: the exact k of the matrix in use. With two categories the optimum for the worst table may be a "
        "matrix whose k exceeds the one asked for.",
    )
    text = (
        "The adversary picks the table, one record alone in its category, and names a row and a record. With few "
        "records, one that answers only after informative releases wins nearly as often as 1/k allows. With many, such "
        "releases practically never come, and the typical posterior is far below the bound.",
    )
    return Section("The Pk game", text, (table,))


def _pk_row(result: PkPlays) -> Row:
    summary = result.summary
    return (
        f"N = {result.size}, {result.attack} against {result.defense}",
        summary.win.value,
        summary.answered.value,
        _interval(summary.win_answered),
        summary.worst,
        summary.typical,
        summary.bound,
    )


def _interval(rate: Estimate | None) -> str:
    return "–" if rate is None else f"{number(rate.low)}–{number(rate.high)}"
