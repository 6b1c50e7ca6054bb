"""Differencing attack: a person's value is the difference of statistics with and without that person."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.statistics.query_budget import ask, even_share
from attacks.statistics.statistical_disclosure import StatisticalDisclosure, StatisticsKnowledge
from defenses.base.queries import Query, QuerySession
from metrics.columns import Floats, check_integer


class Differencing(StatisticalDisclosure):
    """Asks for a statistic with and without each person, and takes the difference.

    Exact answers give each value exactly. If 100 people spend 10,000 on average and 101 people 20,000, the additional
    person spends 2,020,000 - 1,000,000 = 1,020,000. Noise of scale s in each sum leaves an error of about 2 s. A budget
    is divided evenly among the queries.

    The attack assumes queries that differ in one person. It is the baseline of `Averaging` and `Reconstruction`.

    References
    ----------
    Denning and Schlörer (1980), A fast procedure for finding a tracker in a statistical database.

    Examples
    --------
    An exact curator discloses the value of the last person:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import Differencing
    >>> from attacks.statistics.statistical_disclosure import LinearSecret, StatisticsKnowledge
    >>> from defenses import ExactCurator, Microdata
    >>> from defenses.base.queries import Sum
    >>> records = Microdata(pd.DataFrame({"income": [30, 50, 90]}))
    >>> queries = (Sum("income"), Sum("income", members=np.array([True, True, False])))
    >>> nobody = records.take([])
    >>> knowledge = StatisticsKnowledge(nobody.frame, nobody, targets=(LinearSecret(queries, (1.0, -1.0)),), high=100.0)
    >>> session = ExactCurator().apply(records, np.random.default_rng(0)).open(np.random.default_rng(1))
    >>> Differencing().run(session, knowledge, np.random.default_rng(2)).values["value"].tolist()
    [90.0]
    """

    called = ("Differencing attack",)

    def secrets(self, session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator) -> list[Floats | None]:
        """Ask each distinct query once."""
        queries = {query for target in knowledge.targets for query in target.queries}
        return estimates(session, knowledge, rng, repeats=1, epsilon=even_share(session, len(queries)))


def estimates(
    session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator, *, repeats: int, epsilon: float | None
) -> list[Floats | None]:
    """Each target's weighted sum of mean answers, None if one of its queries was never answered.

    Parameters
    ----------
    session : QuerySession
        Answers the queries.
    knowledge : StatisticsKnowledge
        Holds the targets. They are processed in random order, so that a budget that runs out favours nobody.
    rng : Generator
        Draws the order of the targets.
    repeats : int
        Number of times each distinct query is asked; the queries of a target alternate.
    epsilon : float or None
        Budget of each query; the curator's own share if None.
    """
    means: dict[Query, Floats | None] = {}
    secrets: list[Floats | None] = [None] * len(knowledge.targets)
    for position in rng.permutation(len(knowledge.targets)):
        target = knowledge.targets[position]
        means |= _mean_answers(session, [query for query in target.queries if query not in means], repeats, epsilon)
        answers = [means[query] for query in target.queries]
        terms = [weight * answer for weight, answer in zip(target.weights, answers, strict=True) if answer is not None]
        if len(terms) == len(answers):
            secrets[position] = np.sum(terms, axis=0)
    return secrets


def _mean_answers(
    session: QuerySession, queries: list[Query], repeats: int, epsilon: float | None
) -> dict[Query, Floats | None]:
    answers: dict[Query, list[Floats]] = {query: [] for query in queries}
    for _ in range(repeats):
        for query in queries:
            answer = ask(session, query, epsilon)
            if answer is not None:
                answers[query].append(answer)
    return {query: np.mean(received, axis=0) if received else None for query, received in answers.items()}


# Averaging attack: repeats queries so that independent noise cancels.


class Averaging(StatisticalDisclosure):
    """Differencing with every query repeated and its answers averaged.

    Fresh noise of standard deviation s on each answer leaves s / sqrt(repeats) on their mean. The attack assumes a
    curator who spends a budget on each answer but keeps no account of the total. Such a curator becomes as good as
    exact after enough queries.

    It extends `Differencing` and beats it on such curators. A curator who keeps account refuses at some point, and the
    attack uses the answers so far. It then does not beat `Differencing`, since one answer at epsilon is more
    informative than r answers at epsilon / r.

    Parameters
    ----------
    repeats : int
        Number of times each query is asked, at least 1.

    Raises
    ------
    ValueError
        If `repeats` is not an integer of at least 1.

    References
    ----------
    Dwork and Roth (2014), The algorithmic foundations of differential privacy, section 1.1.
    """

    def __init__(self, *, repeats: int = 1000) -> None:
        self.repeats = check_integer("repeats", repeats, low=1)

    def secrets(self, session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator) -> list[Floats | None]:
        """Ask each target's queries repeatedly and average the answers."""
        return estimates(session, knowledge, rng, repeats=self.repeats, epsilon=None)
