"""The membership game on a model: say who of the candidates is among the records that it was trained on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.defense import released_frame
from defenses.base.microdata import Microdata
from defenses.base.release import ModelRelease, Release
from metrics.ranking import area_under_curve
from metrics.utility import prediction_target
from scenarios.games.membership import Membership
from scenarios.games.table_game import CandidatesSecret, table
from scenarios.games.table_model import MODELS, TableModel


@dataclass(frozen=True)
class ClassifierMembershipSecret(CandidatesSecret):
    """Who was drawn.

    Attributes
    ----------
    member : ndarray of bool, shape (candidates,)
        Which candidates are originals.
    held_out : DataFrame, shape (people, columns)
        Other people, for testing models.
    seed : int
        Of the models whose utility is measured.
    original_auc : float or None
        Area under the curve of a model trained on the originals.
    """

    member: NDArray[np.bool_] = field(repr=False)
    held_out: pd.DataFrame = field(repr=False)
    seed: int = field(repr=False)
    original_auc: float | None


class ClassifierMembership(Membership):
    """Membership in the records behind a model: the release stays with its owner, who trains a classifier on it.

    What is published is the classifier of the first sensitive column with two or more categories, for everybody to
    ask; the attacker has the candidates in clear, members and as many others, and says of each how surely it is a
    member. Who knows the mechanism can train models of its own in the same way.

    Parameters
    ----------
    records : Microdata
        The population; at least twice `members` records, with a sensitive column to be predicted.
    model : str
        One of `scenarios.games.table_model.MODELS`.
    members, auxiliary, held_out, attacker_knows
        As in `Membership`.

    Raises
    ------
    ValueError
        If a number is out of range, the model unknown, the population too small or nothing is there to be predicted.

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
        if model not in MODELS:
            raise ValueError(f"model must be one of {', '.join(MODELS)}, got {model!r}")
        if self._target is None:
            raise ValueError("records: there is no sensitive column of categories for a model to predict")

    @cached_property
    def _target(self) -> str | None:
        return prediction_target(self.records.sensitive, self.domains)

    def draw(self, rng: Generator, choice: Any = None) -> Any:
        """Draw members, as many others, and bystanders, all different people."""
        people_rng, seed_rng = rng.spawn(2)
        drawn, seed = self.people(people_rng), int(seed_rng.integers(2**31))
        held_out = drawn.held_out.frame
        auc = self._auc(released_frame(drawn.records), held_out, seed)
        return ClassifierMembershipSecret(
            drawn.records, drawn.candidates, drawn.auxiliary, drawn.member, held_out, seed, auc
        )

    def publish(self, release: Release, rng: Generator) -> ModelRelease:
        """Train the classifier, and publish it alone."""
        assert self._target is not None  # noqa: S101 (checked at construction)
        return ModelRelease(TableModel(self.domains, self._target, self.model).fit(table(release).frame, rng))

    def utility(self, secret: Any, release: Any) -> dict[str, float | None]:
        """Area under the curve of the model on people held out, ``classifier_auc``, and of one without a defense."""
        return {
            "classifier_auc": self._auc(table(release).frame, secret.held_out, secret.seed),
            "classifier_auc_original": secret.original_auc,
        }

    def _auc(self, released: pd.DataFrame, held_out: pd.DataFrame, seed: int) -> float | None:
        """Area under the curve of a model trained on a table, averaged over classes; None without held-out people."""
        if held_out.empty:
            return None
        assert self._target is not None  # noqa: S101 (checked at construction)
        model = TableModel(self.domains, self._target, self.model).fit(released, np.random.default_rng(seed))
        truth, predicted = held_out[self._target].to_numpy(), model.predict_proba(held_out)
        areas = [
            area_under_curve(predicted[:, number], truth == name)
            for number, name in enumerate(model.classes)
            if 0 < (truth == name).mean() < 1
        ]
        return float(np.mean(areas)) if areas else None
