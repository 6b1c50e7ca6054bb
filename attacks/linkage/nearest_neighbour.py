"""Linkage to the nearest candidate."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import RankedAnswers
from attacks.base.sides import SharedColumn, gower_distance, shared_columns
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats
from metrics.cells import NumericCells

METRICS = (
    "gower",
    *("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "dice", "euclidean", "hamming"),
    *("jaccard", "l1", "l2", "mahalanobis", "manhattan", "minkowski", "rogerstanimoto", "russellrao", "seuclidean"),
    *("sokalsneath", "sqeuclidean", "yule"),
)


class NearestNeighbour(Attack):
    """Answers every released row with the candidate at the smallest distance.

    The baseline of all linkage: it knows nothing of the mechanism and lets two rows have one candidate. Distances
    are no probabilities, so that its answers state no confidence.

    A candidate's missing value disagrees in full with a released cell that is none (`gower_distance`): of a copy of 100
    bank customers it found 97 where 20 candidates lack the age and 10 the job, 86 with five columns only and 72 with
    three. `AssignmentLinkage` and `ExpectationMaximizationLinkage` found all 100.

    Parameters
    ----------
    metric : str
        ``"gower"``, or a metric of scikit-learn's ``pairwise_distances``, which then compares vectors
        (`feature_vectors`). On the bank's customers none of them finds more than Gower's under noise and PRAM, and
        those for truth values (``"jaccard"`` and the like) see of a number only whether it is the smallest.

    References
    ----------
    Gower (1971), A general coefficient of similarity and some of its properties.
    """

    def __init__(self, *, metric: str = "gower") -> None:
        self.metric = metric
        if metric not in METRICS:
            raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Rank candidates by distance; ties are broken at random."""
        columns = shared_columns(release, knowledge)
        distance = gower_distance(columns) if self.metric == "gower" else vector_distance(columns, self.metric)
        return RankedAnswers.from_scores(-distance, rng)


def feature_vectors(columns: list[SharedColumn]) -> tuple[Floats, Floats]:
    """Released rows and candidates as vectors, shapes (rows, features) and (candidates, features).

    A number is the middle of its cell over the candidates' range, and missing or not; a category is one feature a
    category, sqrt(1/2) times the share of it in the cell, so that two categories are at Euclidean distance 1.
    """
    rows, candidates = [], []
    for column in columns:
        if isinstance(column.cells, NumericCells):
            values = column.values.astype(float)
            known = values[~np.isnan(values)]
            low, span = (known.min(), np.ptp(known) or 1.0) if known.size else (0.0, 1.0)
            sides = [(side - low) / span for side in (column.cells.midpoint(), values)]
            middle = float(np.nanmean(sides[1])) if known.size else 0.0
            left, right = (np.column_stack([np.nan_to_num(side, nan=middle), np.isnan(side)]) for side in sides)
        else:
            domain = column.cells.domain
            left = column.cells.mass() * np.sqrt(0.5)
            right = np.eye(domain.size + 1)[domain.codes(column.values)] * np.sqrt(0.5)
        rows.append(left[column.cells.codes])
        candidates.append(right[column.codes])
    return np.hstack(rows), np.hstack(candidates)


def vector_distance(columns: list[SharedColumn], metric: str) -> Floats:
    """Distance of every released row to every candidate by a metric of scikit-learn, shape (rows, candidates)."""
    from sklearn.metrics import pairwise_distances

    rows, candidates = feature_vectors(columns)
    with warnings.catch_warnings():
        # Metrics for truth values say that they take numbers for such.
        warnings.simplefilter("ignore")
        distance: Floats = pairwise_distances(rows, candidates, metric=metric, **_spread(candidates, metric))
    # Vectors of one constant have no correlation; they are then as far as can be.
    worst = np.nanmax(distance, initial=0.0)
    return np.nan_to_num(distance, nan=worst, posinf=worst)


def _spread(candidates: Floats, metric: str) -> dict[str, Floats]:
    """What two metrics need to know of how the candidates' features vary."""
    if metric == "mahalanobis":
        return {"VI": np.linalg.pinv(np.atleast_2d(np.cov(candidates, rowvar=False, bias=True)))}
    if metric == "seuclidean":
        variance = candidates.var(axis=0)
        return {"V": np.where(variance > 0, variance, 1.0)}
    return {}
