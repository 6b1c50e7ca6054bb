"""Inference of each person's value from randomized reports."""

from __future__ import annotations

from abc import abstractmethod

from numpy.random import Generator

from attacks.base import Attack, Knowledge, RankedAnswers
from attacks.reports.report_likelihood import log_prior, posterior, reported_column
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
