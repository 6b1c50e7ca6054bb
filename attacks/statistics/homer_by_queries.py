"""Membership by the histograms that a curator answers."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import Decisions
from attacks.base.marginals import Attributes, likelihood_ratio_scores
from attacks.statistics.query_budget import ask, even_share
from defenses.base.queries import Histogram, QuerySession


class HomerByQueries(Attack):
    """Asks a curator for the histogram of every column, and calls those members who look like the answers.

    The score is that of `MarginalLikelihoodRatio`, with the answers as released shares (negative counts as none) and
    the auxiliary people's as the population's. A budget is divided evenly among the columns; columns that are refused
    count as the population's.

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
        if not len(people):
            raise NotApplicable("the attacker has no people of its own to compare with")
        columns = list(people.released_columns)
        for name in columns:
            if name not in knowledge.candidates:
                raise ValueError(f"the candidates have no column {name!r}")
        attributes = Attributes(dict(knowledge.domains(columns)))
        population = attributes.shares(people.frame[columns])
        published = population.copy()
        share = even_share(release, len(columns))
        for name, part in zip(columns, np.split(np.arange(population.size), attributes.ends), strict=True):
            answer = ask(release, Histogram(name), share)
            if answer is None:
                continue
            counts = np.maximum(answer, 0.0)
            if counts.sum() > 0:
                # The last attribute of a column is the missing value, which no histogram counts.
                published[part[:-1]] = counts / counts.sum() * (1 - population[part[-1]])
        floor = 1 / len(knowledge.candidates)
        return Decisions(likelihood_ratio_scores(attributes, knowledge.candidates, published, population, floor))
