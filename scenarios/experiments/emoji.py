"""Apple's pipeline on invented emoji, sites and words, and what linked reports give away of a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.reports.pool_inference import PoolInference
from defenses.base.parameters import check_integer, check_real
from defenses.ldp.count_mean_sketch import CountMeanSketch
from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON, FrequencyOracle
from defenses.ldp.hadamard_count_mean_sketch import HadamardCountMeanSketch
from defenses.ldp.local_reports import LocalReports
from defenses.ldp.sequence_fragment_puzzle import SequenceFragmentPuzzle
from leaderboard.report import Bars, Section, Table, Value
from metrics.estimate import across_plays
from scenarios.experiments.apple_pipeline import Published, Sent, aggregate, ingest, send
from scenarios.experiments.emoji_population import TONES, emoji, power_law, words
from scenarios.experiments.experiment import Experiment
from scenarios.games.playing import play
from scenarios.games.pool import Pool
from scenarios.seeds import generator

# Published settings have k = 65,536 for emoji and sites; with so many fewer reports than devices 2,048 do.
M, K = 1024, 2048
PERSONS, EACH, SITES, WRITERS = 4000, 64, 1000, 150_000
SENT = 0.8
TARGETS = 250


class Emoji(Experiment):
    """The count-mean sketches at work: a histogram of emoji, popular sites, new words, and pool inference.

    Parameters
    ----------
    epsilon : sequence of float
        Privacy of one report under pool inference, each in [1e-6, 100].
    reports : sequence of int
        Reports of a person under pool inference, each from 1 to 64.

    Raises
    ------
    ValueError
        If a list is empty or a number out of range.

    References
    ----------
    Apple (2017), Learning with privacy at scale; Gadotti, Houssiau, Annamalai and de Montjoye (2022), Pool inference
    attacks on local differential privacy.
    """

    def __init__(self, *, epsilon: Sequence[float] = (1.0, 2.0, 4.0), reports: Sequence[int] = (1, 4, 16, 64)) -> None:
        for name, value in (("epsilon", epsilon), ("reports", reports)):
            if isinstance(value, str) or not isinstance(value, Sequence) or not value:
                raise ValueError(f"{name} must be a list, got {value!r}")
        for level in epsilon:
            check_real("epsilon", level, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        for count in reports:
            check_integer("reports", count, low=1)
            check_real("reports", count, low=1, high=EACH)
        self.epsilon = epsilon
        self.reports = reports

    def run(self, plays: int, seed: int, say: Callable[[str], None]) -> tuple[Section, ...]:
        """Run the pipeline once, and pool inference `plays` times for each setting."""
        say(f"devices, ingestor, aggregator: {PERSONS * EACH} emoji and as many visits of sites")
        pipeline = _pipeline_sections(generator(seed, "emoji", "pipeline"))
        say(f"new words of {WRITERS} devices")
        found = _words_section(generator(seed, "emoji", "words"))
        say(f"pool inference: {plays} plays for each of {len(self.epsilon) * len(self.reports)} settings")
        return (*pipeline, found, self._pools(plays, seed))

    def _pools(self, plays: int, seed: int) -> Section:
        population = emoji(3000, EACH, generator(seed, "emoji", "people"))
        rows: list[list[Value]] = []
        chance = 0.0
        for count in self.reports:
            game = Pool(records=population, column="emoji", persons=TARGETS, reports=count)
            row: list[Value] = [count]
            for level in self.epsilon:
                defense = LocalReports(protocol="CountMeanSketch", epsilon=float(level), options={"m": M, "k": K})
                rng = generator(seed, "emoji", "pools", count, repr(float(level)))
                scores = [play(defense, PoolInference(), game, each).scores for each in rng.spawn(plays)]
                rate = across_plays([float(score["pool"].rate or 0) for score in scores], trials=TARGETS)
                row += [100 * rate.value, f"{100 * rate.low:.1f} to {100 * rate.high:.1f}"]
                chance = 100 * float(scores[0]["pool"].chance or 0)
            rows.append(row)
        heads = [text for level in self.epsilon for text in (f"ε = {level:g} each", "95 % interval")]
        return Section(
            "Pool inference: the skin tone that a person prefers",
            (
                "Every report keeps its epsilon, about one emoji. Of a person's many reports each shifts the odds a "
                "little towards the tone that the person uses most, whatever the gesture. The attacker sees which "
                "reports come from one sender, which the ingestor is there to prevent; the row of one report is what "
                "is left to an attacker who cannot link them.",
            ),
            (
                Table(
                    "Persons whose preferred skin tone is named, percent",
                    ("reports of a person", *heads),
                    rows,
                    note=f"{plays} plays of {TARGETS} persons, {len(TONES)} tones, CountMeanSketch with m = {M}, "
                    f"k = {K}. Without any report the commonest tone is right for {chance:.1f} %. A person uses the "
                    "preferred tone in 85 of 100 emoji.",
                ),
            ),
        )


def _pipeline_sections(rng: Generator) -> tuple[Section, ...]:
    people_rng, site_rng, emoji_rng, sites_rng, shuffle_rng = rng.spawn(5)
    people = emoji(PERSONS, EACH, people_rng)
    domain = people.domains["emoji"]
    person = people.frame["person"].to_numpy()
    typed = domain.codes(people.frame["emoji"])
    visited = site_rng.choice(SITES, typed.size, p=power_law(SITES, 1.2))
    emoji_sketch = CountMeanSketch(epsilon=4.0, d=domain.size, m=M, k=K)
    site_sketch = HadamardCountMeanSketch(epsilon=8.0, d=SITES, m=M, k=K)
    sent = [
        send("emoji", person, typed, emoji_sketch, SENT, emoji_rng),
        send("sites", person, visited, site_sketch, SENT, sites_rng),
    ]
    ingested = ingest(sent, shuffle_rng)
    published = {name: aggregate(parts[0]) for name, parts in ingested.items()}
    truth = {"emoji": typed, "sites": visited}
    names = list(getattr(domain, "categories", ()))
    counts = {
        name: np.asarray(SENT * np.bincount(values, minlength=ingested[name][0].protocol.d).astype(float))
        for name, values in truth.items()
    }
    estimates = {name: parts[0].protocol.estimate(parts[0]) for name, parts in ingested.items()}
    return (
        _stages(typed.size, sent, published),
        _histograms(
            {name: parts[0].protocol for name, parts in ingested.items()},
            {name: len(parts[0]) for name, parts in ingested.items()},
            counts,
            estimates,
            published,
            names,
        ),
    )


def _stages(events: int, sent: list[Sent], published: dict[str, Published]) -> Section:
    reports = sum(len(batch.reports) for batch in sent)
    size = sum(batch.reports.nbytes for batch in sent) / 1e6
    rows: list[list[Value]] = [
        ["device, in the clear", "person, time, use case, value", 2 * events],
        ["device, privatized and sampled", "person, time, use case, report", reports],
        ["ingestor", "report, one heap for each use case, shuffled", reports],
        ["aggregator", "estimated count of each value", sum(batch.reports.protocol.d for batch in sent)],
        ["published above the threshold", "estimated count", sum(len(one.values) for one in published.values())],
    ]
    return Section(
        "From the device to the histogram",
        (
            "Emoji, sites and persons are invented: 40 gestures in 6 skin tones, 1,000 sites, both by power laws. A "
            "device privatizes each event at once, later sends a random 80 % of the records; the ingestor drops sender "
            "and time stamp and splits by use case; the aggregator sees heaps of reports alone.",
        ),
        (
            Table(
                "Who holds what",
                ("stage", "a record holds", "records"),
                rows,
                note=f"The reports take {size:.0f} MB.",
            ),
        ),
    )


def _histograms(
    made_by: dict[str, FrequencyOracle],
    reports: dict[str, int],
    counts: dict[str, NDArray[np.float64]],
    estimates: dict[str, NDArray[np.float64]],
    published: dict[str, Published],
    names: list[str],
) -> Section:
    rows: list[list[Value]] = []
    for name, protocol in made_by.items():
        variance = protocol.variance(reports[name], counts[name] / counts[name].sum())
        # The sample sent is random too: each event of a value is sent or not.
        sampling = counts[name] * (1 - SENT)
        error = float(np.sqrt(np.square(estimates[name] - counts[name]).mean()))
        one = published[name]
        rows.append(
            [
                name,
                type(protocol).__name__,
                f"{protocol.get_params()['epsilon']:g}",
                protocol.report_bits,
                reports[name],
                error,
                float(np.sqrt((variance + sampling).mean())),
                one.threshold,
                int((counts[name] > one.threshold).sum()),
                len(one.values),
                int((counts[name][one.values] == 0).sum()),
            ]
        )
    best = published["emoji"]
    listed: list[list[Value]] = [
        [names[value], float(counts["emoji"][value]), float(count)]
        for value, count in zip(best.values[:10].tolist(), best.counts[:10].tolist(), strict=True)
    ]
    order = np.argsort(-counts["emoji"], kind="stable")[:60]
    top = float(max(counts["emoji"][order].max(), estimates["emoji"][order].max()))
    return Section(
        "What the aggregator learns",
        ("Bars: estimated counts of the 60 commonest emoji, negative ones left out; outline: the truth.",),
        (
            Table(
                "Histograms",
                (
                    "use case",
                    "protocol",
                    "ε",
                    "bits",
                    "reports",
                    "error",
                    "theory",
                    "threshold",
                    "in truth",
                    "published",
                    "of nobody",
                ),
                rows,
                digits=0,
                note="Error: root mean square of an estimated count, against 80 % of the events; theory: the root of "
                "the protocol's mean variance, over hash functions too, and of that of sampling. "
                "In truth, published, of nobody: values whose true count exceeds the threshold, whose estimate does, "
                "and which nobody had among the latter. The threshold lets a value that nobody has through in 5 of "
                "100 runs.",
            ),
            Table(
                "The ten commonest emoji as published", ("emoji", "80 % of the events", "estimate"), listed, digits=0
            ),
        ),
        (
            Bars(
                "emoji, ε = 4, CountMeanSketch",
                np.maximum(estimates["emoji"][order], 0).tolist(),
                counts["emoji"][order].tolist(),
                top,
                (names[order[0]], names[order[-1]]),
            ),
        ),
    )


def _words_section(rng: Generator) -> Section:
    word_rng, device_rng = rng.spawn(2)
    typed = words(WRITERS, word_rng)
    puzzle = SequenceFragmentPuzzle(epsilon=8.0, m=M, k=256)
    values = puzzle.encode(typed)
    found = puzzle.discover(puzzle.privatize(values, device_rng))
    distinct, how_often = np.unique(values, return_counts=True)
    count_of = dict(zip(distinct.tolist(), how_often.tolist(), strict=True))
    rows: list[list[Value]] = [
        [word, count_of.get(value, 0), float(count)]
        for word, value, count in zip(
            puzzle.decode(found.values), found.values.tolist(), found.counts.tolist(), strict=True
        )
    ]
    return Section(
        "New words, without a list of them",
        (
            f"{WRITERS:,} devices report one word each of up to 6 letters, 27^6 = {27**6:,} possible ones: the whole "
            "word through one sketch, two of its letters with an 8-bit hash of the word through another, epsilon 4 "
            "each. Frequent pairs of fragment and hash are joined where their hashes agree, and the word's sketch "
            "says which of the joined words exist.",
        ),
        (
            Table(
                "Words found",
                ("word", "typed", "estimate"),
                rows,
                digits=0,
                note=f"{int((how_often >= 100).sum())} words were typed 100 times or more, "
                f"{int((how_often == 1).sum()):,} once.",
            ),
        ),
    )
