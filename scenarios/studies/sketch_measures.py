"""Measurements of the sketch experiment: the published settings at the published numbers of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from defenses.ldp.count_mean_sketch import CountMeanSketch
from defenses.ldp.sequence_fragment_puzzle import SequenceFragmentPuzzle
from defenses.ldp.sketch import mean_estimate
from defenses.ldp.sketch_law import draw_estimates
from metrics.columns.arrays import Floats, Integers64
from scenarios.studies.emoji_measures import GESTURES, TONE_SHARES, TONES, power_law_shares, words

M, K = 1024, 65_536
EMOJI_EPSILON, SITES_EPSILON = 4.0, 8.0
WORDS_K, WORDS_EPSILON, WRITERS = 2048, 6.0, 150_000
"""Published settings (Apple 2017, section 5): emoji, sites and new words."""
VALUES, SITES = 100, 200
LOCALES = ("English", "French")


@dataclass(frozen=True)
class GridCell:
    """Error of an estimated count for one size of the sketch.

    Attributes
    ----------
    k, m : int
        Number of hash functions and of columns.
    error : float
        Root mean square error, over values and over draws with hash functions of their own.
    theory : float
        The same from the exact variance.
    bound : float
        The same from the published bound on the variance.
    """

    k: int
    m: int
    error: float
    theory: float
    bound: float


@dataclass(frozen=True)
class Locale:
    """Counts of emoji in one keyboard locale.

    Attributes
    ----------
    name : str
        The locale.
    emoji : list of str
        Names of the emoji.
    typed : ndarray of int, shape (d,)
        True counts.
    estimated : ndarray of float, shape (d,)
        Estimated counts.
    """

    name: str
    emoji: list[str]
    typed: Integers64
    estimated: Floats


@dataclass(frozen=True)
class Autoplay:
    """Sites whose videos should play with sound by default.

    Attributes
    ----------
    truly, decided : ndarray of bool, shape (sites,)
        Whether most visitors let the sound on, in truth and by the estimates.
    shares, estimated : ndarray of float, shape (sites,)
        Share of visits with sound, true and estimated.
    visits : ndarray of int, shape (sites,)
        Number of visits.
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

    Parameters
    ----------
    people : int
        Number of people, with one report each.
    epsilon : float
        Privacy of a report.
    sizes : sequence of (int, int)
        Pairs of k and m.
    plays : int
        Number of draws for each size, each with hash functions of its own.
    rng : Generator
        Source of all randomness.
    """
    shares = power_law_shares(VALUES)
    counts = rng.multinomial(people, shares)
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
    """Words discovered with k = 2,048 and epsilon 6, their true and estimated counts."""
    word_rng, device_rng = rng.spawn(2)
    typed = words(WRITERS, word_rng)
    puzzle = SequenceFragmentPuzzle(epsilon=WORDS_EPSILON, m=M, k=WORDS_K)
    discovered = puzzle.discover(puzzle.privatize(puzzle.encode(typed), device_rng))
    names = puzzle.decode(discovered.values)
    return [(name, typed.count(name), float(count)) for name, count in zip(names, discovered.counts, strict=True)]
