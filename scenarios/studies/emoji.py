"""Experiment: Apple's pipeline on invented emoji, sites and words, and pool inference from linked reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON
from leaderboard.pages import Bars, Section, Table, Value, counted
from metrics import Estimate
from metrics.columns import check_integer, check_list, check_real
from scenarios.studies.emoji_measures import (
    EACH,
    PERSONS,
    SENT,
    TARGETS,
    TONES,
    WRITERS,
    K,
    M,
    PipelineRun,
    PoolResult,
    UseCase,
    WordDiscovery,
    losses_of_pipeline,
    measure_pipeline,
    measure_pools,
    measure_words,
)
from scenarios.studies.experiment import Experiment, Measuring, measured_anew, no_losses
from scenarios.tables.seeds import generator

# Report of the emoji experiment: stages of the pipeline, histograms, words and pool inference.


def stages_section(pipeline: PipelineRun) -> Section:
    """What each stage of the pipeline holds."""
    use_cases = pipeline.use_cases
    reports = sum(use_case.reports for use_case in use_cases)
    size = sum(use_case.nbytes for use_case in use_cases) / 1e6
    published = sum(len(use_case.published.values) for use_case in use_cases)
    rows: list[list[Value]] = [
        ["device, in the clear", "person, time, use case, value", len(use_cases) * pipeline.events],
        ["device, privatized and sampled", "person, time, use case, report", reports],
        ["ingestor", "report, one heap for each use case, shuffled", reports],
        ["aggregator", "estimated count of each value", sum(use_case.protocol.d for use_case in use_cases)],
        ["published above the threshold", "estimated count", published],
    ]
    return Section(
        "From the device to the histogram",
        (
            f"Emoji, sites and persons are invented: 40 gestures in {len(TONES)} skin tones and 1,000 sites, both with "
            f"power-law frequencies. A device privatizes each event at once and later sends a random {SENT:.0%} of the "
            "records. The ingestor removes sender and time stamp and splits the reports by use case. The aggregator "
            "sees only these shuffled reports.",
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


def histograms_section(pipeline: PipelineRun) -> Section:
    """Accuracy of both histograms, and the most frequent emoji."""
    names, expected, estimated = pipeline.names, pipeline.emoji.expected, pipeline.emoji.estimated
    published = pipeline.emoji.published
    top_ten: list[list[Value]] = [
        [names[value], float(expected[value]), float(count)]
        for value, count in zip(published.values[:10].tolist(), published.counts[:10].tolist(), strict=True)
    ]
    order = np.argsort(-expected, kind="stable")[:60]
    height = float(max(expected[order].max(), estimated[order].max()))
    return Section(
        "What the aggregator learns",
        ("Bars: estimated counts of the 60 most frequent emoji, negative ones left out; outline: the truth.",),
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
                [_accuracy(use_case) for use_case in pipeline.use_cases],
                digits=0,
                note="Error: root mean square error of an estimated count, against 80 % of the events. Theory: the "
                "same error from the protocol's mean variance, over hash functions too, plus the variance of sampling. "
                "In truth: values whose true count exceeds the threshold. Published: values whose estimate exceeds it. "
                "Of nobody: published values that nobody had. The false-alarm probability, that some such value is "
                "published, is 5 %.",
            ),
            Table(
                "The ten commonest emoji as published", ("emoji", "80 % of the events", "estimate"), top_ten, digits=0
            ),
        ),
        (
            Bars(
                "emoji, ε = 4, CountMeanSketch",
                np.maximum(estimated[order], 0).tolist(),
                expected[order].tolist(),
                height,
                (names[order[0]], names[order[-1]]),
            ),
        ),
    )


def _accuracy(use_case: UseCase) -> list[Value]:
    """Row of a use case in the table of histograms."""
    published = use_case.published
    return [
        use_case.name,
        type(use_case.protocol).__name__,
        f"{use_case.protocol.get_params()['epsilon']:g}",
        use_case.protocol.report_bits,
        use_case.reports,
        use_case.error,
        use_case.theory,
        published.threshold,
        int((use_case.expected > published.threshold).sum()),
        len(published.values),
        int((use_case.expected[published.values] == 0).sum()),
    ]


def words_section(discovery: WordDiscovery) -> Section:
    """The discovered words with true and estimated counts."""
    rows: list[list[Value]] = [[word.word, word.typed, word.estimate] for word in discovery.words]
    return Section(
        "New words, without a list of them",
        (
            f"{WRITERS:,} devices report one word each of up to 6 letters, out of 27^6 = {27**6:,} possible ones. One "
            "sketch takes the whole word, another takes two of its letters with an 8-bit hash of the word, with "
            "epsilon 4 each. Frequent pairs of fragment and hash are joined where their hashes agree. The sketch of "
            "whole words then shows which of the joined words exist.",
        ),
        (
            Table(
                "Words found",
                ("word", "typed", "estimate"),
                rows,
                digits=0,
                note=f"{discovery.frequent} words were typed 100 times or more, {discovery.unique:,} once.",
            ),
        ),
    )


def _rate_cells(rate: Estimate) -> tuple[Value, Value]:
    """A rate in percent, and its interval."""
    return 100 * rate.value, f"{100 * rate.low:.1f} to {100 * rate.high:.1f}"


def pool_section(results: Sequence[Sequence[PoolResult]], levels: Sequence[float], plays: int) -> Section:
    """Success of pool inference by number of reports and epsilon."""
    rows: list[list[Value]] = [
        [of_count[0].reports, *(cell for result in of_count for cell in _rate_cells(result.rate))]
        for of_count in results
    ]
    baseline = 100 * results[-1][-1].baseline
    heads = [text for level in levels for text in (f"ε = {level:g} each", "95 % interval")]
    return Section(
        "Pool inference: the skin tone that a person prefers",
        (
            "Each report satisfies its epsilon, about one emoji. Each of a person's reports slightly shifts the "
            "posterior odds towards the tone that the person uses most, whatever the gesture. The attacker knows which "
            "reports come from one sender, which the ingestor is meant to prevent. The row with one report shows an "
            "attacker who cannot link reports.",
        ),
        (
            Table(
                "Persons whose preferred skin tone is named, percent",
                ("reports of a person", *heads),
                rows,
                note=f"{counted(plays, 'play')} of {TARGETS} persons, {len(TONES)} tones, CountMeanSketch with "
                f"m = {M}, k = {K}. Without any report, the most frequent tone is right for {baseline:.1f} %. A person "
                "uses the preferred tone in 85 of 100 emoji.",
            ),
        ),
    )


class Emoji(Experiment):
    """Count-mean sketches in use: a histogram of emoji, popular sites, new words, and pool inference.

    Parameters
    ----------
    epsilon : sequence of float
        Privacy of one report in pool inference, each in [1e-6, 100].
    reports : sequence of int
        Numbers of reports of a person in pool inference, each from 1 to 64.

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
        self.epsilon = check_list("epsilon", epsilon, check_real, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        self.reports = check_list("reports", reports, check_integer, low=1)
        check_list("reports", reports, check_real, low=1, high=EACH)

    def run(
        self, plays: int, seed: int, say: Callable[[str], None], measured: Measuring = measured_anew
    ) -> tuple[Section, ...]:
        """Run the pipeline once, and pool inference `plays` times for each setting."""
        say(f"devices, ingestor, aggregator: {PERSONS * EACH} emoji and as many visits of sites")
        pipeline = measured(
            "pipeline", {}, lambda: measure_pipeline(generator(seed, "emoji", "pipeline")), losses_of_pipeline
        )
        say(f"new words of {WRITERS} devices")
        words = measured("new words", {}, lambda: measure_words(generator(seed, "emoji", "words")), no_losses)
        say(f"pool inference: {counted(plays, 'play')} for each of {len(self.epsilon) * len(self.reports)} settings")
        levels = [float(level) for level in self.epsilon]
        pools = measure_pools(levels, self.reports, plays, seed, measured)
        return (
            stages_section(pipeline),
            histograms_section(pipeline),
            words_section(words),
            pool_section(pools, levels, plays),
        )
