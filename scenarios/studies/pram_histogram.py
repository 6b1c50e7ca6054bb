"""The published experiment on optimal PRAM, repeated, with an assessment of the matrix's privacy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses.pram import (
    epsilon_for_k,
    expected_distance,
    optimal_matrix,
    optimal_retention,
    replace,
    retention_epsilon,
    retention_for_epsilon,
    retention_pk,
    transition_matrix,
)
from leaderboard.pages import Bars, Section, Table, Value, counted, number
from leaderboard.pages.line_chart import Lines, Series
from metrics.columns import Floats, Integers, check_integer, check_list
from metrics.estimate import Estimate
from scenarios.datasets import load
from scenarios.studies.experiment import Experiment, Losses, Measuring, by_play, measured_anew, no_losses
from scenarios.studies.pram_privacy import (
    FIRST_AGE,
    AuditedForm,
    DistinguishingAudits,
    MatrixReading,
    PkPlays,
    PramCase,
    ages,
    audit_forms,
    bell,
    play_pk,
    power_law,
    read_matrices,
)
from scenarios.tables.seeds import generator

# Released histograms of the published experiment on optimal PRAM, sampled again.


@dataclass(frozen=True)
class Releases:
    """Releases of one histogram through one matrix.

    - first, mean, shape (d,): The histogram of the first release, and the mean of all.
    - distances: Distance from the original of the mean, of the expected histogram, of the nearest and of the farthest
      release.
    - by_release: Distance of each release from the original.
    """

    first: Floats
    mean: Floats
    distances: tuple[float, ...]
    by_release: tuple[float, ...] = ()


@dataclass(frozen=True)
class CaseLevel:
    """Both methods on one histogram at one k.

    - epsilon_allowed: Largest epsilon at which every matrix is Pk-anonymous with this k.
    - epsilon, exact_k: Those of the optimal matrix.
    - conventional, optimal: Releases under retention-replacement and under the optimal matrix.
    """

    k: int
    epsilon_allowed: float
    epsilon: float
    exact_k: float
    conventional: Releases
    optimal: Releases


@dataclass(frozen=True)
class CaseResult:
    """Both methods on one histogram."""

    case: PramCase
    plays: int
    levels: tuple[CaseLevel, ...]


def measure_case(case: PramCase, ks: Sequence[int], plays: int, rng: Generator) -> CaseResult:
    """Release a histogram `plays` times by both methods for each k.

    Raises ValueError if a k exceeds the number of records.
    """
    counts, total = case.counts, int(case.counts.sum())
    levels = []
    for k in ks:
        allowed = epsilon_for_k(k, total)
        conventional = np.full(counts.size, retention_for_epsilon(allowed, counts.size))
        optimal = optimal_retention(counts, allowed)
        levels.append(
            CaseLevel(
                k=int(k),
                epsilon_allowed=allowed,
                epsilon=retention_epsilon(optimal),
                exact_k=retention_pk(optimal, total),
                conventional=releases(counts, conventional, plays, rng),
                optimal=releases(counts, optimal, plays, rng),
            )
        )
    return CaseResult(case, plays, tuple(levels))


def releases(counts: Integers, retention: Floats, plays: int, rng: Generator) -> Releases:
    """Release the records of a histogram `plays` times.

    - counts, shape (d,): The histogram.
    - retention, shape (d,): Retention probabilities.
    """
    records = np.repeat(np.arange(counts.size), counts)
    released = np.array([np.bincount(replace(records, retention, rng), minlength=counts.size) for _ in range(plays)])
    distances = np.linalg.norm(released - counts, axis=1)
    mean: Any = released.mean(axis=0)
    summary = (
        float(np.linalg.norm(mean - counts)),
        expected_distance(counts, retention),
        float(distances.min()),
        float(distances.max()),
    )
    return Releases(released[0].astype(float), mean, summary, tuple(distances.tolist()))


def losses_of_case(result: CaseResult) -> Losses:
    """Distance of each release from the original, for both methods and each k."""
    return by_play(
        **{
            f"distance_{method}_k_{level.k}": releases.by_release
            for level in result.levels
            for method, releases in (("conventional", level.conventional), ("optimal", level.optimal))
        }
    )


# Matrices of any form on the bank's columns: what they reach, and how far the A-type falls short.

EPSILONS = (1.0, 2.0, 4.0)
COLUMNS = ("marital", "education")


@dataclass(frozen=True)
class ProtocolMeasures:
    """Utility of one protocol for one histogram.

    - epsilon: The epsilon it was made for.
    - distance: Distance of the expected release from the histogram; None where reports are no categories.
    - error: Root of the expected squared distance between unbiased estimate and histogram; None without such an
      estimate.
    - bits: Mutual information of a record with its report, in bits.
    """

    name: str
    epsilon: float
    distance: float | None
    error: float | None
    bits: float


@dataclass(frozen=True)
class ColumnLimits:
    """Protocols for one column.

    - counts, shape (d,): Its histogram.
    - protocols: In ascending order of epsilon.
    """

    column: str
    counts: Floats
    protocols: tuple[ProtocolMeasures, ...]


def measure_limits() -> tuple[ColumnLimits, ...]:
    """Compare protocols on the bank's marital status and education, at a few epsilons."""
    records = load("bank").records
    limits = []
    for column in COLUMNS:
        domain = records.domain(column)
        counts = np.bincount(domain.codes(records.frame[column]), minlength=domain.size)[: domain.size].astype(float)
        measures = [one for epsilon in EPSILONS for one in _protocol_measures(counts, epsilon)]
        limits.append(ColumnLimits(column, counts, tuple(measures)))
    return tuple(limits)


