"""Experiment: count-mean sketches in the published settings, at the published numbers of people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.random import Generator

from defenses.ldp import CountMeanSketch, SequenceFragmentPuzzle, draw_estimates, mean_estimate
from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON
from leaderboard.pages import Bars, Section, Table, Value, counted, number
from leaderboard.pages.line_chart import Lines, Series
from metrics.columns import Floats, Integers64, check_integer, check_list, check_real
from scenarios.studies.emoji_measures import GESTURES, TONE_SHARES, TONES, WORDS, power_law_shares, words
from scenarios.studies.experiment import Experiment, Measuring, measured_anew, no_losses
from scenarios.tables.seeds import generator

# Measurements of the sketch experiment: the published settings at the published numbers of people.

M, K = 1024, 65_536
EMOJI_EPSILON, SITES_EPSILON = 4.0, 8.0
WORDS_K, WORDS_EPSILON, WRITERS = 2048, 6.0, 150_000
"""Published settings (Apple 2017, section 5): emoji, sites and new words."""
MISTYPED = {"love": 9000, "lov": 4000, "know": 8000, "kno": 3500}
"""Two words and the published examples of their typing errors, and how many people type each."""
SIMILAR = 0.75
"""Least similarity of a typing error and the word meant, as a share of the letters of both that match."""
VALUES, SITES = 100, 200
LOCALES = ("English", "French")


@dataclass(frozen=True)
class GridCell:
    """Error of an estimated count for one size of the sketch.

    - k, m: Number of hash functions and of columns.
    - error: Root mean square error, over values and over draws with hash functions of their own.
    - theory: The same from the exact variance.
    - bound: The same from the published bound on the variance.
    """

    k: int
    m: int
    error: float
    theory: float
    bound: float


@dataclass(frozen=True)
class Locale:
    """Counts of emoji in one keyboard locale.

    - typed, shape (d,): True counts.
    - estimated, shape (d,): Estimated counts.
    """

    name: str
    emoji: list[str]
    typed: Integers64
    estimated: Floats


@dataclass(frozen=True)
class Autoplay:
    """Sites whose videos should play with sound by default.

    - truly, decided, shape (sites,): Whether most visitors let the sound on, in truth and by the estimates.
    - shares, estimated, shape (sites,): Share of visits with sound, true and estimated.
    - visits, shape (sites,): Number of visits.
    """

    truly: np.ndarray
    decided: np.ndarray
    shares: Floats
    estimated: Floats
    visits: Integers64


def lecture_example() -> tuple[Floats, float]:
    """The lecture's example without noise: the sketch of four users, and the estimate for the third one's value.

    Three hash functions, four columns. The users' functions and columns are (2, 2), (1, 1), (2, 2) and (2, 3), counted
    from 1. The value's columns are 1, which another user hit, 2, and 3 with nobody.
    """
    k, m = 3, 4
    sketch = np.zeros((k, m))
    for row, column in ((2, 2), (1, 1), (2, 2), (2, 3)):
        signs = np.where(np.arange(m) == column - 1, 1.0, -1.0)
        sketch[row - 1] += k * (signs / 2 + 0.5)
    return sketch, float(mean_estimate(sketch, [[0], [1], [2]], 4)[0])


def measure_grid(
    people: int, epsilon: float, sizes: Sequence[tuple[int, int]], plays: int, rng: Generator
) -> tuple[GridCell, ...]:
    """Error over sizes of the sketch, from the exact law of the estimates.

    - people: Number of people, with one report each.
    - sizes: Pairs of k and m.
    - plays: Number of draws for each size, each with hash functions of its own.
    """
    counts = rng.multinomial(people, power_law_shares(VALUES))
    cells = []
    for k, m in sizes:
        squares = []
        for play in range(plays):
            protocol = CountMeanSketch(epsilon=epsilon, d=VALUES, m=m, k=k, hash_seed=play)
            squares.append(np.square(draw_estimates(protocol, counts, rng) - counts))
        variance = protocol.variance(people, counts / people).mean()
        bound = published_bound(protocol, counts)
        cells.append(GridCell(k, m, float(np.sqrt(np.mean(squares))), float(np.sqrt(variance)), float(np.sqrt(bound))))
    return tuple(cells)


def published_bound(protocol: CountMeanSketch, counts: Integers64) -> float:
    """The lecture's bound on the variance: (m/(m-1))^2 (c^2 + 1/m + sum of squared counts / (n k m)) n."""
    n, k, m = float(counts.sum()), float(protocol.k), float(protocol.m)
    collisions = float(np.square(counts.astype(float)).sum()) / (n * k * m)
    return (m / (m - 1)) ** 2 * (protocol.c**2 + 1 / m + collisions) * n


