"""The membership inference game on a classifier trained on the release."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base.attack import Attack
from attacks.membership.model_confidence import Classifier, classifier
from defenses.base.defense import Defense, released_frame
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_choice
from defenses.base.release import ModelRelease, Release
from defenses.perturbation.identity import Identity
from metrics.ranking import area_under_curve
from metrics.table_utility import prediction_target
from scenarios.games.membership import Membership
from scenarios.games.people import Drawn
from scenarios.games.table_game import table
from scenarios.games.table_model import MODELS, TableModel


@dataclass(frozen=True)
class ClassifierMembershipSecret(Drawn):
    """Members, candidates and other people of one play.

    Attributes
    ----------
    held_out : DataFrame, shape (people, columns)
        Other people, the test set of the models.
    seed : int
        Seed of the models that measure utility.
    original_auc : float or None
        Area under the ROC curve of a model trained on the members' original records.
    """

    held_out: pd.DataFrame = field(repr=False)
    seed: int = field(repr=False)
    original_auc: float | None


class ClassifierMembership(Membership):
    """Membership inference on a model: the publisher trains a classifier on the release and publishes only the model.

    A defense that releases a model, such as `PrivateGradientDescent`, trains it itself. The classifier predicts the
    first sensitive column with two or more categories, and everybody can query it. The candidates are the members and
    as many other people, in clear. The adversary scores how likely each of them is a member. If it knows the mechanism,
    it can train shadow models in the same way.

    Parameters
    ----------
    records : Microdata
        The population; at least twice `members` records, with a sensitive column to predict.
    model : str
        One of `scenarios.games.table_model.MODELS`.
    members, auxiliary, held_out, attacker_knows
        See `Membership`.

    Raises
    ------
    ValueError
        If a number is out of range, the model is unknown, the population is too small, or no column can be predicted.

    References
    ----------
    Shokri, Stronati, Song and Shmatikov (2017), Membership inference attacks against machine learning models.
    """

    kind: ClassVar[str] = "model"

    def __init__(
        self,
        *,
        records: Microdata,
        model: str = "extra_trees",
        members: int = 500,
        auxiliary: int = 2000,
        held_out: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(
            records=records,
            members=members,
            auxiliary=auxiliary,
            held_out=held_out,
            attacker_knows=attacker_knows,
        )
        self.model = model
        check_choice("model", model, MODELS)
        if self._target is None:
            raise ValueError("records: the table has no sensitive column of categories for a model to predict")

    @cached_property
    def _target(self) -> str | None:
        return prediction_target(self.records.sensitive, self.domains)

    def draw(self, rng: Generator, choice: Any = None) -> Any:
        """Draw members, as many non-members, auxiliary and held-out people, all distinct."""
        people_rng, seed_rng = rng.spawn(2)
        (drawn, others), seed = self.people(people_rng), int(seed_rng.integers(2**31))
        held_out = others.frame
        auc = self._auc(released_frame(drawn.records), held_out, seed)
        return ClassifierMembershipSecret(**vars(drawn), held_out=held_out, seed=seed, original_auc=auc)

    def publish(self, release: Release, rng: Generator) -> ModelRelease:
        """Train the classifier on the release and publish only the classifier; a released model as it is."""
        if isinstance(release, ModelRelease):
            return release
        assert self._target is not None  # noqa: S101 (checked at construction)
        return ModelRelease(TableModel(self.domains, self._target, self.model).fit(table(release).analyst_table, rng))

    def misfit(self, defense: Defense, attack: Attack) -> str | None:
        """Reason why the defense and the attack cannot play this game; the defense releases a table or a model."""
        # A released model is published as it is, so it fits like one that is trained on a table.
        return super().misfit(Identity() if defense.kind == self.kind else defense, attack)

    def utility(self, secret: Any, release: Any) -> dict[str, float | None]:
        """Area under the ROC curve on the held-out people, averaged over classes.

        Returns
        -------
        dict
            ``classifier_auc`` of the model trained on the release, and ``classifier_auc_original`` of one trained on
            the original records; None if there are no held-out people. A released model is measured itself.
        """
        if isinstance(release, ModelRelease):
            auc = self._model_auc(classifier(release.model), secret.held_out)
        else:
            auc = self._auc(table(release).analyst_table, secret.held_out, secret.seed)
        return {
            "classifier_auc": auc,
            "classifier_auc_original": secret.original_auc,
        }

    def _auc(self, released: pd.DataFrame, held_out: pd.DataFrame, seed: int) -> float | None:
        """Mean one-against-rest area under the ROC curve of a model trained on a table; None if nobody is held out."""
        if held_out.empty:
            return None
        assert self._target is not None  # noqa: S101 (checked at construction)
        model = TableModel(self.domains, self._target, self.model).fit(released, np.random.default_rng(seed))
        return self._model_auc(model, held_out)

    @staticmethod
    def _model_auc(model: TableModel | Classifier, held_out: pd.DataFrame) -> float | None:
        """Mean one-against-rest area under the ROC curve of a model; None if nobody is held out."""
        if held_out.empty:
            return None
        truth, predicted = held_out[model.target].to_numpy(), model.predict_proba(held_out)
        areas = [
            area_under_curve(predicted[:, number], truth == name)
            for number, name in enumerate(model.classes)
            if 0 < (truth == name).mean() < 1
        ]
        return float(np.mean(areas)) if areas else None
