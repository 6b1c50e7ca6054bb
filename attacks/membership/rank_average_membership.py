"""Membership inference by the mean rank of several attacks, none of which repeats the mechanism."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge, answers_of_parts, checked_parts
from attacks.membership.density_ratio_membership import DensityRatioMembership
from attacks.membership.distance_to_closest_record import DistanceToClosestRecord, EuclideanClosestRecord
from attacks.membership.local_likelihood_membership import LocalLikelihoodMembership
from attacks.membership.marginal_membership import MarginalMembership
from defenses.base import MicrodataRelease


class RankAverageMembership(Attack):
    """Membership inference by the mean rank that several attacks give to a candidate.

    Attacks whose scores have different units are joined by their ranks. Nothing is learned, so that no attack need
    repeat the mechanism. Where the attacker can, `EnsembleMembership` learns how much each part says. Parts that do not
    fit the release are left out.

    It beats `DistanceToClosestRecord`, and not the best of its parts. The mechanism was secret, 120 members and 120
    others of Adult were asked about, and means of three plays are over five releases. These were `Mondrian` (k = 5),
    `RetentionReplacement` (70 %), `AdditiveNoise` (.5), `ClassificationTrees` (5) and `NeighbourInterpolation` (5).
    Its area under the curve was .85, that of `DistanceToClosestRecord` .76 and that of `LocalLikelihoodMembership` .86.
    With `LinkageMembership` in place of `EuclideanClosestRecord` it was .88, as for `LinkageMembership` alone. On none
    of the releases was it the weakest.

    Parameters
    ----------
    attacks : sequence of Attack, optional
        Membership attacks; by default those of this family that need one table of other people at most:
        `DistanceToClosestRecord`, `EuclideanClosestRecord`, `DensityRatioMembership`, `LocalLikelihoodMembership` and
        `MarginalMembership`.

    References
    ----------
    Dwork, Kumar, Naor and Sivakumar (2001), Rank aggregation methods for the web, for Borda's mean rank.
    """

    called = ("Rank average", "Borda count")

    goal = "membership"

    def __init__(self, *, attacks: Sequence[Attack] | None = None) -> None:
        self.attacks = checked_parts(
            attacks,
            lambda attack: isinstance(attack, Attack) and attack.goal == "membership",
            "attacks must name members",
        )

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Ask every part, and average the ranks of its scores.

        Raises
        ------
        NotApplicable
            If no part fits the release.
        """
        from scipy.stats import rankdata

        parts = self.attacks or (
            DistanceToClosestRecord(rounds=1),
            EuclideanClosestRecord(rounds=1),
            DensityRatioMembership(rounds=1),
            LocalLikelihoodMembership(),
            MarginalMembership(rounds=1),
        )
        decisions = answers_of_parts(parts, lambda part, own: Decisions.of(part.run(release, knowledge, own)), rng)
        return Decisions(np.mean([rankdata(one.scores) for one in decisions], axis=0))
