"""Guessing each person's value from one randomized report."""

from __future__ import annotations

from attacks.reports.report_likelihood import round_likelihoods
from attacks.reports.reported_value import ReportedValue
from defenses.base.release import ReportsRelease
from metrics.arrays import Floats


class ValueGuess(ReportedValue):
    """Names the value of the largest posterior given a person's first report and the shares in other people.

    With the true shares as prior nothing guesses right more often from one report. It beats the guess of the commonest
    value where some report outweighs the prior; at a small epsilon none does, and it is that guess.

    References
    ----------
    Gursoy, Liu, Chow, Truex and Wei (2022), An adversarial approach to protocol analysis and selection in local
    differential privacy, section 3.
    """

    def likelihood(self, release: ReportsRelease) -> Floats:
        """That of the first report."""
        (likelihood,) = round_likelihoods(release, rounds=1)
        return likelihood
