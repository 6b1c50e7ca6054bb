"""Attacks on finished releases, none of which needs to repeat the mechanism or to compare all rows with all people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import attacks as a
from attacks.base.attack import Attack
from metrics.score import Score
from scenarios.assessment.evaluation.measured_attack import MeasuredAttack

EVERYTHING, QUASI, NOTHING, HALVES = "everything", "quasi-identifiers", "nothing", "two halves"
"""What the attacker knows of its targets."""
ROWS: tuple[Attack, ...] = (a.NearestNeighbour(), a.AssignmentLinkage(), a.SweeneyJoin())
COSTLY_ROWS: tuple[Attack, ...] = (a.ExpectationMaximizationLinkage(),)
QUASI_ROWS: tuple[Attack, ...] = (a.NearestNeighbour(), a.SweeneyJoin())
MEMBERS: tuple[Attack, ...] = (
    a.DistanceToClosestRecord(rounds=1),
    a.DensityRatioMembership(rounds=1),
    a.Homer(rounds=1),
    a.MarginalLikelihoodRatio(rounds=1),
)
ATTRIBUTES: tuple[Attack, ...] = (
    a.MajorityInClass(),
    a.Homogeneity(),
    a.DeFinetti(),
    a.BayesInference(),
    a.ClassifierInference(),
)
SINGLING_OUT: tuple[Attack, ...] = (a.UnivariateSinglingOut(), a.MultivariateSinglingOut())
LINKS: tuple[Attack, ...] = (a.NearestRowLinkability(),)


class Tied(NamedTuple):
    """Score of an attack whose claims are the same about everybody, so that what it hits is luck.

    Parameters
    ----------
    score : Score
        The score.
    """

    score: Score


def attempted(
    attack: Attack, knows: str, play: Callable[[], Score | Tied], column: str = "", *, nothing_told: bool = False
) -> MeasuredAttack:
    """Outcome of one attack; an attack that does not fit is skipped with its reason.

    Where the release tells nobody apart, what the attack hits is luck: it is right as often as guessing.
    """
    blank = MeasuredAttack(attack=type(attack).__name__, goal=attack.goal, knows=knows, column=column)
    try:
        score = play()
        if isinstance(score, Tied):
            score, nothing_told = score.score, True
        elif nothing_told and score.rate is None:
            # Nothing was claimed, as where no row stands out.
            score = replace(score, rate=score.chance)
    except (a.NotApplicable, ValueError) as reason:
        return replace(blank, reason=" ".join(str(reason).split()))
    except MemoryError:
        return replace(blank, reason="too many pairs of rows and people for this machine's memory")
    if score.advantage is None:
        return replace(blank, reason="nothing to be right or wrong about")
    if nothing_told:
        score = replace(score, rate=score.chance)
    return replace(blank, score=score, nothing_told=nothing_told)