def measure_locales(people: int, rng: Generator) -> tuple[Locale, ...]:
    """Emoji of two keyboard locales, whose gestures and tones have other ranks; k = 65,536 and epsilon 4."""
    names = [f"{gesture}, {tone}" for gesture in GESTURES for tone in TONES]
    results = []
    for name in LOCALES:
        order = rng.permutation(len(GESTURES))
        gestures = power_law_shares(len(GESTURES))[order]
        tones = np.array(TONE_SHARES)[rng.permutation(len(TONES))]
        typed = rng.multinomial(people, np.outer(gestures, tones).ravel())
        protocol = CountMeanSketch(epsilon=EMOJI_EPSILON, d=len(names), m=M, k=K)
        results.append(Locale(name, names, typed, draw_estimates(protocol, typed, rng)))
    return tuple(results)


def measure_autoplay(people: int, rng: Generator) -> Autoplay:
    """Sites on which most visitors let a video's sound on; k = 65,536 and epsilon 8.

    A report is a site together with what its visitor did. Each site has a true share of visits with sound.
    """
    visits = rng.multinomial(people, power_law_shares(SITES))
    sound = rng.binomial(visits, rng.beta(1.0, 1.0, SITES))
    protocol = CountMeanSketch(epsilon=SITES_EPSILON, d=2 * SITES, m=M, k=K)
    estimates = draw_estimates(protocol, np.concatenate([sound, visits - sound]), rng)
    on, off = estimates[:SITES], estimates[SITES:]
    return Autoplay(sound > visits - sound, on > off, sound / visits, on / (on + off), visits)


def measure_new_words(rng: Generator) -> list[tuple[str, int, float]]:
    """Words discovered with k = 2,048 and epsilon 6, their true and estimated counts.

    The words of `MISTYPED` take the place of words that are typed once.
    """
    word_rng, device_rng = rng.spawn(2)
    typed = [word for word, count in MISTYPED.items() for _ in range(count)]
    drawn = words(WRITERS, word_rng)
    typed += [word for word in drawn if word in WORDS]
    typed += [word for word in drawn if word not in WORDS][: WRITERS - len(typed)]
    puzzle = SequenceFragmentPuzzle(epsilon=WORDS_EPSILON, m=M, k=WORDS_K)
    discovered = puzzle.discover(puzzle.privatize(puzzle.encode(typed), device_rng))
    names = puzzle.decode(discovered.values)
    return [(name, typed.count(name), float(count)) for name, count in zip(names, discovered.counts, strict=True)]


def meant_words(counts: Mapping[str, float]) -> dict[str, str]:
    """Words that look like typing errors, each with the more frequent word that is most similar to it.

    - counts: Estimated count of each discovered word.
    """
    near = {
        word: get_close_matches(word, [other for other in counts if counts[other] > count], n=1, cutoff=SIMILAR)
        for word, count in counts.items()
    }
    return {word: similar[0] for word, similar in near.items() if similar}


# Report of the sketch experiment: measurements beside published figures and exact theory.


def example_section(sketch: Floats, estimate: float) -> Section:
    """The lecture's example: computed values beside the lecture's."""
    rows: list[list[Value]] = [
        [f"row {number}", ", ".join(f"{value:g}" for value in row), theirs]
        for number, (row, theirs) in enumerate(zip(sketch, ("3, 0, 0, 0", "0, 6, 3, 0", "0, 0, 0, 0"), strict=True), 1)
    ]
    rows.append(["estimated count of the third value", f"{number(estimate, 4)}", f"8/3 = {number(8 / 3, 4)}"])
    return Section(
        "Four users, three hash functions, four columns",
        (
            "Without noise. The third user's value was typed twice. Its count is overestimated, because it shares a "
            "column with another value under the first function.",
        ),
        (Table("Sketch and estimate", ("", "ours", "lecture"), rows),),
    )


def grid_section(cells: Sequence[GridCell], people: int, epsilon: float, plays: int) -> Section:
    """Error over k and m, beside the exact theory and the lecture's bound."""
    rows: list[list[Value]] = [
        [f"{cell.k:,}", f"{cell.m:,}", cell.error, cell.theory, cell.error / cell.theory, cell.bound] for cell in cells
    ]
    ascending = sorted(cells, key=lambda cell: cell.k)
    lines = {m: [cell for cell in ascending if cell.m == m] for m in sorted({cell.m for cell in cells})}
    series = [
        Series(f"m = {m:,}", [cell.k for cell in line], [cell.error for cell in line]) for m, line in lines.items()
    ]
    return Section(
        f"Error over the size of the sketch, {people:,} people, epsilon {epsilon:g}",
        (
            "More hash functions (k) cost the server time, more columns (m) cost each user transmission. Both reduce "
            "collisions, and the error falls to that of the noise. No user was drawn: the sums of the reports come "
            "from their exact law.",
        ),
        (
            Table(
                "Root mean square error of an estimated count",
                ("k", "m", "ours", "exact variance", "ours / exact", "lecture's bound"),
                rows,
                digits=2,
                note=f"{VALUES} values of power-law frequency, {counted(plays, 'draw')} of the hash functions. The "
                "lecture bounds the variance with c^2 n, but (c^2 - 1) n / 4 is exact. Its bound is therefore "
                "about twice the error.",
            ),
        ),
        (),
        (Lines("Error over k", "hash functions k", "root mean square error", tuple(series), "lower", "logarithmic"),),
    )


