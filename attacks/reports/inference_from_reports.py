"""Attacks on local reports: the value of a person, and the pool of items that a person prefers."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Knowledge, NotApplicable, RankedAnswers, applicable, given, softmax
from defenses.base import Microdata, ReportsRelease
from metrics.columns import Floats, Integers, NumericDomain


def round_likelihoods(release: ReportsRelease, rounds: int | None = None) -> list[Floats]:
    """Log-likelihood of each value under each report, one table of shape (n, d) for each distinct round.

    Rounds that repeat an earlier one (memoized reports) count once. If the protocol has no ``log_likelihood(reports)``,
    or there is no round, `NotApplicable` is raised.

    - rounds: Number of rounds to read, from the first; None for all.
    """
    likelihood = given(getattr(release.protocol, "log_likelihood", None), "the reports' protocol has no likelihood")
    applicable(len(release.reports), "there is no report")
    tables: list[Floats] = []
    for reports in release.reports[:rounds]:
        table = np.asarray(likelihood(reports), dtype=float)
        # Memoized reports are equal in every round for every row; fresh ones practically never are.
        if not any(np.array_equal(table, earlier) for earlier in tables):
            tables.append(table)
    return tables


def log_prior(knowledge: Knowledge, column: str, d: int) -> Floats:
    """Log of each value's share among the attacker's people, with one person added to each value; shape (d,)."""
    records = knowledge.auxiliary
    codes = records.domain(column).codes(records.frame[column])
    counts = np.bincount(codes[codes < d], minlength=d) + 1.0
    return np.asarray(np.log(counts / counts.sum()))


def reported_column(knowledge: Knowledge) -> str:
    """The column that the reports are about: the first sensitive one, or `NotApplicable` if there is none."""
    applicable(knowledge.auxiliary.sensitive, "nothing says which column the reports are about")
    return knowledge.auxiliary.sensitive[0]


class ReportedValue(Attack):
    """Base class of attacks that name the value of largest posterior given a person's reports.

    The prior is the values' shares among the attacker's people.
    """

    kind = "reports"
    goal = "value"

    @abstractmethod
    def likelihood(self, release: ReportsRelease) -> Floats:
        """Log-likelihood of each value for each person, shape (n, d)."""

    def run(self, release: ReportsRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Name one value for each person; ties are broken at random.

        If the protocol has no likelihood, or the attacker's people have no sensitive column, `NotApplicable` is raised.
        """
        likelihood = self.likelihood(release)
        logs = likelihood + log_prior(knowledge, reported_column(knowledge), likelihood.shape[1])
        return RankedAnswers.from_scores(softmax(logs), rng, depth=1)


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
        return round_likelihoods(release, rounds=1)[0]


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


class PoolInference(Attack):
    """Names the pool of largest posterior given all reports of a person on different items.

    The attacker learns from other people, whose items it sees, how often a person who prefers pool g reports item i. A
    report then has likelihood sum_i P(i | g) P(report | i), and the reports of a person multiply. The prior is the
    share of people who prefer g.

    The attack assumes that a person's reports are linked and that items are independent given the pool. It extends the
    guess of the commonest pool and beats it. It gains confidence with the number of reports, though each keeps its
    epsilon.

    References
    ----------
    Gadotti, Houssiau, Annamalai and de Montjoye (2022), Pool inference attacks on local differential privacy,
    section 4.
    """

    kind = "reports"
    goal = "pool"

    def run(self, release: ReportsRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Name one pool for each person; ties are broken at random.

        Raises
        ------
        NotApplicable
            If the protocol has no likelihood, reports are not linked to persons, or the column has no pools.
        """
        column = reported_column(knowledge)
        auxiliary = knowledge.auxiliary
        applicable(
            auxiliary.person is not None and column in auxiliary.hierarchies,
            "pool inference needs several reports a person, and pools as the column's hierarchy",
        )
        item_of_report = np.sum(round_likelihoods(release), axis=0)
        d = item_of_report.shape[1]
        prior, item_shares = _item_shares(auxiliary, column, pool_of_each(auxiliary, column), d)
        top = item_of_report.max(axis=1, keepdims=True)
        likelihood = np.log(np.exp(item_of_report - top) @ item_shares.T)
        persons = knowledge.candidates[auxiliary.person].to_numpy()
        logs = np.tile(np.log(prior), (int(persons.max()) + 1, 1))
        np.add.at(logs, persons, likelihood)
        return RankedAnswers.from_scores(softmax(logs), rng, depth=1)


def pool_of_each(records: Microdata, column: str) -> Integers:
    """Pool of each value in the column's domain, shape (d,): level 1 of its hierarchy.

    A column of numbers raises `NotApplicable`.
    """
    domain = records.domain(column)
    if isinstance(domain, NumericDomain):
        raise NotApplicable("pools are of categories, the column holds numbers")
    codes, _ = records.hierarchies[column].group(np.asarray(domain.categories, dtype=object), 1)
    return codes


def preferred_pools(records: Microdata, column: str, pools: Integers) -> tuple[Integers, Integers]:
    """Pool that contains most of each person's items (the first of equals), and the person of each row.

    Persons, shape (persons,), are in the order of their sorted names.
    """
    _, person = np.unique(records.frame[records.person].to_numpy(), return_inverse=True)
    codes = records.domain(column).codes(records.frame[column])
    count = int(pools.max()) + 1
    persons = int(person.max(initial=-1)) + 1
    table = np.bincount(person * count + pools[codes], minlength=persons * count).reshape(persons, count)
    return table.argmax(axis=1), person


def _item_shares(records: Microdata, column: str, pools: Integers, d: int) -> tuple[Floats, Floats]:
    """Share of people who prefer each pool, shape (pools,), and shares of their items, shape (pools, d)."""
    count = int(pools.max()) + 1
    preferred, person = preferred_pools(records, column, pools)
    codes = records.domain(column).codes(records.frame[column])
    prior = np.bincount(preferred, minlength=count) + 1.0
    table = np.bincount(preferred[person] * d + codes, minlength=count * d).reshape(count, d)
    # Smoothing: one occurrence in each pool, spread like the items of all people together.
    overall = table.sum(axis=0) + 1.0
    smoothed = table + overall / overall.sum()
    return prior / prior.sum(), smoothed / smoothed.sum(axis=1, keepdims=True)
