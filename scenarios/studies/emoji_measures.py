"""Measurements of the emoji experiment: the pipeline's histograms, discovered words, and pool inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import ArrayLike

from attacks.reports.inference_from_reports import PoolInference
from defenses import LocalReports, Microdata, check_real
from defenses.base import TableHierarchy
from defenses.ldp import CountMeanSketch, FrequencyOracle, HadamardCountMeanSketch, ReportBatch, SequenceFragmentPuzzle
from metrics import CategoricalDomain, Estimate, across_plays
from metrics.columns import Floats, Integers
from scenarios.games import Pool, play
from scenarios.studies.experiment import Losses, Measuring, by_play, measured_anew
from scenarios.tables.seeds import generator

# An invented population that types emoji, visits sites and writes new words.

TONES = ("yellow", "light", "medium-light", "medium", "medium-dark", "dark")
# Share of people who prefer each tone, and how often they use the preferred tone.
TONE_SHARES = (0.35, 0.20, 0.17, 0.12, 0.09, 0.07)
LOYALTY = 0.85
GESTURES = (
    "thumbs up", "folded hands", "clapping", "OK hand", "raised hands", "flexed arm", "waving", "victory",
    "crossed fingers", "facepalm", "shrug", "raised fist", "thumbs down", "pointing up", "pointing right",
    "call me", "handshake", "open hands", "writing", "nail polish", "selfie", "dancing", "running", "walking",
    "bowing", "raising a hand", "no gesture", "OK gesture", "massage", "haircut", "teacher", "student", "cook",
    "farmer", "judge", "astronaut", "pilot", "artist", "singer", "firefighter",
)  # fmt: skip
WORDS = ("yolo", "selfie", "meme", "hangry", "vlog", "emoji", "noob", "fomo")


def power_law_shares(d: int, exponent: float = 1.0) -> Floats:
    """Shares of d values that fall with their rank, shape (d,)."""
    weights = np.arange(1, d + 1) ** -exponent
    return np.asarray(weights / weights.sum())


def emoji(persons: int, each: int, rng: Generator) -> Microdata:
    """Emoji with a skin tone, `each` of every person; a person uses the preferred tone in 85 of 100 emoji.

    Gestures follow a power law and are independent of tones. Level 1 of the emoji's hierarchy is its tone.
    """
    names = [f"{gesture}, {tone}" for gesture in GESTURES for tone in TONES]
    preferred = rng.choice(len(TONES), persons, p=TONE_SHARES)
    tone = np.repeat(preferred, each)
    other = rng.random(tone.size) >= LOYALTY
    tone[other] = rng.choice(len(TONES), int(other.sum()), p=TONE_SHARES)
    gesture = rng.choice(len(GESTURES), tone.size, p=power_law_shares(len(GESTURES)))
    frame = pd.DataFrame(
        {
            "person": np.repeat(np.arange(persons), each),
            "emoji": np.array(names, dtype=object)[gesture * len(TONES) + tone],
        }
    )
    levels = [[f"{gesture}, {tone}", tone, "*"] for gesture in GESTURES for tone in TONES]
    return Microdata(
        frame,
        identifiers=("person",),
        sensitive=("emoji",),
        domains={"emoji": CategoricalDomain(tuple(names))},
        hierarchies={"emoji": TableHierarchy(levels)},
        person="person",
    )


def words(count: int, rng: Generator) -> list[str]:
    """Typed words: 45 of 100 come from `WORDS`, earlier ones more often; the others are random and almost unique."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    typed = rng.choice(letters, (count, 6)).astype("<U1").view("<U6").ravel()
    new = rng.random(count) < 0.45
    typed[new] = np.array(WORDS)[rng.choice(len(WORDS), int(new.sum()), p=power_law_shares(len(WORDS), 0.5))]
    return [str(word) for word in typed]


# Apple's pipeline of local differential privacy: devices, an ingestor, an aggregator.


