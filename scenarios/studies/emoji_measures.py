"""Measurements of the emoji experiment: the pipeline's histograms, discovered words, and pool inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from attacks.reports.pool_inference import PoolInference
from defenses.ldp.count_mean_sketch import CountMeanSketch
from defenses.ldp.frequency_oracle import FrequencyOracle
from defenses.ldp.hadamard_count_mean_sketch import HadamardCountMeanSketch
from defenses.ldp.local_reports import LocalReports
from defenses.ldp.sequence_fragment_puzzle import SequenceFragmentPuzzle
from metrics.arrays import Floats, Integers
from metrics.estimate import Estimate, across_plays
from scenarios.games.playing import play
from scenarios.games.pool import Pool
from scenarios.studies.apple_pipeline import Published, aggregate, ingest, send
from scenarios.studies.emoji_population import emoji, power_law_shares, words
from scenarios.studies.measuring import Losses, Measuring, by_play, measured_anew
from scenarios.tables.seeds import generator

# Apple's published settings use k = 65,536 for emoji and sites. There are far fewer reports here, for which 2,048 do.
M, K = 1024, 2048
PERSONS, EACH, SITES, WRITERS = 4000, 64, 1000, 150_000
# Share of the privatized records that devices send.
SENT = 0.8
TARGETS = 250


@dataclass(frozen=True)
class UseCase:
    """What the aggregator estimates and publishes of one use case.

    Attributes
    ----------
    name : str
        What the events are about.
    protocol : FrequencyOracle
        Randomizes each event.
    reports : int
        Number of reports that arrived.
    nbytes : int
        Size of the reports as sent.
    expected : ndarray of float, shape (d,)
        True counts of all events, times the share that is sent.
    estimated : ndarray of float, shape (d,)
        Estimated counts.
    published : Published
        The counts above the threshold.
    """

    name: str
    protocol: FrequencyOracle
    reports: int
    nbytes: int
    expected: Floats
    estimated: Floats
    published: Published

    @property
    def error(self) -> float:
        """Root mean square error of an estimated count."""
        return float(np.sqrt(np.square(self.estimated - self.expected).mean()))

    @property
    def theory(self) -> float:
        """The same error in theory: the protocol's variance plus that of sampling the events that are sent."""
        variance = self.protocol.variance(self.reports, self.expected / self.expected.sum())
        sampling = self.expected * (1 - SENT)
        return float(np.sqrt((variance + sampling).mean()))


@dataclass(frozen=True)
class PipelineRun:
    """One run of the pipeline from devices to histograms.

    Attributes
    ----------
    events : int
        Number of events of each use case.
    emoji, sites : UseCase
        The use cases.
    names : list of str
        Names of the emoji.
    """

    events: int
    emoji: UseCase
    sites: UseCase
    names: list[str]

    @property
    def use_cases(self) -> tuple[UseCase, UseCase]:
        """All use cases."""
        return self.emoji, self.sites


class WordCount(NamedTuple):
    """A discovered word, how often it was typed, and the estimate of that count."""

    word: str
    typed: int
    estimate: float


@dataclass(frozen=True)
class WordDiscovery:
    """Result of the sequence fragment puzzle.

    Attributes
    ----------
    words : list of WordCount
        The discovered words.
    frequent, unique : int
        Number of words typed at least 100 times, and exactly once.
    """

    words: list[WordCount]
    frequent: int
    unique: int


@dataclass(frozen=True)
class PoolResult:
    """Success of pool inference with one number of reports and one epsilon.

    Attributes
    ----------
    reports : int
        Reports of a person.
    epsilon : float
        Privacy of one report.
    rate : Estimate
        Share of persons whose preferred tone is inferred.
    baseline : float
        The same share without any report.
    rates : tuple of float
        The share in each play.
    """

    reports: int
    epsilon: float
    rate: Estimate
    baseline: float
    rates: tuple[float, ...] = ()


