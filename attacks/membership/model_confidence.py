"""What a classifier says about people whose class is known, and models that attackers train like it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Knowledge, NotApplicable
from defenses.base.microdata import Microdata
from metrics.arrays import Floats

# Ensembles answer 0 and 1, whose logits are infinite: probabilities are cut off here, before the logit's tails say
# more about the cut-off than about the person.
SURE = 1e-3


class Classifier(Protocol):
    """A classifier of people in clear.

    Attributes
    ----------
    target : str
        The column that it predicts.
    classes : sequence of str
        The categories, in the order of the probabilities.
    """

    target: str
    classes: Sequence[str]

    def predict_proba(self, people: pd.DataFrame) -> Floats:
        """Class probabilities, shape (people, classes)."""


def classifier(model: Any) -> Classifier:
    """The published model, as a classifier of people in clear.

    Raises
    ------
    NotApplicable
        If it does not say what it predicts.
    """
    for part in ("target", "classes", "predict_proba"):
        if not hasattr(model, part):
            raise NotApplicable(f"the model has no {part}, so that nobody knows what it says about a person")
    found: Classifier = model
    return found


def class_numbers(model: Classifier, people: pd.DataFrame) -> NDArray[np.intp]:
    """Position of each person's own class among the model's, shape (people,).

    Raises
    ------
    ValueError
        If the people lack the model's target column, or somebody's class is missing or none of the model's.
    """
    if model.target not in people:
        raise ValueError(f"the candidates have no column {model.target!r}, which the model predicts")
    numbers = pd.Index(model.classes).get_indexer(pd.Index(people[model.target]))
    wrong = np.flatnonzero(numbers < 0)
    if wrong.size:
        raise ValueError(f"column {model.target!r}, candidate {wrong[0]}: no class of the model")
    return numbers


def own_class_probability(model: Classifier, people: pd.DataFrame) -> Floats:
    """Probability that the model gives to each person's own class, shape (people,)."""
    numbers = class_numbers(model, people)
    return np.asarray(model.predict_proba(people)[np.arange(len(people)), numbers], dtype=float)


def logit_confidence(model: Classifier, people: pd.DataFrame) -> Floats:
    """Logit of the probability of each person's own class, shape (people,), which is nearly normal over models."""
    probability = np.clip(own_class_probability(model, people), SURE, 1 - SURE)
    return np.log(probability) - np.log1p(-probability)


@dataclass(frozen=True)
class Shadow:
    """A model that the attacker trained.

    Attributes
    ----------
    model : Classifier
        The model.
    member : ndarray of bool, shape (pool,)
        Who of the pool it was trained on.
    """

    model: Classifier
    member: NDArray[np.bool_]


def shadows(knowledge: Knowledge, pool: Microdata, size: int, count: int, rng: Generator) -> Iterator[Shadow]:
    """Train models as the publisher does, each on a random part of a pool of people.

    In pairs, each person is in one and not in the other as long as the part is a half of the pool.

    Parameters
    ----------
    knowledge : Knowledge
        With `simulate`, which repeats defense and training.
    pool : Microdata
        People in clear.
    size : int
        How many of them train one model, at most all.
    count : int
        How many models.
    rng : Generator
        Draws the parts, and trains.

    Raises
    ------
    NotApplicable
        If the attacker cannot repeat the training, or has nobody to train on.
    """
    if knowledge.simulate is None:
        raise NotApplicable("the attacker does not know how the model was trained")
    if size < 1 or len(pool) < 2:
        raise NotApplicable("the attacker has too few people of its own to train a model on")
    order = np.arange(0)
    for number in range(count):
        order = rng.permutation(len(pool)) if number % 2 == 0 else order[::-1]
        member = np.zeros(len(pool), dtype=bool)
        member[order[:size]] = True
        published = knowledge.simulate(pool.take(np.flatnonzero(member)), rng)
        yield Shadow(classifier(published.model), member)
