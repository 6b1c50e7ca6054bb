"""The published experiment on optimal PRAM, run again, with what the matrix gives away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.parameters import check_integer
from defenses.pram.conversions import epsilon_for_k, retention_for_epsilon
from defenses.pram.matrix import retention_epsilon, retention_pk
from defenses.pram.optimal import expected_distance, optimal_retention
from defenses.pram.sampling import replace
from leaderboard.report import Bars, Section, Table
from metrics.arrays import Floats
from scenarios.experiments.experiment import Experiment
from scenarios.experiments.pram_cases import FIRST_AGE, Case, ages, bell, power_law
from scenarios.experiments.pram_limits import limit_section
from scenarios.experiments.pram_privacy import leak_section, matrix_section, pk_section
from scenarios.seeds import generator

METHODS = ("retention-replacement", "optimal")
MEASURES = ("ave", "opt", "min", "max")


@dataclass(frozen=True)
class Releases:
    """What one method made of one histogram.

    Attributes
    ----------
    first, mean : ndarray, shape (d,)
        The histogram of the first release, and the mean of all.
    distances : tuple of float
        Of the mean, of the expected histogram, and the smallest and the largest of the releases (`MEASURES`).
    """

    first: Floats
    mean: Floats
    distances: tuple[float, ...]


class PramHistogram(Experiment):
    """Histograms after retention-replacement and after optimal PRAM, beside what was published of them.

    Parameters
    ----------
    k : sequence of int
        Pk-anonymities; each at least 2.
    audits : int
        Releases of each of two neighbours by which forms with a noisy matrix are audited; at least 2.

    Raises
    ------
    ValueError
        If `k` is empty or has a number below 2, or `audits` is out of range.

    References
    ----------
    Miura and Hasegawa, section 4, Table 1 and Figures 3 to 7.
    """

    def __init__(self, *, k: Sequence[int] = (2, 10, 100), audits: int = 400) -> None:
        if isinstance(k, str) or not isinstance(k, Sequence) or not k:
            raise ValueError(f"k must be a list of numbers, got {k!r}")
        for level in k:
            check_integer("k", level, low=2)
        check_integer("audits", audits, low=2)
        self.k = k
        self.audits = audits

    def run(self, plays: int, seed: int, say: Callable[[str], None]) -> tuple[Section, ...]:
        """Release each histogram `plays` times by both methods for each k, then audit.

        Raises
        ------
        ValueError
            If a k exceeds the number of records.
        """
        sections = []
        for number, make in enumerate((bell, power_law, ages), start=1):
            case = make()
            say(f"case {number}: {case.counts.sum()} records, {plays} releases for each k and method")
            sections.append(self._case(case, number, plays, generator(seed, "pram-histogram", "case", number)))
        say("reading the histogram out of the matrix")
        sections.append(matrix_section(ages(), self.k, generator(seed, "pram-histogram", "matrix")))
        say("matrices under full freedom")
        sections.append(limit_section())
        say("the distinguishing audit")
        sections.append(leak_section(self.audits, generator(seed, "pram-histogram", "audit")))
        say("the Pk game")
        sections.append(pk_section(plays, seed))
        return tuple(sections)

    def _case(self, case: Case, number: int, plays: int, rng: Generator) -> Section:
        rows: list[tuple[str | float | None, ...]] = []
        matrices: list[tuple[float, ...]] = []
        heading = ("1", str(case.counts.size)) if number < 3 else ("17", str(FIRST_AGE + case.counts.size - 1))
        top = float(case.counts.max())

        def bars(title: str, counts: Floats) -> Bars:
            return Bars(title, counts.tolist(), case.counts.tolist(), top, heading)

        pictures = [bars("original", case.counts.astype(float))]
        for k in self.k:
            level = epsilon_for_k(k, int(case.counts.sum()))
            conventional = np.full(case.counts.size, retention_for_epsilon(level, case.counts.size))
            optimal = optimal_retention(case.counts, level)
            made = [releases(case.counts, retention, plays, rng) for retention in (conventional, optimal)]
            published = case.published.get(k, ((None,) * 4, (None,) * 4))
            rows += [
                (f"k = {k}, {measure}", *(value for pair in zip(ours, theirs, strict=True) for value in pair))
                for measure, ours, theirs in zip(
                    MEASURES,
                    zip(*(one.distances for one in made), strict=True),
                    zip(*published, strict=True),
                    strict=True,
                )
            ]
            matrices.append((k, level, retention_epsilon(optimal), retention_pk(optimal, int(case.counts.sum()))))
            pictures += [bars(f"k = {k}, {name}", one.first) for name, one in zip(METHODS, made, strict=True)]
            if k == min(self.k) and number == 3:
                pictures += [
                    bars(f"k = {k}, {name}, mean of {plays}", one.mean) for name, one in zip(METHODS, made, strict=True)
                ]
        columns = ("distance", *(f"{name}{where}" for name in METHODS for where in ("", ", published")))
        rebuilt = f" The histogram is not published as data; this is {case.rebuilt}." if case.rebuilt else ""
        return Section(
            case.title,
            (
                f"N = {case.counts.sum():,}, d = {case.counts.size}, largest count {case.counts.max()}. Bars: one "
                "release; outline: the original.",
            ),
            (
                Table(
                    f"Distance of the released histogram from the original, {plays} releases",
                    columns,
                    rows,
                    note="ave: of the mean of all releases; opt: of the expected release; min and max: of the nearest "
                    f"and the farthest release. Published: 100 releases each.{rebuilt}",
                ),
                Table(
                    "Matrices",
                    ("k asked for", "epsilon allowed", "epsilon of the optimal matrix", "its exact k"),
                    [(int(k), *others) for k, *others in matrices],
                    digits=4,
                ),
            ),
            tuple(pictures),
        )


def releases(counts: NDArray[np.intp], retention: Floats, plays: int, rng: Generator) -> Releases:
    """Release the records of a histogram `plays` times."""
    records = np.repeat(np.arange(counts.size), counts)
    made = np.array([np.bincount(replace(records, retention, rng), minlength=counts.size) for _ in range(plays)])
    apart = np.linalg.norm(made - counts, axis=1)
    mean: Any = made.mean(axis=0)
    distances = (
        float(np.linalg.norm(mean - counts)),
        expected_distance(counts, retention),
        float(apart.min()),
        float(apart.max()),
    )
    return Releases(made[0].astype(float), mean, distances)
