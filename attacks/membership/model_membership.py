"""Membership inference from the final model of a training."""

from __future__ import annotations

from dataclasses import replace

from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge
from attacks.membership.loss_threshold import LossThreshold
from defenses.base import Microdata, ModelRelease, TrainingRelease
from metrics.columns import require


class ModelMembership(Attack):
    """Membership inference from the final model of a federated training.

    It runs a membership attack on models and ignores the updates, so it sees less than `UpdateMembership`.

    Parameters
    ----------
    attack : Attack, optional
        A membership attack on models; `LossThreshold` by default.

    Raises
    ------
    ValueError
        If `attack` is not a membership attack on models.
    """

    kind = "training"
    goal = "membership"

    def __init__(self, *, attack: Attack | None = None) -> None:
        require(
            attack is None or (isinstance(attack, Attack) and (attack.kind, attack.goal) == ("model", "membership")),
            f"attack must be a membership attack on models, got {attack!r}",
        )
        self.attack = attack

    def run(self, release: TrainingRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attack on models is not applicable.
        """
        train = knowledge.simulate

        def simulate(records: Microdata, rng: Generator) -> ModelRelease:
            assert train is not None  # noqa: S101 (handed on only where there is one)
            training: TrainingRelease = train(records, rng)
            return training.final()

        model_knowledge = replace(knowledge, simulate=None if train is None else simulate)
        return Decisions.of((self.attack or LossThreshold()).run(release.final(), model_knowledge, rng))
