"""Membership by marginal frequencies alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.attack import Attack, Knowledge
from attacks.claims import Decisions
from attacks.linkage import common_columns
from attacks.marginals import Attributes, homer_scores, likelihood_ratio_scores
from attacks.reference_tables import reference_tables
from defenses.parameters import check_whole
from defenses.release import MicrodataRelease

Floats = NDArray[np.float64]


class Homer(Attack):
    r"""Calls those members whose attributes lie nearer to the released frequencies than to the population's.

    Every category and public bin of every column is an attribute yⱼ in {0, 1}; the score of a person is
    ∑ⱼ \|yⱼ - popⱼ\| - \|yⱼ - pubⱼ\|, with pub the released frequencies and pop those of tables of other people
    (released as the publisher does where that is known). It needs no row of the release, so that shuffling columns or
    drawing them anew from their marginals is no answer to it; it needs many attributes, or few members.

    Parameters
    ----------
    rounds : int
        Over how many tables of other people the population's frequencies are averaged, at least 1.

    References
    ----------
    Homer and others (2008), Resolving individuals contributing trace amounts of DNA to highly complex mixtures.
    """

    goal = "membership"

    def __init__(self, *, rounds: int = 6) -> None:
        check_whole("rounds", rounds, low=1)
        self.rounds = rounds

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attacker has no people of its own.
        ValueError
            If release and candidates share no column, or a cell or a value lies outside the column's domain.
        """
        return marginal_decisions(release, knowledge, self.rounds, rng, homer_scores)


class MarginalLikelihoodRatio(Attack):
    """Calls those members whose attributes the release holds more of than the population does, as a likelihood ratio.

    It looks at what `Homer` looks at, with log pub / pop in place of differences: rare attributes weigh more. Where
    columns are independent, this is the best test there is.

    Parameters
    ----------
    rounds : int
        Over how many tables of other people the population's frequencies are averaged, at least 1.

    References
    ----------
    Sankararaman, Obozinski, Jordan and Halperin (2009), Genomic privacy and limits of individual detection in a pool.
    """

    goal = "membership"

    def __init__(self, *, rounds: int = 6) -> None:
        check_whole("rounds", rounds, low=1)
        self.rounds = rounds

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attacker has no people of its own.
        ValueError
            If release and candidates share no column, or a cell or a value lies outside the column's domain.
        """
        # Half a row: what a share of nobody may hide.
        floor = 0.5 / max(1, len(release.frame))
        return marginal_decisions(release, knowledge, self.rounds, rng, partial(likelihood_ratio_scores, floor=floor))


def marginal_decisions(
    release: MicrodataRelease,
    knowledge: Knowledge,
    rounds: int,
    rng: Generator,
    score: Callable[..., Floats],
) -> Decisions:
    """Decide by a score of attributes, people, released and population frequencies."""
    columns = common_columns(release, knowledge)
    attributes = Attributes(dict(knowledge.domains(columns)))
    tables = reference_tables(release, knowledge, rounds, rng)
    shares = [attributes.shares(table.frame) for table in tables if len(table.frame)]
    if release.frame.empty or not shares:
        return Decisions(np.zeros(len(knowledge.candidates)))
    population = np.mean(shares, axis=0)
    return Decisions(score(attributes, knowledge.candidates, attributes.shares(release.frame), population))
