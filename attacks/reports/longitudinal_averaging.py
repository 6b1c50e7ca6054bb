"""Guessing each person's value from all of their reports."""

from __future__ import annotations

import numpy as np

from attacks.reports.report_likelihood import round_likelihoods
from attacks.reports.reported_value import ReportedValue
from defenses.base.release import ReportsRelease
from metrics.arrays import Floats


class LongitudinalAveraging(ReportedValue):
    """Adds up what every round says of a value, so that fresh noise averages out.

    The log-likelihoods of independent rounds add up; for protocols whose reports support values the sum is the number
    of supports times a constant, so that this is the average report. With one round it is `ValueGuess`; with more it
    beats it wherever rounds are drawn anew, and gains nothing from memoized ones, which count once.

    References
    ----------
    Erlingsson, Pihur and Korolova (2014), RAPPOR, section 5, for the attack that memoization answers.
    """

    def likelihood(self, release: ReportsRelease) -> Floats:
        """Sum over all rounds."""
        return np.asarray(np.sum(round_likelihoods(release), axis=0))
