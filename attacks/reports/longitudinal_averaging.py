"""Longitudinal averaging: infers each person's value from all of their reports."""

from __future__ import annotations

import numpy as np

from attacks.reports.report_likelihood import round_likelihoods
from attacks.reports.reported_value import ReportedValue
from defenses.base import ReportsRelease
from metrics.columns import Floats


class LongitudinalAveraging(ReportedValue):
    """Adds up the log-likelihoods of all rounds, so that fresh noise averages out.

    Log-likelihoods of independent rounds add up. For protocols whose reports support values, the sum is the number of
    supports times a constant, so this is the average report. Rounds of a longitudinal encoding share memoized bits. The
    protocol then gives the likelihood of all rounds together (``rounds_log_likelihood``), which stays bounded.

    The attack assumes that reports of one person can be linked across rounds. It extends `ValueGuess` and equals it on
    one round. It beats that baseline where rounds are drawn afresh. It gains nothing from memoized rounds, which count
    once.

    References
    ----------
    Erlingsson, Pihur and Korolova (2014), RAPPOR, section 5, for the attack that memoization answers.
    """

    def likelihood(self, release: ReportsRelease) -> Floats:
        """Log-likelihood of all rounds together: the sum over rounds, unless the protocol says otherwise."""
        together = getattr(release.protocol, "rounds_log_likelihood", None)
        if together is not None:
            return np.asarray(together(release.reports))
        return np.asarray(np.sum(round_likelihoods(release), axis=0))