def locales_section(locales: Sequence[Locale], people: int) -> Section:
    """The most frequent emoji of each locale, true and estimated."""
    tables, bars = [], []
    for locale in locales:
        truly, ours = (np.argsort(-counts, kind="stable")[:10] for counts in (locale.typed, locale.estimated))
        rows: list[list[Value]] = [
            [rank, locale.emoji[value], locale.emoji[true], float(locale.typed[value]), float(locale.estimated[value])]
            for rank, (value, true) in enumerate(zip(ours, truly, strict=True), 1)
        ]
        tables.append(
            Table(
                f"{locale.name} keyboard",
                ("rank", "as estimated", "in truth", "typed", "estimate"),
                rows,
                digits=0,
            )
        )
        order = np.argsort(-locales[0].typed, kind="stable")[:40]
        height = float(max(np.max(each.typed) for each in locales))
        bars.append(
            Bars(
                f"{locale.name}, in the order of {locales[0].name}",
                np.maximum(locale.estimated[order], 0).tolist(),
                locale.typed[order].astype(float).tolist(),
                height,
                (locale.emoji[order[0]], locale.emoji[order[-1]]),
            )
        )
    return Section(
        "Emoji by keyboard locale",
        (
            f"Published setting: m = {M:,}, k = {K:,}, epsilon {EMOJI_EPSILON:g}; {people:,} invented reports in each "
            "locale. Apple shows a figure of two locales without numbers; ours stand beside the truth.",
        ),
        tuple(tables),
        tuple(bars),
    )


def autoplay_section(autoplay: Autoplay, people: int) -> Section:
    """How many sites are decided as their visitors would."""
    agree = autoplay.truly == autoplay.decided
    rows: list[list[Value]] = []
    distance = np.abs(autoplay.shares - 0.5)
    for low, high in ((0.0, 0.05), (0.05, 0.2), (0.2, 0.5)):
        inside = (distance >= low) & ((distance < high) if high < 0.5 else (distance <= high))
        right = int((agree & inside).sum())
        error = float(np.abs(autoplay.estimated - autoplay.shares)[inside].max()) if inside.any() else None
        rows.append([f"{50 - 100 * high:.0f} to {50 - 100 * low:.0f} %", int(inside.sum()), right, error])
    rows.append(["all", agree.size, int(agree.sum()), float(np.abs(autoplay.estimated - autoplay.shares).max())])
    return Section(
        "Sound of videos by site",
        (
            f"Published setting: m = {M:,}, k = {K:,}, epsilon {SITES_EPSILON:g}; {people:,} invented visits of "
            f"{SITES} sites. A report is a site and whether its visitor let a sound on. A video plays with sound where "
            "most visitors want it.",
        ),
        (
            Table(
                "Sites decided as most of their visitors would",
                ("minority of the visitors", "sites", "decided right", "largest error of the share"),
                rows,
                digits=4,
            ),
        ),
    )


def words_section(discovered: Sequence[tuple[str, int, float]]) -> Section:
    """Words discovered in the published setting."""
    meant = meant_words({word: estimate for word, _, estimate in discovered})
    rows: list[list[Value]] = [[word, typed, estimate, meant.get(word, "")] for word, typed, estimate in discovered]
    hits = sum(word in WORDS for word, _, _ in discovered)
    return Section(
        "New words",
        (f"Published setting: m = {M:,}, k = {WORDS_K:,}, epsilon {WORDS_EPSILON:g}; {WRITERS:,} devices.",),
        (
            Table(
                "Words found",
                ("word", "typed", "estimate", "word meant"),
                rows,
                digits=0,
                note=f"{hits} of the {len(WORDS)} new words, and {len(discovered) - hits} others. A typing error "
                "stands beside the more frequent word that it resembles, which a keyboard offers as correction.",
            ),
        ),
    )


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
        self.epsilon = check_real("epsilon", epsilon, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        for name, sizes, low in (("k", k, 1), ("m", m, 2)):
            check_list(name, sizes, check_integer, low=low)
            check_list(name, sizes, check_real, low=low, high=K)
        self.people = people
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
