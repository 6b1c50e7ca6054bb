"""Membership in a training by its final model alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import Decisions
from attacks.membership.loss_threshold import LossThreshold
from defenses.base.microdata import Microdata
from defenses.base.release import ModelRelease, TrainingRelease


class ModelMembership(Attack):
    """Runs a membership attack on models against the model that a training ended with; updates are not looked at.

    Parameters
    ----------
    attack : Attack, optional
        A membership attack on models; `LossThreshold` by default.

    Raises
    ------
    ValueError
        If `attack` is none.
    """

    kind: ClassVar[str] = "training"
    goal: ClassVar[str] = "membership"

    def __init__(self, *, attack: Attack | None = None) -> None:
        if attack is not None and not (
            isinstance(attack, Attack) and attack.kind == "model" and attack.goal == "membership"
        ):
            raise ValueError(f"attack must be a membership attack on models, got {attack!r}")
        self.attack = attack

    def run(self, release: TrainingRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attack on models cannot work here.
        """
        train = knowledge.simulate

        def simulate(records: Microdata, rng: Generator) -> ModelRelease:
            assert train is not None  # noqa: S101 (handed on only where there is one)
            made: TrainingRelease = train(records, rng)
            return made.final()

        known = replace(knowledge, simulate=None if train is None else simulate)
        claims: Any = (self.attack or LossThreshold()).run(release.final(), known, rng)
        if not isinstance(claims, Decisions):
            raise TypeError(f"a membership attack makes decisions, got {type(claims).__name__}")
        return claims
