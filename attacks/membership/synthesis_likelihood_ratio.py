"""LiRA on synthetic tables: a likelihood ratio of a table's density with and without a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from attacks.base import Decisions, Knowledge, applicable, common_columns
from attacks.membership.fitted_kernels import fitted_kernels
from attacks.membership.kernel_evidence import KernelEvidence, evidence_of_release, evidence_of_shadows
from attacks.membership.reference_tables import RepeatedMembership, ShadowSynthesis, evenly_spaced, shadow_syntheses
from defenses.base import MicrodataRelease
from metrics.columns import Booleans, Floats

# Auxiliary people who teach the attack, and smallest standard deviation of a log-density.
PEOPLE, SMALLEST_DEVIATION = 400, 0.05


class SynthesisLikelihoodRatio(RepeatedMembership):
    """Membership inference by the likelihood ratio of a log-density in shadow syntheses with and without a person.

    The statistic of a person is the log-density of a table at its record (`attacks.membership.mixture_kernel`). Given
    the person's mean in tables without it, the statistic is normal with a linear mean and a constant variance: one pair
    for members, and one for others. Both are learned from the auxiliary people, who are in some shadow syntheses and
    not in others. The score is the log-likelihood ratio of the statistic in the release.

    The attack is offline: tables are made of auxiliary people only, before any candidate is known. It assumes that they
    are of the same population. It extends `DistanceToClosestRecord`, which subtracts the person's mean: the slopes say
    how much of it to subtract, and the variances how much a deviation means. Its mean area
    under the curve was .73 on the releases that `EnsembleMembership` names, and that of the other attack .65.
    `DensityRatioMembership` had .73, too.

    Parameters
    ----------
    rounds : int
        Number of shadow syntheses, at least 2.

    Notes
    -----
    A ratio of normal densities with two variances has a turning point. The statistic is cut there, so that a larger one
    never counts against membership.

    References
    ----------
    Carlini, Chien, Nasr, Song, Terzis and Tramèr (2022), Membership inference attacks from first principles, section 5.
    """

    fewest_rounds = 2

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attacker cannot repeat the defense on its people at least twice.
        ValueError
            If release and candidates share no column, or a cell or a value lies outside the column's domain.
        """
        shadows, taught, member = taught_shadows(release, knowledge, self.rounds)
        kernels = fitted_kernels(release, knowledge)
        lessons = evidence_of_shadows(shadows, taught, kernels, member)
        released = evidence_of_release(release, shadows, knowledge, kernels, taught.candidates)
        return Decisions(normal_ratio(released, lessons, member))


def taught_shadows(
    release: MicrodataRelease, knowledge: Knowledge, rounds: int
) -> tuple[list[ShadowSynthesis], Knowledge, Booleans]:
    """At least two shadow syntheses, at most 400 of the attacker's people as candidates, and who is in which.

    If there are fewer shadow syntheses, `NotApplicable` is raised.
    """
    people = knowledge.auxiliary.frame.reindex(columns=common_columns(release, knowledge))
    shadows = list(shadow_syntheses(release, knowledge, rounds))
    applicable(len(shadows) >= 2, "the attacker cannot repeat the defense on people of its own twice")
    some = evenly_spaced(len(people), PEOPLE)
    member = np.array([shadow.member[some] for shadow in shadows])
    return shadows, replace(knowledge, candidates=people.iloc[some]), member


def normal_ratio(released: KernelEvidence, lessons: Sequence[KernelEvidence], member: Booleans) -> Floats:
    """Log-likelihood ratio of each candidate's log-density under two normal distributions, shape (candidates,).

    - released: Evidence of the release about the candidates.
    - lessons: Evidence of shadow syntheses about the attacker's people.
    - member, shape (shadows, people): Who is in which shadow synthesis.
    """
    near, expected = (np.concatenate([getattr(part, name) for part in lessons]) for name in ("near", "expected"))
    inside = member.ravel()
    if inside.all() or not inside.any():
        return released.near - released.expected
    (within, spread), (without, usual) = (_line(expected[who], near[who]) for who in (inside, ~inside))
    mean_in, mean_out = (line[0] + line[1] * released.expected for line in (within, without))
    statistic = released.near
    if spread != usual:
        turning = (usual**2 * mean_in - spread**2 * mean_out) / (usual**2 - spread**2)
        statistic = np.minimum(statistic, turning) if usual > spread else np.maximum(statistic, turning)
    return np.asarray(
        ((statistic - mean_out) / usual) ** 2 / 2 - ((statistic - mean_in) / spread) ** 2 / 2 + np.log(usual / spread)
    )


def _line(expected: Floats, near: Floats) -> tuple[Floats, float]:
    """Intercept and slope of a regression, and the standard deviation of its residuals."""
    design = np.column_stack([np.ones(expected.size), expected])
    line = np.linalg.lstsq(design, near, rcond=None)[0]
    return np.asarray(line, dtype=float), max(SMALLEST_DEVIATION, float((near - design @ line).std()))
