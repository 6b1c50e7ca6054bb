"""Homer's test on the histograms that a curator answers."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, BinaryAttributes, Decisions, Knowledge, applicable, likelihood_ratio_scores
from attacks.statistics.query_budget import ask, even_share
from defenses.base.queries import Histogram, QuerySession
from metrics.columns import refuse


class HomerByQueries(Attack):
    """Membership inference from the histograms of all columns that a curator answers.

    The score is that of `MarginalLikelihoodRatio`. The answers are the released shares, with negative counts read as 0;
    the auxiliary people's shares are the population's. A budget is divided evenly among the columns. A refused column
    counts with the population's shares and so contributes nothing.

    The attack assumes auxiliary people of the same population. It extends `MarginalLikelihoodRatio` from released
    tables to curators.

    References
    ----------
    Homer and others (2008), Resolving individuals contributing trace amounts of DNA to highly complex mixtures;
    Sankararaman, Obozinski, Jordan and Halperin (2009), Genomic privacy and limits of individual detection in a pool.
    """

    kind = "statistics"
    goal = "membership"

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attacker has no people of its own.
        ValueError
            If the candidates lack a column, or a value lies outside its domain.
        """
        people = knowledge.auxiliary
        applicable(len(people), "the attacker has no people of its own to compare with")
        columns = list(people.released_columns)
        for name in columns:
            refuse(name not in knowledge.candidates, f"the candidates have no column {name!r}")
        attributes = BinaryAttributes(dict(knowledge.domains(columns)))
        population = attributes.shares(people.frame[columns])
        published = population.copy()
        share = even_share(release, len(columns))
        for name, part in zip(columns, np.split(np.arange(population.size), attributes.ends), strict=True):
            answer = ask(release, Histogram(name), share)
            if answer is None:
                continue
            counts = np.maximum(answer, 0.0)
            if counts.sum() > 0:
                # The last attribute of a column is the missing value, which histograms do not count.
                published[part[:-1]] = counts / counts.sum() * (1 - population[part[-1]])
        floor = 1 / len(knowledge.candidates)
        return Decisions(likelihood_ratio_scores(attributes, knowledge.candidates, published, population, floor))
