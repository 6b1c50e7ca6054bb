"""Value guess: infers each person's value from one randomized report."""

from __future__ import annotations

from attacks.reports.report_likelihood import round_likelihoods
from attacks.reports.reported_value import ReportedValue
from defenses.base import ReportsRelease
from metrics.columns import Floats


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
