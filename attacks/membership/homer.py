"""Membership by marginal frequencies alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from attacks.base.attack import Knowledge
from attacks.base.marginals import Attributes, homer_scores, likelihood_ratio_scores
from attacks.base.sides import common_columns
from attacks.membership.calibrated_membership import CalibratedMembership
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats


class Homer(CalibratedMembership):
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

    def scores(self, release: MicrodataRelease, tables: Iterator[MicrodataRelease], knowledge: Knowledge) -> Floats:
        """How much nearer attributes lie to the release's frequencies than to the tables'."""
        return marginal_scores(release, tables, knowledge, homer_scores)


class MarginalLikelihoodRatio(CalibratedMembership):
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

    def scores(self, release: MicrodataRelease, tables: Iterator[MicrodataRelease], knowledge: Knowledge) -> Floats:
        """Log-likelihood ratio of the attributes under the release's and under the tables' frequencies."""
        # Half a row: what a share of nobody may hide.
        floor = 0.5 / max(1, len(release.frame))
        return marginal_scores(release, tables, knowledge, partial(likelihood_ratio_scores, floor=floor))


def marginal_scores(
    release: MicrodataRelease, tables: Iterable[MicrodataRelease], knowledge: Knowledge, score: Callable[..., Floats]
) -> Floats:
    """Score candidates by a function of attributes, people, released and population frequencies."""
    columns = common_columns(release, knowledge)
    attributes = Attributes(dict(knowledge.domains(columns)))
    shares = [attributes.shares(table.frame) for table in tables if len(table.frame)]
    if release.frame.empty or not shares:
        return np.zeros(len(knowledge.candidates))
    population = np.mean(shares, axis=0)
    return score(attributes, knowledge.candidates, attributes.shares(release.frame), population)
