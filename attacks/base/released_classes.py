"""What attribute attacks share: released classes beside the targets that they cover, and claims from scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from attacks.base.attack import Knowledge, NotApplicable
from attacks.base.claims import ValueClaims
from attacks.base.sides import SharedColumn, common_columns, gower_distance, shared_columns
from attacks.base.transition_matrix import values
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats
from metrics.cells import read_cells
from metrics.classes import equivalence_classes
from metrics.domains import Domain, NumericDomain

TIE = 1e-9
"""Scores that differ by less than this share of the best are tied."""


@dataclass(frozen=True)
class Matching:
    """The classes of a release, and the targets.

    Attributes
    ----------
    column : str
        The sensitive column.
    domain : Domain
        Its categories, or public bins.
    counts : ndarray of float, shape (classes, d)
        Rows of each class by sensitive value; a generalized cell spreads evenly over what it covers.
    columns : tuple of SharedColumn
        The known columns: one released row of each class, and the targets.
    """

    column: str
    domain: Domain
    counts: Floats
    columns: tuple[SharedColumn, ...]

    @cached_property
    def covers(self) -> NDArray[np.bool_]:
        """Whether each class covers each target in all known columns, shape (classes, targets)."""
        covered = self.columns[0].expand(self.columns[0].contains())
        for column in self.columns[1:]:
            covered &= column.expand(column.contains())
        return covered

    @cached_property
    def nearest(self) -> NDArray[np.bool_]:
        """Classes at the smallest Gower distance of each target, shape (classes, targets).

        These are the classes that cover it, if any does. (A set of numbers counts as all between its ends.)
        """
        distance = gower_distance(list(self.columns))
        near: NDArray[np.bool_] = distance <= distance.min(axis=0) + TIE
        return near

    @property
    def near_counts(self) -> Floats:
        """Rows of each target's nearest classes by sensitive value, shape (targets, d)."""
        counts: Floats = self.nearest.T.astype(float) @ self.counts
        return counts

    @property
    def table(self) -> Floats:
        """Share of each sensitive value in the release, shape (d,)."""
        total: Floats = self.counts.sum(axis=0)
        return total / max(1e-300, float(total.sum()))


def sensitive_column(release: MicrodataRelease, knowledge: Knowledge) -> tuple[str, Domain]:
    """The column that attribute attacks are about, the first sensitive one, and its public domain.

    Raises
    ------
    ValueError
        If no column is sensitive.
    NotApplicable
        If the release lacks it, or has no row.
    """
    if not knowledge.auxiliary.sensitive:
        raise ValueError("there is no sensitive column to infer")
    name = knowledge.auxiliary.sensitive[0]
    if name not in release.frame.columns:
        raise NotApplicable(f"the release has no column {name!r}")
    if release.frame.empty:
        raise NotApplicable("the release has no row")
    declared = knowledge.auxiliary.domains
    return name, declared[name] if name in declared else knowledge.auxiliary.domain(name)


def sensitive_mass(release: MicrodataRelease, knowledge: Knowledge) -> tuple[str, Domain, Floats]:
    """The sensitive column, its domain, and each released row spread over its values, shape (rows, d)."""
    name, domain = sensitive_column(release, knowledge)
    cells = read_cells(release.frame[name], domain)
    mass: Floats = cells.mass()[cells.codes, :-1]
    return name, domain, mass


def match(release: MicrodataRelease, knowledge: Knowledge) -> Matching:
    """Lay a release's classes beside the targets.

    Raises
    ------
    ValueError
        If they share no column, there is no target or no sensitive column, or a cell lies outside its domain.
    NotApplicable
        If the release has no sensitive column or no row.
    """
    known = common_columns(release, knowledge)
    name, domain, mass = sensitive_mass(release, knowledge)
    classes = equivalence_classes(release.frame, known)
    counts = np.zeros((int(classes.max()) + 1, domain.size))
    np.add.at(counts, classes, mass)
    first = np.unique(classes, return_index=True)[1]
    return Matching(name, domain, counts, tuple(shared_columns(release.take(first), knowledge)))


def claims_from_scores(scores: Floats, column: str, domain: Domain, confidence: Floats | None = None) -> ValueClaims:
    """Claim each target's value of highest score; equal ones with equal shares.

    Parameters
    ----------
    scores : ndarray of float, shape (targets, d)
        At least 0; a target whose scores are all 0 is one that the attack abstains on.
    column : str
        The sensitive column.
    domain : Domain
        Its categories, or public bins.
    confidence : ndarray of float, shape (targets,), optional
        The share of the best score in the target's scores where not given.
    """
    best = scores.max(axis=1)
    tied = (scores >= best[:, None] * (1 - TIE)) & (best[:, None] > 0)
    if confidence is None:
        confidence = best / np.maximum(scores.sum(axis=1), 1e-300)
    return value_claims(tied / np.maximum(tied.sum(axis=1, keepdims=True), 1), column, domain, confidence)


def value_claims(shares: Floats, column: str, domain: Domain, confidence: Floats) -> ValueClaims:
    """Claim each target's values with the given probabilities, shape (targets, d); rows of 0 are abstentions."""
    person, code = np.nonzero(shares)
    return ValueClaims(
        pd.DataFrame({column: values(domain).iloc[code].reset_index(drop=True)}),
        confidence[person],
        person,
        shares[person, code],
    )


def features(columns: list[SharedColumn]) -> tuple[Floats, Floats]:
    """Known columns as numbers for learning: of released rows (rows, f) and of targets (targets, f).

    A number stands for itself, an interval for its middle, a missing number lies below the domain; a category is one
    feature for each of its domain, over which a set spreads evenly.
    """
    left, right = [], []
    for column in columns:
        domain = column.cells.domain
        if isinstance(domain, NumericDomain):
            below = domain.low - (domain.high - domain.low) - 1
            middle: Any = column.cells.midpoint()  # type: ignore[attr-defined]  # (a numeric domain has numeric cells)
            left.append(np.nan_to_num(middle, nan=below)[column.cells.codes, None])
            right.append(np.nan_to_num(column.values.astype(float), nan=below)[column.codes, None])
        else:
            left.append(column.cells.mass()[column.cells.codes])
            right.append(np.eye(domain.size + 1)[domain.codes(column.values)][column.codes])
    return np.hstack(left), np.hstack(right)