@dataclass(frozen=True)
class Sent:
    """Reports that devices sent for one use case.

    - use_case: What the events are about.
    - person, shape (n,): Device that sent each report, known from its address.
    - minute, shape (n,): Minute of the day at which each report was sent.
    """

    use_case: str
    person: Integers = field(repr=False)
    minute: Integers = field(repr=False)
    reports: ReportBatch = field(repr=False)


@dataclass(frozen=True)
class Published:
    """Counts that the aggregator publishes for one use case.

    - values, shape (published,): Values above the threshold, the most frequent first.
    - counts, shape (published,): Their estimated counts among the reports.
    """

    values: Integers
    counts: Floats
    threshold: float


def send(
    use_case: str, person: ArrayLike, values: ArrayLike, protocol: FrequencyOracle, share: float, rng: Generator
) -> Sent:
    """Privatize every event on its device, and send a random share of the reports within a day.

    Events are privatized before sampling, so that no event waits on the device in the clear.

    - use_case: What the events are about.
    - person, values, shape (events,): Person and value of each event.
    - share: Share of the reports that are sent, in (0, 1].
    - rng: Source of all randomness of the devices.
    """
    check_real("share", share, low=0, high=1, open_low=True)
    reports = protocol.privatize(values, rng)
    sampled = np.flatnonzero(rng.random(len(reports)) < share)
    minute = np.sort(rng.integers(24 * 60, size=sampled.size))
    sampled = rng.permutation(sampled)
    return Sent(use_case, np.asarray(person)[sampled], minute, reports.take(sampled))


def ingest(batches: Sequence[Sent], rng: Generator) -> dict[str, list[ReportBatch]]:
    """Remove sender and time, split the reports by use case, and shuffle each batch."""
    shuffled = [(batch.use_case, batch.reports.take(rng.permutation(len(batch.reports)))) for batch in batches]
    return {case: [reports for name, reports in shuffled if name == case] for case, _ in shuffled}


def aggregate(reports: ReportBatch, false_alarms: float = 0.05) -> Published:
    """Estimate all counts and publish those above a threshold.

    - reports: Reports of one use case, at least one.
    - false_alarms: False-alarm probability, in (0, 1): some value that nobody holds exceeds the threshold.
    """
    from scipy.special import ndtri

    check_real("false_alarms", false_alarms, low=0, high=1, open_low=True, open_high=True)
    protocol = reports.protocol
    counts = protocol.estimate(reports)
    even = np.full(protocol.d, 1 / protocol.d)
    threshold = float(ndtri(1 - false_alarms / protocol.d) * np.sqrt(protocol.variance(len(reports), even).max()))
    values = np.argsort(-counts, kind="stable")
    values = values[counts[values] > threshold]
    return Published(values, counts[values], threshold)


# Apple's published settings use k = 65,536 for emoji and sites. There are far fewer reports here, for which 2,048 do.
M, K = 1024, 2048
PERSONS, EACH, SITES, WRITERS = 4000, 64, 1000, 150_000
# Share of the privatized records that devices send.
SENT = 0.8
TARGETS = 250


@dataclass(frozen=True)
class UseCase:
    """What the aggregator estimates and publishes of one use case.

    - name: What the events are about.
    - reports: Number of reports that arrived.
    - nbytes: Size of the reports as sent.
    - expected, shape (d,): True counts of all events, times the share that is sent.
    - estimated, shape (d,): Estimated counts.
    - published: The counts above the threshold.
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

    - events: Number of events of each use case.
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

    - frequent, unique: Number of words typed at least 100 times, and exactly once.
    """

    words: list[WordCount]
    frequent: int
    unique: int


@dataclass(frozen=True)
class PoolResult:
    """Success of pool inference with one number of reports and one epsilon.

    - rate: Share of persons whose preferred tone is inferred.
    - baseline: The same share without any report.
    - rates: The share in each play.
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

    - reports: Numbers of reports of a person.
    - measured: Makes each measurement, or returns its stored value.
    - returns: For each number of reports, one result for each epsilon.
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
