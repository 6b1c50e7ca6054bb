"""Confidence of a classifier in a person's class, and training of shadow models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Knowledge, applicable, given
from defenses.base import Microdata
from metrics.columns import Booleans, Floats, Integers, refuse, refuse_rows

# Ensembles give probabilities of 0 and 1, whose logits are infinite. Clipping them here also keeps the logit's tails
# from depending on the clipping more than on the person.
CLIPPED = 1e-3


class Classifier(Protocol):
    """Classifier of people in clear.

    - target: The predicted column.
    - classes: The categories, in the order of the probabilities.
    """

    target: str
    classes: Sequence[str]

    def predict_proba(self, people: pd.DataFrame) -> Floats:
        """Class probabilities, shape (people, classes)."""


def classifier(model: Any) -> Classifier:
    """The published model, or `NotApplicable` if it lacks an attribute of `Classifier`."""
    for part in ("target", "classes", "predict_proba"):
        applicable(hasattr(model, part), f"the model has no {part}, so its predictions cannot be read")
    return cast(Classifier, model)


def class_numbers(model: Classifier, people: pd.DataFrame) -> Integers:
    """Position of each person's class among the model's classes, shape (people,).

    A ValueError is raised if the people lack the model's target column, or if a class is missing or unknown to the
    model.
    """
    refuse(model.target not in people, f"the candidates have no column {model.target!r}, which the model predicts")
    positions = pd.Index(model.classes).get_indexer(pd.Index(people[model.target]))
    refuse_rows(positions < 0, lambda row: f"column {model.target!r}, candidate {row}: no class of the model")
    return positions


def own_class_probability(model: Classifier, people: pd.DataFrame) -> Floats:
    """Probability that the model assigns to each person's class, shape (people,)."""
    positions = class_numbers(model, people)
    return np.asarray(model.predict_proba(people)[np.arange(len(people)), positions], dtype=float)


def logit_confidence(model: Classifier, people: pd.DataFrame) -> Floats:
    """Logit of the probability of each person's class, shape (people,); nearly normal over models."""
    probability = np.clip(own_class_probability(model, people), CLIPPED, 1 - CLIPPED)
    return np.log(probability) - np.log1p(-probability)


@dataclass(frozen=True)
class Shadow:
    """Shadow model, which the attacker trained.

    - member, shape (pool,): Which people of the pool it was trained on.
    """

    model: Classifier
    member: Booleans


def shadows(knowledge: Knowledge, pool: Microdata, size: int, count: int, rng: Generator) -> Iterator[Shadow]:
    """Train shadow models as the publisher does, each on a random subset of a pool of people.

    Models come in pairs. If `size` is half of the pool, each person is in exactly one training set of a pair. If the
    attacker cannot repeat the training, or has too few people to train on, `NotApplicable` is raised.
    """
    train = given(knowledge.simulate, "the attacker does not know how the model was trained")
    applicable(size >= 1 and len(pool) >= 2, "the attacker has too few people of its own to train a model on")
    order = np.arange(0)
    for number in range(count):
        order = rng.permutation(len(pool)) if number % 2 == 0 else order[::-1]
        member = np.isin(np.arange(len(pool)), order[:size])
        yield Shadow(classifier(train(pool.take(np.flatnonzero(member)), rng).model), member)
