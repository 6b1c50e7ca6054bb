"""Experiment: Apple's pipeline on invented emoji, sites and words, and pool inference from linked reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from defenses.base.parameters import check_integer, check_list, check_real
from defenses.ldp.frequency_oracle import LARGEST_EPSILON, SMALLEST_EPSILON
from leaderboard.pages.number_text import counted
from leaderboard.pages.report import Section
from scenarios.studies.emoji_measures import (
    EACH,
    PERSONS,
    WRITERS,
    losses_of_pipeline,
    measure_pipeline,
    measure_pools,
    measure_words,
)
from scenarios.studies.emoji_report import histograms_section, pool_section, stages_section, words_section
from scenarios.studies.experiment import Experiment
from scenarios.studies.measuring import Measuring, measured_anew, no_losses
from scenarios.tables.seeds import generator


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
        for name, value in (("epsilon", epsilon), ("reports", reports)):
            check_list(name, value)
        for level in epsilon:
            check_real("epsilon", level, low=SMALLEST_EPSILON, high=LARGEST_EPSILON)
        for count in reports:
            check_integer("reports", count, low=1)
            check_real("reports", count, low=1, high=EACH)
        self.epsilon = epsilon
        self.reports = reports

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