def _protocol_measures(counts: Floats, epsilon: float) -> list[ProtocolMeasures]:
    d = counts.size
    protocols = {
        "every column the histogram": optimal_matrix.degenerate_matrix(counts),
        "optimal A-type": transition_matrix(optimal_retention(counts, epsilon)),
        "retention-replacement": transition_matrix(np.full(d, retention_for_epsilon(epsilon, d))),
        "subset selection": optimal_matrix.subset_selection(d, epsilon),
        "least error": optimal_matrix.least_variance_protocol(counts, epsilon),
        "most bits": optimal_matrix.most_informative_matrix(counts, epsilon),
    }
    return [_measured(name, epsilon, protocol, counts) for name, protocol in protocols.items()]


def _measured(name: str, epsilon: float, protocol: Floats, counts: Floats) -> ProtocolMeasures:
    square = len(protocol) == counts.size
    distance = float(np.linalg.norm(protocol @ counts - counts)) if square else None
    variance = optimal_matrix.estimation_variance(protocol, counts)
    error = float(np.sqrt(variance)) if np.isfinite(variance) else None
    bits = optimal_matrix.mutual_information(protocol, counts) / float(np.log(2))
    return ProtocolMeasures(name, epsilon, distance, error, bits)


# Sections of the report on optimal PRAM: histograms, matrix, limits, audit, Pk game.

METHODS = ("retention-replacement", "optimum")
MEASURES = ("mean release", "expected release", "smallest", "largest")

Row = tuple[Value, ...]


def case_section(result: CaseResult, axis: tuple[str, str], mean_at: int | None = None) -> Section:
    """Distances and histograms of both methods beside the published ones.

    - axis: First and last category, as written under the bars.
    - mean_at, optional: The k whose mean histograms are drawn too.
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
            [(f"ε = {each.epsilon:g}, {each.name}", each.distance, each.error, each.bits) for each in one.protocols],
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


# The region of private flip probabilities of two categories, and the optimum's points in it: figures 1 and 2.

REGIONS = ((1.5, 4), (1.5, 10))
"""Epsilon and number of categories of both shapes: e^epsilon + e^-epsilon + 2 is 6.7."""
EXAMPLE, EXAMPLE_RATIO = (10.0, 6.0, 5.0), 4.0
"""Histogram and e^epsilon for which the published closed form exceeds its epsilon."""


def half_planes(epsilon: float, d: int) -> tuple[Floats, Floats]:
    """Constraints a x + b y <= c of a pair (x, y) of flip probabilities, in the publication's order (1) to (6)."""
    e = float(np.exp(epsilon))
    rows = np.array(
        [
            [-e, 1.0, 0.0],
            [1 / e, -1.0, 0.0],
            [-(d - 1) / e, -1.0, -(d - 1) / e],
            [e * (d - 1), 1.0, e * (d - 1)],
            [-e / (d - 1), -1.0, -1.0],
            [1 / (e * (d - 1)), 1.0, 1.0],
        ]
    )
    return rows[:, :2], rows[:, 2]


def corners(epsilon: float, d: int) -> dict[tuple[int, int], tuple[float, float]]:
    """Corners of the region by the numbers of the two constraints that meet there, counted from 1."""
    left, right = half_planes(epsilon, d)
    result = {}
    for first, second in combinations(range(6), 2):
        pair = left[[first, second]]
        if abs(np.linalg.det(pair)) > 1e-12:
            point = np.linalg.solve(pair, right[[first, second]])
            if (left @ point <= right + 1e-12).all() and (np.abs(point - 0.5) <= 0.5 + 1e-12).all():
                result[first + 1, second + 1] = (float(point[0]), float(point[1]))
    return result


