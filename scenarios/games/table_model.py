"""Classifiers trained on released tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from metrics.arrays import Floats
from metrics.cells import NumericCells, escape_column, read_cells
from metrics.domains import CategoricalDomain, Domain, NumericDomain


def _extra_trees(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(30, random_state=seed)


def _random_forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(30, random_state=seed)


def _decision_tree(seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed)


def _gradient_boosting(seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=30, random_state=seed)


def _logistic_regression(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed)


def _constant(seed: int) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


MODELS: Mapping[str, Callable[[int], Any]] = {
    "extra_trees": _extra_trees,
    "random_forest": _random_forest,
    "decision_tree": _decision_tree,
    "gradient_boosting": _gradient_boosting,
    "logistic_regression": _logistic_regression,
    "constant": _constant,
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

    Parameters
    ----------
    domains : mapping of str to Domain
        Public domains of the columns.
    target : str
        The categorical column to predict.
    kind : str
        One of `MODELS`.

    Attributes
    ----------
    target : str
        The column to predict.
    classes : tuple of str
        Categories of the target, in the order of `predict_proba`.
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

        Raises
        ------
        ValueError
            If a cell cannot be read, or the target is missing.
        """
        seed = int(rng.integers(2**31))
        self.domains = {name: domain for name, domain in self.domains.items() if name in released}
        if self.target not in released:
            raise ValueError(f"the release has no column {self.target!r}, which the model must predict")
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

        Raises
        ------
        ValueError
            If a column is missing, or a value is not a category.
        """
        missing = [name for name in self.domains if name not in people]
        if missing:
            raise ValueError(f"the people have no column {missing[0]!r}, which the model needs")
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
