"""Differencing: somebody's value as the difference of statistics with and without them."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.statistics.query_budget import ask, even_share
from attacks.statistics.statistical_disclosure import StatisticalDisclosure
from attacks.statistics.statistics_knowledge import StatisticsKnowledge
from defenses.base.queries import Query, QuerySession
from metrics.arrays import Floats


class Differencing(StatisticalDisclosure):
    """Ask once with and once without each person, and take the difference.

    With exact answers it gives each value exactly: 100 people who spend 10,000 on average and 101 who spend 20,000
    differ by one who spends 1,020,000. Noise of scale s in each sum leaves an error of about 2 s. A budget is divided
    evenly among the questions.

    References
    ----------
    Denning and Schlörer (1980), A fast procedure for finding a tracker in a statistical database.
    """

    def secrets(self, session: QuerySession, known: StatisticsKnowledge, rng: Generator) -> list[Floats | None]:
        """Ask each different question once."""
        questions = {query for target in known.targets for query in target.queries}
        return estimates(session, known, rng, repeats=1, epsilon=even_share(session, len(questions)))


def estimates(
    session: QuerySession, known: StatisticsKnowledge, rng: Generator, *, repeats: int, epsilon: float | None
) -> list[Floats | None]:
    """Each target's weighted sum of mean answers; None where one of its queries was never answered.

    Parameters
    ----------
    session : QuerySession
        Who is asked.
    known : StatisticsKnowledge
        What; targets take their turn in random order, so that a budget that runs out favours nobody.
    rng : Generator
        Draws the order.
    repeats : int
        How often each different query is asked; those of a target alternate.
    epsilon : float or None
        What each question spends; the curator's share where None.
    """
    means: dict[Query, Floats | None] = {}
    found: list[Floats | None] = [None] * len(known.targets)
    for position in rng.permutation(len(known.targets)):
        target = known.targets[position]
        means |= _mean_answers(session, [query for query in target.queries if query not in means], repeats, epsilon)
        answers = [means[query] for query in target.queries]
        terms = [weight * answer for weight, answer in zip(target.weights, answers, strict=True) if answer is not None]
        if len(terms) == len(answers):
            found[position] = np.sum(terms, axis=0)
    return found


def _mean_answers(
    session: QuerySession, queries: list[Query], repeats: int, epsilon: float | None
) -> dict[Query, Floats | None]:
    answers: dict[Query, list[Floats]] = {query: [] for query in queries}
    for _ in range(repeats):
        for query in queries:
            answer = ask(session, query, epsilon)
            if answer is not None:
                answers[query].append(answer)
    return {query: np.mean(heard, axis=0) if heard else None for query, heard in answers.items()}