def published_corners(epsilon: float, d: int) -> dict[tuple[int, int], tuple[float, float]]:
    """The publication's coordinates of the corners with y <= x, by their constraints."""
    e = float(np.exp(epsilon))
    return {
        (2, 3): ((d - 1) / d, (d - 1) / (e * d)),
        (2, 4): (e**2 * (d - 1) / (1 + e**2 * (d - 1)), e * (d - 1) / (1 + e**2 * (d - 1))),
        (2, 5): (e * (d - 1) / (e**2 + d - 1), (d - 1) / (e**2 + d - 1)),
        (3, 5): ((d - 1) / (e + d - 1),) * 2,
        (4, 6): ((d - 1) / (1 / e + d - 1),) * 2,
    }


def _point(point: tuple[float, float] | None) -> str:
    return "no corner" if point is None else f"({point[0]:.4f}, {point[1]:.4f})"


def edges(epsilon: float, d: int) -> tuple[Series, Series]:
    """Upper and lower edge of the region, from left to right."""
    points = np.array(sorted(set(corners(epsilon, d).values())))
    (left_x, left_y), (right_x, right_y) = points[0], points[-1]
    chord = left_y + (points[:, 0] - left_x) * (right_y - left_y) / (right_x - left_x)
    upper, lower = points[points[:, 1] >= chord - 1e-12], points[points[:, 1] <= chord + 1e-12]
    return Series("upper edge", *upper.T.tolist()), Series("lower edge", *lower.T.tolist())


def example_scale(*, published: bool) -> float:
    """The t of the example's optimum q_i = t v_d / v_i: as published, or with the row that the publication forgets.

    Right is t = (d - 1) / (A v_d / v_1 + B v_d / v_2) with A and B the larger and the smaller of e and d - 1. The
    publication has A = d - 1 and B = e in any case.
    """
    v, e = EXAMPLE, EXAMPLE_RATIO
    d = len(v)
    first, second = (d - 1, e) if published else (max(e, d - 1), min(e, d - 1))
    return (d - 1) / (first * v[-1] / v[0] + second * v[-1] / v[1])


def example_flips(scale: float) -> Floats:
    """Flip probabilities of the example."""
    return np.asarray(scale * EXAMPLE[-1] / np.array(EXAMPLE))


def region_section() -> Section:
    """Figures 1 and 2, with the corners and the example beside the published formulas."""
    charts = [
        Lines(
            f"Figure 1: epsilon {epsilon:g}, d = {d}, {len(set(corners(epsilon, d).values()))} corners",
            "flip probability x",
            "flip probability y",
            edges(epsilon, d),
        )
        for epsilon, d in REGIONS
    ]
    epsilon, d = float(np.log(EXAMPLE_RATIO)), len(EXAMPLE)
    points = []
    for name, published in (("as published", True), ("corrected", False)):
        flips = example_flips(example_scale(published=published))
        pairs = sorted((flips[i], flips[j]) for i, j in combinations(range(d), 2))
        points.append(Series(f"points {name}", [float(x) for x, _ in pairs], [float(y) for _, y in pairs]))
    histogram = ", ".join(f"{count:g}" for count in EXAMPLE)
    charts.append(
        Lines(
            f"Figure 2: v = ({histogram}), epsilon ln {EXAMPLE_RATIO:g}",
            "flip probability q_i",
            "flip probability q_j",
            (*edges(epsilon, d), *points),
        )
    )
    rows: list[list[Value]] = [
        [
            f"epsilon {epsilon:g}, d = {d}, lines ({pair[0]}) and ({pair[1]})",
            _point(corners(epsilon, d).get(pair)),
            _point(published),
        ]
        for epsilon, d in REGIONS
        for pair, published in published_corners(epsilon, d).items()
    ]
    scales = {"published": example_scale(published=True), "ours": example_scale(published=False)}
    claims: list[list[Value]] = [
        [name, scale, retention_epsilon(1 - example_flips(scale)), float(np.log(EXAMPLE_RATIO))]
        for name, scale in scales.items()
    ]
    return Section(
        "The region of private flip probabilities",
        (
            "A pair of flip probabilities is private if it lies in a region of six edges. The region has six corners "
            "where e^epsilon + e^-epsilon + 2 > d, and four otherwise. In figure 2 the optimum's points lie on rays "
            "from the origin, and t moves all of them. All are inside if the outermost three are.",
        ),
        (
            Table("Corners with y <= x", ("corner", "ours", "published formula"), rows),
            Table(
                "The closed form where e^epsilon exceeds d - 1",
                ("form", "t", "epsilon of its matrix", "epsilon asked for"),
                claims,
                digits=3,
                note="The published t checks two of the three outermost points against one line each and misses a row: "
                "its matrix exceeds the epsilon.",
            ),
        ),
        (),
        tuple(charts),
    )


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
        self.k = check_list("k", k, check_integer, low=2)
        self.audits = check_integer("audits", audits, low=2)

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
