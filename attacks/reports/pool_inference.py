"""Inferring from several randomized reports which pool of items a person prefers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import RankedAnswers
from attacks.reports.report_likelihood import posterior, reported_column, round_likelihoods
from defenses.base.microdata import Microdata
from defenses.base.release import ReportsRelease
from metrics.arrays import Floats
from metrics.domains import NumericDomain


class PoolInference(Attack):
    """Names the pool of the largest posterior given all reports of a person, each about another item.

    From other people, whose items it sees, it learns how often a person who prefers pool g reports item i. A report
    then has the likelihood sum_i P(i | g) P(report | i), the reports of a person multiply, and the share of people who
    prefer g is the prior. Items pass as independent given the pool. It beats the guess of the commonest pool, and is
    the surer the more reports there are, though each keeps its epsilon.

    References
    ----------
    Gadotti, Houssiau, Annamalai and de Montjoye (2022), Pool inference attacks on local differential privacy,
    section 4.
    """

    kind: ClassVar[str] = "reports"
    goal: ClassVar[str] = "pool"

    def run(self, release: ReportsRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Name one pool a person; ties are broken at random.

        Raises
        ------
        NotApplicable
            If the protocol has no likelihood, reports are not linked to persons, or the column has no pools.
        """
        column = reported_column(knowledge)
        others = knowledge.auxiliary
        if others.person is None or column not in others.hierarchies:
            raise NotApplicable("pool inference takes several reports a person, and pools as the column's hierarchy")
        item_of_report = np.sum(round_likelihoods(release), axis=0)
        d = item_of_report.shape[1]
        pools = pool_of_each(others, column)
        prior, items = _habits(others, column, pools, d)
        top = item_of_report.max(axis=1, keepdims=True)
        likelihood = np.log(np.exp(item_of_report - top) @ items.T)
        persons = knowledge.candidates[others.person].to_numpy()
        logs = np.tile(np.log(prior), (int(persons.max()) + 1, 1))
        np.add.at(logs, persons, likelihood)
        return RankedAnswers.from_scores(posterior(logs), rng, depth=1)


def pool_of_each(records: Microdata, column: str) -> NDArray[np.intp]:
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


def preferred_pools(
    records: Microdata, column: str, pools: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which pool most of each person's items are from, the first of equals, shape (persons,), and each row's person.

    Returns
    -------
    preferred : ndarray of int, shape (persons,)
        By person, in the order of their sorted names.
    person : ndarray of int, shape (rows,)
        Position of each row's person.
    """
    _, person = np.unique(records.frame[records.person].to_numpy(), return_inverse=True)
    codes = records.domain(column).codes(records.frame[column])
    count = int(pools.max()) + 1
    persons = int(person.max(initial=-1)) + 1
    table = np.bincount(person * count + pools[codes], minlength=persons * count).reshape(persons, count)
    return table.argmax(axis=1), person


def _habits(records: Microdata, column: str, pools: NDArray[np.intp], d: int) -> tuple[Floats, Floats]:
    """Share of people who prefer each pool, shape (pools,), and of their items, shape (pools, d)."""
    count = int(pools.max()) + 1
    preferred, person = preferred_pools(records, column, pools)
    codes = records.domain(column).codes(records.frame[column])
    prior = np.bincount(preferred, minlength=count) + 1.0
    table = np.bincount(preferred[person] * d + codes, minlength=count * d).reshape(count, d)
    # What nobody reported so far is as likely as one occurrence spread as in all people together.
    overall = table.sum(axis=0) + 1.0
    smoothed = table + overall / overall.sum()
    return prior / prior.sum(), smoothed / smoothed.sum(axis=1, keepdims=True)
