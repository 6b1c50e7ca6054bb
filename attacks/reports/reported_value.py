"""Inference of each person's value from randomized reports."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Knowledge, RankedAnswers
from attacks.reports.report_likelihood import log_prior, posterior, reported_column, round_likelihoods
from defenses.base import ReportsRelease
from metrics.columns import Floats


class ReportedValue(Attack):
    """Base class of attacks that name the value of largest posterior given a person's reports.

    The prior is the values' shares among the attacker's own people.
    """

    kind = "reports"
    goal = "value"

    @abstractmethod
    def likelihood(self, release: ReportsRelease) -> Floats:
        """Log-likelihood of each value for each person, shape (n, d)."""

    def run(self, release: ReportsRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Name one value for each person; ties are broken at random.

        Raises
        ------
        NotApplicable
            If the protocol has no likelihood, or the attacker's people have no sensitive column.
        """
        likelihood = self.likelihood(release)
        logs = likelihood + log_prior(knowledge, reported_column(knowledge), likelihood.shape[1])
        return RankedAnswers.from_scores(posterior(logs), rng, depth=1)


# Value guess: infers each person's value from one randomized report.


class ValueGuess(ReportedValue):
    """Bayesian attack on one report: names the value of largest posterior.

    The posterior is computed from a person's first report and a prior, the values' shares among the attacker's own
    people. With the true shares as prior no attack on one report is right more often.

    The attack assumes a protocol with a known likelihood. Its baseline is the guess of the commonest value. It beats
    that baseline where some report outweighs the prior. At a small epsilon no report does, and the attack equals the
    baseline.

    References
    ----------
    Gursoy, Liu, Chow, Truex and Wei (2022), An adversarial approach to protocol analysis and selection in local
    differential privacy, section 3.

    Examples
    --------
    At epsilon = 20 randomized response almost always reports the true value:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import Knowledge, ValueGuess
    >>> from defenses import LocalReports, Microdata
    >>> from metrics import CategoricalDomain
    >>> frame = pd.DataFrame({"illness": ["flu", "cold", "ulcer"]})
    >>> domains = {"illness": CategoricalDomain(("flu", "cold", "ulcer"))}
    >>> records = Microdata(frame, sensitive=("illness",), domains=domains)
    >>> defense = LocalReports(protocol="GeneralizedRandomizedResponse", epsilon=20.0, column="illness")
    >>> release = defense.apply(records, np.random.default_rng(0))
    >>> claims = ValueGuess().run(release, Knowledge(frame, records), np.random.default_rng(1))
    >>> [domains["illness"].categories[code] for code in claims.answer]
    ['flu', 'cold', 'ulcer']
    """

    def likelihood(self, release: ReportsRelease) -> Floats:
        """Log-likelihood of the first report."""
        (likelihood,) = round_likelihoods(release, rounds=1)
        return likelihood


# Longitudinal averaging: infers each person's value from all of their reports.


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
