"""Equivalence classes of a release matched with attribute inference targets, and claims from scores."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge, applicable
from attacks.base.claims import ValueClaims
from attacks.base.sides import SharedColumn, common_columns, gower_distance, shared_columns
from attacks.base.transition_matrix import values
from defenses.base.release import MicrodataRelease
from metrics.classes import equivalence_classes
from metrics.columns.arrays import Booleans, Floats
from metrics.columns.cells import read_cells
from metrics.columns.domains import Domain

TIE = 1e-9
"""Relative tolerance within which scores are tied with the best."""


@dataclass(frozen=True)
class ReleasedClasses:
    """Equivalence classes of a release, and the targets of attribute inference.

    Attributes
    ----------
    column : str
        The sensitive column.
    domain : Domain
        Its categories or public bins.
    counts : ndarray of float, shape (classes, d)
        Number of rows of each class with each sensitive value. A generalized cell spreads evenly over the values that
        it covers.
    columns : tuple of SharedColumn
        The known columns: one released row of each class, and the targets.
    """

    column: str
    domain: Domain
    counts: Floats
    columns: tuple[SharedColumn, ...]

    @cached_property
    def covers(self) -> Booleans:
        """True where a class covers a target in all known columns, shape (classes, targets)."""
        covered = self.columns[0].expand(self.columns[0].contains())
        for column in self.columns[1:]:
            covered &= column.expand(column.contains())
        return covered

    @cached_property
    def nearest(self) -> Booleans:
        """True for the classes at the smallest Gower distance from each target, shape (classes, targets).

        These are the classes that cover the target, if there are any. Here a set of numbers counts as the interval
        from its smallest to its largest number.
        """
        distance = gower_distance(list(self.columns))
        return np.asarray(distance <= distance.min(axis=0) + TIE)

    @property
    def near_counts(self) -> Floats:
        """Number of rows of each target's nearest classes with each sensitive value, shape (targets, d)."""
        return np.asarray(self.nearest.T.astype(float) @ self.counts)

    @property
    def table(self) -> Floats:
        """Distribution of the sensitive value in the release, shape (d,)."""
        total: Floats = self.counts.sum(axis=0)
        return total / max(1e-300, float(total.sum()))


def sensitive_column(release: MicrodataRelease, knowledge: Knowledge) -> tuple[str, Domain]:
    """Name and domain of the column that attribute attacks infer: the first sensitive one.

    Raises
    ------
    ValueError
        If no column is sensitive.
    NotApplicable
        If the release lacks the column, or has no row.
    """
    if not knowledge.auxiliary.sensitive:
        raise ValueError("there is no sensitive column to infer")
    name = knowledge.auxiliary.sensitive[0]
    applicable(name in release.frame.columns, f"the release has no column {name!r}")
    applicable(not release.frame.empty, "the release has no row")
    declared = knowledge.auxiliary.domains
    return name, declared[name] if name in declared else knowledge.auxiliary.domain(name)


def sensitive_mass(release: MicrodataRelease, knowledge: Knowledge) -> tuple[str, Domain, Floats]:
    """Name and domain of the sensitive column, and the share of each released row in each value, shape (rows, d)."""
    name, domain = sensitive_column(release, knowledge)
    cells = read_cells(release.frame[name], domain)
    mass: Floats = cells.mass()[cells.codes, :-1]
    return name, domain, mass


def match(release: MicrodataRelease, knowledge: Knowledge) -> ReleasedClasses:
    """Match a release's equivalence classes with the targets.

    Raises
    ------
    ValueError
        If they share no column, there is no target or no sensitive column, or a cell lies outside its domain.
    NotApplicable
        If the release has no sensitive column or no row.
    """
    names = common_columns(release, knowledge)
    name, domain, mass = sensitive_mass(release, knowledge)
    classes = equivalence_classes(release.frame, names)
    counts = np.zeros((int(classes.max()) + 1, domain.size))
    np.add.at(counts, classes, mass)
    first = np.unique(classes, return_index=True)[1]
    return ReleasedClasses(name, domain, counts, tuple(shared_columns(release.take(first), knowledge)))


class ClassInference(Attack):
    """Base class of attacks that infer a value from the released classes nearest to the target."""

    goal = "attribute"

    @abstractmethod
    def claims(self, matching: ReleasedClasses) -> ValueClaims:
        """Claim values of the targets.

        Parameters
        ----------
        matching : ReleasedClasses
            The released classes beside the targets.
        """

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Match the released classes with the targets, and claim values."""
        return self.claims(match(release, knowledge))


def claims_from_scores(scores: Floats, column: str, domain: Domain, confidence: Floats | None = None) -> ValueClaims:
    """Claim each target's value of highest score; tied values get equal probabilities.

    Parameters
    ----------
    scores : ndarray of float, shape (targets, d)
        At least 0; the attack abstains on a target whose scores are all 0.
    column : str
        The sensitive column.
    domain : Domain
        Its categories or public bins.
    confidence : ndarray of float, shape (targets,), optional
        Confidence of each target's claim. By default it is the best score divided by the sum of the target's scores.
    """
    best = scores.max(axis=1)
    tied = (scores >= best[:, None] * (1 - TIE)) & (best[:, None] > 0)
    if confidence is None:
        confidence = best / np.maximum(scores.sum(axis=1), 1e-300)
    return value_claims(tied / np.maximum(tied.sum(axis=1, keepdims=True), 1), column, domain, confidence)


def value_claims(shares: Floats, column: str, domain: Domain, confidence: Floats) -> ValueClaims:
    """Claim each target's values with the given probabilities, shape (targets, d); a row of zeros is an abstention."""
    person, code = np.nonzero(shares)
    return ValueClaims(
        pd.DataFrame({column: values(domain).iloc[code].reset_index(drop=True)}),
        confidence[person],
        person,
        shares[person, code],
    )
