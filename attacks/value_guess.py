"""Guessing each person's value from one randomized report."""

from __future__ import annotations

from typing import ClassVar

from numpy.random import Generator

from attacks.attack import Attack, Knowledge
from attacks.claims import RankedAnswers
from attacks.report_likelihood import log_prior, posterior, reported_column, round_likelihoods
from defenses.release import ReportsRelease


class ValueGuess(Attack):
    """Names the value of the largest posterior given a person's first report and the shares in other people.

    With the true shares as prior nothing guesses right more often from one report. It beats the guess of the commonest
    value where some report outweighs the prior; at a small epsilon none does, and it is that guess.

    References
    ----------
    Gursoy, Liu, Chow, Truex and Wei (2022), An adversarial approach to protocol analysis and selection in local
    differential privacy, section 3.
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
        (likelihood,) = round_likelihoods(release, rounds=1)
        logs = likelihood + log_prior(knowledge, reported_column(knowledge), likelihood.shape[1])
        return RankedAnswers.from_scores(posterior(logs), rng, depth=1)
