"""Attacks on finished releases, none of which needs to repeat the mechanism or to compare all rows with all people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import attacks as a
from attacks.base.attack import Attack
from metrics.score import Score
from scenarios.finished.measured_attack import MeasuredAttack

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


def attempted(attack: Attack, knows: str, play: Callable[[], Score], column: str = "") -> MeasuredAttack:
    """Outcome of one attack; an attack that does not fit is skipped with its reason."""
    blank = MeasuredAttack(attack=type(attack).__name__, goal=attack.goal, knows=knows, column=column)
    try:
        score = play()
    except (a.NotApplicable, ValueError) as reason:
        return replace(blank, reason=" ".join(str(reason).split()))
    except MemoryError:
        return replace(blank, reason="too many pairs of rows and people for this machine's memory")
    if score.advantage is None:
        return replace(blank, reason="nothing to be right or wrong about")
    return replace(blank, score=score)
