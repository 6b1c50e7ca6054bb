"""Guessing each person's value from all of their reports."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator

from attacks.attack import Attack, Knowledge
from attacks.claims import RankedAnswers
from attacks.report_likelihood import log_prior, posterior, reported_column, round_likelihoods
from defenses.release import ReportsRelease


class LongitudinalAveraging(Attack):
    """Adds up what every round says of a value, so that fresh noise averages out.

    The log-likelihoods of independent rounds add up; for protocols whose reports support values the sum is the number
    of supports times a constant, so that this is the average report. With one round it is `ValueGuess`; with more it
    beats it wherever rounds are drawn anew, and gains nothing from memoized ones, which count once.

    References
    ----------
    Erlingsson, Pihur and Korolova (2014), RAPPOR, section 5, for the attack that memoization answers.
    """

    kind: ClassVar[str] = "reports"
    goal: ClassVar[str] = "value"

    def run(self, release: ReportsRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Name one value a person; ties are broken at random.

        Raises
        ------
        NotApplicable
            If the protocol has no likelihood, or nothing says which column it is about.
        """
        likelihood = np.sum(round_likelihoods(release), axis=0)
        logs = likelihood + log_prior(knowledge, reported_column(knowledge), likelihood.shape[1])
        return RankedAnswers.from_scores(posterior(logs), rng, depth=1)
