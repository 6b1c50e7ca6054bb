"""The membership inference game on a classifier trained on the release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack
from attacks.membership.model_confidence import Classifier, classifier
from defenses import Defense, Identity, Microdata, ModelRelease, Release, released_frame
from metrics.columns import (
    CategoricalDomain,
    Domain,
    Floats,
    NumericCells,
    NumericDomain,
    check_choice,
    escape_column,
    read_cells,
    refuse,
    refuse_any,
)
from metrics.ranking import mean_area_under_curve
from metrics.table_utility import prediction_target
from scenarios.games.candidate_file import Membership
from scenarios.games.people import Drawn
from scenarios.games.table_game import table

# Classifiers trained on released tables.


def _classifier(module: str, name: str, **parameters: Any) -> Callable[[int], Any]:
    """Function of a seed that makes a classifier of scikit-learn, which is imported when it is called."""
    return lambda seed: getattr(import_module(f"sklearn.{module}"), name)(**parameters, random_state=seed)


MODELS: Mapping[str, Callable[[int], Any]] = {
    "extra_trees": _classifier("ensemble", "ExtraTreesClassifier", n_estimators=30),
    "random_forest": _classifier("ensemble", "RandomForestClassifier", n_estimators=30),
    "decision_tree": _classifier("tree", "DecisionTreeClassifier"),
    "gradient_boosting": _classifier("ensemble", "GradientBoostingClassifier", n_estimators=30),
    "logistic_regression": _classifier("linear_model", "LogisticRegression", max_iter=1000),
    "constant": _classifier("dummy", "DummyClassifier", strategy="prior"),
}
"""Classifiers by name, as functions of a seed.

The trees of ``extra_trees`` use all records without bootstrapping, so they memorize them. ``constant`` knows only the
frequencies of the classes.
"""


class TableModel:
    """Classifier of one column by the others, trained on a released table and applied to people in clear.

    Numbers are scaled to [0, 1] by their domain; an interval counts as its midpoint. Categories are one-hot encoded; a
    generalized cell spreads its weight evenly over its categories. A generalized target becomes one weighted row for
    each of its categories.

    - domains: Public domains of the columns.
    - target: The categorical column to predict.
    - kind: One of `MODELS`.
    - classes: Categories of the target, in the order of `predict_proba`.
    """

    def __init__(self, domains: Mapping[str, Domain], target: str, kind: str) -> None:
        domain = domains[target]
        assert isinstance(domain, CategoricalDomain)  # noqa: S101 (the game chooses such a column)
        self.domains = {name: domain for name, domain in domains.items() if name != target}
        self.target = target
        self.classes = domain.categories
        self._labels = domain
        self._kind = kind
        self._model: Any = None
        self._shares: Floats = np.full(domain.size, 1 / domain.size)

    def fit(self, released: pd.DataFrame, rng: Generator) -> TableModel:
        """Train on released cells; with one class or no row the model predicts the frequencies of the classes.

        Raises ValueError if a cell cannot be read, or the target is missing.
        """
        seed = int(rng.integers(2**31))
        self.domains = {name: domain for name, domain in self.domains.items() if name in released}
        refuse(self.target not in released, f"the release has no column {self.target!r}, which the model must predict")
        cells = read_cells(released[self.target], self._labels)
        mass = cells.mass()[cells.codes][:, :-1]
        row, label = np.nonzero(mass)
        weight = mass[row, label]
        if not weight.size:
            return self
        self._shares = np.bincount(label, weights=weight, minlength=len(self.classes)) / weight.sum()
        if np.unique(label).size > 1 and self.domains:
            self._model = MODELS[self._kind](seed)
            self._model.fit(self._features(released)[row], label, sample_weight=weight)
        return self

    def predict_proba(self, people: pd.DataFrame) -> Floats:
        """Class probabilities of people in clear, shape (people, classes).

        Raises ValueError if a column is missing, or a value is not a category.
        """
        refuse_any(
            (name for name in self.domains if name not in people),
            lambda name: f"the people have no column {name!r}, which the model needs",
        )
        if self._model is None:
            return np.tile(self._shares, (len(people), 1))
        clear = pd.DataFrame({name: escape_column(people[name], self.domains[name]) for name in self.domains})
        result = np.zeros((len(people), len(self.classes)))
        result[:, self._model.classes_] = self._model.predict_proba(self._features(clear))
        return result

    def _features(self, frame: pd.DataFrame) -> Floats:
        return np.column_stack([_encoded(frame[name], domain) for name, domain in self.domains.items()])


def _encoded(column: pd.Series[Any], domain: Domain) -> Floats:
    cells = read_cells(column, domain)
    if isinstance(cells, NumericCells):
        assert isinstance(domain, NumericDomain)  # noqa: S101 (numeric cells are of numeric domains)
        span = domain.high - domain.low
        scaled = (cells.midpoint() - domain.low) / (span or 1.0)
        # A missing number becomes -1, outside the range of scaled numbers.
        return np.where(np.isnan(scaled), -1.0, scaled)[cells.codes][:, None]
    return cells.mass()[cells.codes]


@dataclass(frozen=True)
class ClassifierMembershipSecret(Drawn):
    """Members, candidates and other people of one play.

    - held_out, shape (people, columns): Other people, the test set of the models.
    - seed: Seed of the models that measure utility.
    - original_auc: Area under the ROC curve of a model trained on the members' original records.
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
        One of `scenarios.games.classifier_membership.MODELS`.
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
        self.model = check_choice("model", model, MODELS)
        refuse(self._target is None, "records: the table has no sensitive column of categories for a model to predict")

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
        return {
            "classifier_auc": self._model_auc(classifier(release.model), secret.held_out)
            if isinstance(release, ModelRelease)
            else self._auc(table(release).analyst_table, secret.held_out, secret.seed),
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
        return mean_area_under_curve(model.predict_proba(held_out), held_out[model.target].to_numpy(), model.classes)
