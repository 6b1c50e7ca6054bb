"""Pool inference: infers a person's preferred pool of items from several randomized reports."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Knowledge, NotApplicable, RankedAnswers, applicable
from attacks.reports.report_likelihood import posterior, reported_column, round_likelihoods
from defenses.base import Microdata, ReportsRelease
from metrics.columns import Floats, Integers, NumericDomain


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
        return RankedAnswers.from_scores(posterior(logs), rng, depth=1)


def pool_of_each(records: Microdata, column: str) -> Integers:
    """Pool of each value in the column's domain, shape (d,): level 1 of its hierarchy.

    Raises
    ------
    NotApplicable
        If the column holds numbers.
    """
    domain = records.domain(column)
    if isinstance(domain, NumericDomain):
        raise NotApplicable("pools are of categories, the column holds numbers")
    codes, _ = records.hierarchies[column].group(np.asarray(domain.categories, dtype=object), 1)
    return codes


def preferred_pools(records: Microdata, column: str, pools: Integers) -> tuple[Integers, Integers]:
    """The pool that contains most of each person's items (the first of equals), and the person of each row.

    Returns
    -------
    preferred : ndarray of int, shape (persons,)
        Pool of each person, in the order of their sorted names.
    person : ndarray of int, shape (rows,)
        Position of each row's person.
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
