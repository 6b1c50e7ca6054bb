"""Membership inference from marginal frequencies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from attacks.base import BinaryAttributes, Knowledge, common_columns, homer_scores, likelihood_ratio_scores
from attacks.membership.distance_to_closest_record import CalibratedMembership
from defenses.base import MicrodataRelease
from metrics.columns import Floats


class Homer(CalibratedMembership):
    r"""Compares a person's attributes with the released and the population's frequencies.

    Every category and every public bin of a column is an attribute yⱼ in {0, 1}. A person scores ∑ⱼ \|yⱼ - popⱼ\| -
    \|yⱼ - pubⱼ\|, where pub are the released frequencies. The population's frequencies pop are those of tables of other
    people, released as the publisher does where the mechanism is known.

    The attack assumes auxiliary people of the same population. It reads marginals only, so neither shuffling the
    columns nor resampling them from their marginals protects against it. It needs many attributes or few members. It is
    the baseline for `MarginalLikelihoodRatio`.

    Parameters
    ----------
    rounds : int
        Number of tables over which the population's frequencies are averaged, at least 1.

    References
    ----------
    Homer and others (2008), Resolving individuals contributing trace amounts of DNA to highly complex mixtures.
    """

    called = ("Homer", "Homer's attack")

    def scores(self, release: MicrodataRelease, tables: Iterator[MicrodataRelease], knowledge: Knowledge) -> Floats:
        """Homer's statistic of each candidate."""
        return marginal_scores(release, tables, knowledge, homer_scores)


class MarginalLikelihoodRatio(CalibratedMembership):
    """Likelihood-ratio test of a person's attributes under the released and the population's frequencies.

    It extends `Homer`: the score sums log pub / pop instead of differences, so rare attributes weigh more. Like `Homer`
    it assumes auxiliary people of the same population and reads marginals only. It is the most powerful test where
    columns are independent.

    Parameters
    ----------
    rounds : int
        Number of tables over which the population's frequencies are averaged, at least 1.

    References
    ----------
    Sankararaman, Obozinski, Jordan and Halperin (2009), Genomic privacy and limits of individual detection in a pool.
    """

    def scores(self, release: MicrodataRelease, tables: Iterator[MicrodataRelease], knowledge: Knowledge) -> Floats:
        """Log-likelihood ratio of released to population frequencies for each candidate."""
        # Half a row, added to each share to keep the logarithm finite.
        floor = 0.5 / max(1, len(release.frame))
        return marginal_scores(release, tables, knowledge, partial(likelihood_ratio_scores, floor=floor))


def marginal_scores(
    release: MicrodataRelease, tables: Iterable[MicrodataRelease], knowledge: Knowledge, score: Callable[..., Floats]
) -> Floats:
    """Score candidates by their attributes, the released frequencies and the population's.

    - tables: Reference tables; their mean shares are the population's.
    - score: ``score(attributes, people, published, population)``, shape (people,).
    """
    attributes = BinaryAttributes(dict(knowledge.domains(common_columns(release, knowledge))))
    shares = [attributes.shares(table.frame) for table in tables if len(table.frame)]
    if release.frame.empty or not shares:
        return np.zeros(len(knowledge.candidates))
    population = np.mean(shares, axis=0)
    return score(attributes, knowledge.candidates, attributes.shares(release.frame), population)