def measure_pipeline(rng: Generator) -> PipelineRun:
    """Send emoji and visited sites through the pipeline."""
    people_rng, site_rng, emoji_rng, sites_rng, shuffle_rng = rng.spawn(5)
    people = emoji(PERSONS, EACH, people_rng)
    domain = people.domains["emoji"]
    person = people.frame["person"].to_numpy()
    typed = domain.codes(people.frame["emoji"])
    visited = site_rng.choice(SITES, typed.size, p=power_law_shares(SITES, 1.2))
    emoji_sketch = CountMeanSketch(epsilon=4.0, d=domain.size, m=M, k=K)
    site_sketch = HadamardCountMeanSketch(epsilon=8.0, d=SITES, m=M, k=K)
    sent = [
        send("emoji", person, typed, emoji_sketch, SENT, emoji_rng),
        send("sites", person, visited, site_sketch, SENT, sites_rng),
    ]
    ingested = ingest(sent, shuffle_rng)

    def use_case(name: str, values: Integers, nbytes: int) -> UseCase:
        (reports,) = ingested[name]
        protocol = reports.protocol
        expected = np.asarray(SENT * np.bincount(values, minlength=protocol.d).astype(float))
        estimated = protocol.estimate(reports)
        return UseCase(name, protocol, len(reports), nbytes, expected, estimated, aggregate(reports))

    return PipelineRun(
        typed.size,
        use_case("emoji", typed, sent[0].reports.nbytes),
        use_case("sites", visited, sent[1].reports.nbytes),
        list(getattr(domain, "categories", ())),
    )


def measure_words(rng: Generator) -> WordDiscovery:
    """Discover new words from one report a device."""
    word_rng, device_rng = rng.spawn(2)
    typed = words(WRITERS, word_rng)
    puzzle = SequenceFragmentPuzzle(epsilon=8.0, m=M, k=256)
    values = puzzle.encode(typed)
    discovered = puzzle.discover(puzzle.privatize(values, device_rng))
    distinct, frequency = np.unique(values, return_counts=True)
    count_of = dict(zip(distinct.tolist(), frequency.tolist(), strict=True))
    return WordDiscovery(
        [
            WordCount(word, count_of.get(value, 0), float(count))
            for word, value, count in zip(
                puzzle.decode(discovered.values), discovered.values.tolist(), discovered.counts.tolist(), strict=True
            )
        ],
        frequent=int((frequency >= 100).sum()),
        unique=int((frequency == 1).sum()),
    )


def measure_pools(
    levels: Sequence[float], reports: Sequence[int], plays: int, seed: int, measured: Measuring = measured_anew
) -> tuple[tuple[PoolResult, ...], ...]:
    """Infer preferred skin tones from the linked reports of a person.

    Parameters
    ----------
    levels : sequence of float
        Epsilons of one report.
    reports : sequence of int
        Numbers of reports of a person.
    plays : int
        Plays of each setting.
    seed : int
        Seed of all randomness.
    measured : Measuring
        Makes each measurement, or returns its stored value.

    Returns
    -------
    tuple of tuple of PoolResult
        For each number of reports, one result for each epsilon.
    """
    population = cache(lambda: emoji(3000, EACH, generator(seed, "emoji", "people")))

    def measure(count: int, level: float) -> PoolResult:
        game = Pool(records=population(), column="emoji", persons=TARGETS, reports=count)
        defense = LocalReports(protocol="CountMeanSketch", epsilon=level, options={"m": M, "k": K})
        rng = generator(seed, "emoji", "pools", count, repr(level))
        scores = [play(defense, PoolInference(), game, play_rng).scores["pool"] for play_rng in rng.spawn(plays)]
        rates = tuple(float(score.rate or 0) for score in scores)
        return PoolResult(count, level, across_plays(rates, trials=TARGETS), float(scores[0].chance or 0), rates)

    def pool(count: int, level: float) -> PoolResult:
        settings = {"reports": int(count), "epsilon": level}
        return measured(
            "pool inference", settings, partial(measure, count, level), lambda result: by_play(success=result.rates)
        )

    return tuple(tuple(pool(count, level) for level in levels) for count in reports)


def losses_of_pipeline(pipeline: PipelineRun) -> Losses:
    """Root mean square error of both histograms."""
    return [{f"{use_case.name}_error": use_case.error for use_case in pipeline.use_cases}]
