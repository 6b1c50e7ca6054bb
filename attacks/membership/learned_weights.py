"""Weights of features that separate members of shadow syntheses from other people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.arrays import Booleans, Floats

# Ridge penalties that cross-validation tries, and the share of them that sums of features bear.
PENALTIES, LIGHT = (0.1, 1.0, 10.0), 1e-3


@dataclass(frozen=True)
class LearnedWeights:
    """Linear scores, learned once from all tables and once without each.

    Attributes
    ----------
    weights : ndarray of float, shape (features,)
        Weights learned from all tables.
    without : ndarray of float, shape (tables, features)
        Weights learned from all tables but one.
    """

    weights: Floats
    without: Floats


def learned_weights(features: Sequence[Floats], member: Sequence[Booleans], sums: Floats) -> LearnedWeights:
    """Regress membership on features by ridge regression, cross-validated over tables.

    Ridge regression on membership is Fisher's linear discriminant with a shrunken covariance. Some sums of features
    bear a light penalty: the data must show more for single weights than for equal ones.

    Parameters
    ----------
    features : sequence of ndarray of float, shape (people, features)
        One array for each of at least two tables.
    member : sequence of ndarray of bool, shape (people,)
        Whether each person is in the table.
    sums : ndarray of float, shape (sums, features)
        Weights of the sums.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, sections 3.4.1 and 4.3.
    """
    scale = np.concatenate(features).std(axis=0) + 1e-9
    summed = np.concatenate(features) @ sums.T
    basis = np.hstack([np.diag(1 / scale), sums.T / (summed.std(axis=0) + 1e-9)])
    designs = [table @ basis for table in features]
    centred = [design - design.mean(axis=0) for design in designs]
    labels = [table - table.mean() for table in member]
    products = np.array([design.T @ design for design in centred])
    moments = np.array([design.T @ label for design, label in zip(centred, labels, strict=True)])
    penalty = np.append(np.ones(len(scale)), np.full(len(sums), LIGHT)) * sum(map(len, features))

    def solved(tables: Booleans, strength: float) -> Floats:
        matrix = products[tables].sum(axis=0) + np.diag(strength * penalty * tables.mean())
        return np.asarray(np.linalg.solve(matrix, moments[tables].sum(axis=0)))

    rest = ~np.eye(len(designs), dtype=bool)
    trials = [np.array([solved(tables, strength) for tables in rest]) for strength in PENALTIES]
    merit = [
        np.mean([_correlation(*table) for table in zip(centred, weights, labels, strict=True)]) for weights in trials
    ]
    best = int(np.argmax(merit))
    everything = solved(np.ones(len(designs), dtype=bool), PENALTIES[best])
    return LearnedWeights(basis @ everything, trials[best] @ basis.T)


def _correlation(design: Floats, weights: Floats, labels: Floats) -> float:
    scores = design @ weights
    return float(scores @ labels / np.sqrt((scores @ scores) * (labels @ labels) + 1e-300))
