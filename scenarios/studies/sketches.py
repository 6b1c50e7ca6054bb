"""Experiment: count-mean sketches in the published settings, at the published numbers of people."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from defenses.base.parameters import check_integer, check_list, check_real
from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON
from leaderboard.pages.report import Section
from scenarios.studies.experiment import Experiment
from scenarios.studies.measuring import Measuring, measured_anew, no_losses
from scenarios.studies.sketch_measures import (
    K,
    lecture_example,
    measure_autoplay,
    measure_grid,
    measure_locales,
    measure_new_words,
)
from scenarios.studies.sketch_report import (
    autoplay_section,
    example_section,
    grid_section,
    locales_section,
    words_section,
)
from scenarios.tables.seeds import generator


class Sketches(Experiment):
    """Count-mean sketches as published: error over their size, emoji by locale, sound of videos, and new words.

    Aggregates of many people are drawn from their exact law instead of drawing people (`draw_estimates`).

    Parameters
    ----------
    people : int
        Number of people for the error over the size, from 1,000 to 10^12.
    epsilon : float
        Privacy of their reports, in [1e-6, 100].
    k, m : sequence of int
        Numbers of hash functions, from 1 to 65,536, and of columns, from 2.
    reports : int
        Number of reports of each locale, and of visits of sites, at least 1,000.

    Raises
    ------
    ValueError
        If a list is empty or a number out of range.

    References
    ----------
    Apple (2017), Learning with privacy at scale, sections 3 and 5 and figure 5.
    """

    def __init__(
        self,
        *,
        people: int = 100_000_000,
        epsilon: float = 2.0,
        k: Sequence[int] = (16, 256, 4096, 65_536),
        m: Sequence[int] = (16, 128, 1024),
        reports: int = 10_000_000,
    ) -> None:
        for name, value in (("people", people), ("reports", reports)):
            check_integer(name, value, low=1000)
            check_real(name, value, low=1000, high=10**12)
        check_real("epsilon", epsilon, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        for name, sizes, low in (("k", k, 1), ("m", m, 2)):
            check_list(name, sizes)
            for size in sizes:
                check_integer(name, size, low=low)
                check_real(name, size, low=low, high=K)
        self.people = people
        self.epsilon = epsilon
        self.k = k
        self.m = m
        self.reports = reports

    def run(
        self, plays: int, seed: int, say: Callable[[str], None], measured: Measuring = measured_anew
    ) -> tuple[Section, ...]:
        """Draw each size of the sketch `plays` times, and the published settings once."""
        sizes = [(int(k), int(m)) for m in self.m for k in self.k]
        say(f"error over {len(sizes)} sizes of the sketch, {self.people:,} people")
        level = float(self.epsilon)
        grid = measured(
            "error by size",
            {"people": self.people, "epsilon": level, "k": list(map(int, self.k)), "m": list(map(int, self.m))},
            lambda: measure_grid(self.people, level, sizes, plays, generator(seed, "sketches", "grid")),
            lambda cells: [{f"error_k_{cell.k}_m_{cell.m}": cell.error for cell in cells}],
        )
        reports = {"reports": self.reports}
        say(f"emoji of two locales, {self.reports:,} reports each")
        locales = measured(
            "two locales",
            reports,
            lambda: measure_locales(self.reports, generator(seed, "sketches", "locales")),
            no_losses,
        )
        say(f"sound of videos, {self.reports:,} visits")
        autoplay = measured(
            "autoplay",
            reports,
            lambda: measure_autoplay(self.reports, generator(seed, "sketches", "autoplay")),
            no_losses,
        )
        say("new words")
        discovered = measured(
            "new words", {}, lambda: measure_new_words(generator(seed, "sketches", "words")), no_losses
        )
        return (
            example_section(*lecture_example()),
            grid_section(grid, self.people, float(self.epsilon), plays),
            locales_section(locales, self.reports),
            autoplay_section(autoplay, self.reports),
            words_section(discovered),
        )
