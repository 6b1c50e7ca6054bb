"""Re-identification risk: prosecutor, journalist and marketer models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from metrics.classes import (
    SizeCounts,
    class_sizes,
    equivalence_classes,
    require_columns,
    sizes_in,
)
from metrics.columns import Floats, Integers, refuse_rows, require


@dataclass(frozen=True)
class ReidentificationRisk:
    """Re-identification risk: probability of a correct link, if the attacker picks uniformly among matching records.

    Attributes
    ----------
    highest, mean : float
        Maximum and mean over the records, in [0, 1].
    at_risk : float
        Share of the records whose risk exceeds the threshold, in [0, 1].
    """

    highest: float
    mean: float
    at_risk: float


def prosecutor_risk(
    frame: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    *,
    threshold: float = 0.2,
    classes: Integers | None = None,
) -> ReidentificationRisk:
    """Prosecutor risk: the attacker knows that the target is in the table; 1 / size of the record's class.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    threshold : float
        The risk above which a record counts as at risk, in [0, 1).
    classes : ndarray of int, shape (n,), optional
        The classes of `equivalence_classes`, if already computed.

    Raises
    ------
    ValueError
        If the frame has no row or lacks a column, or the threshold lies outside [0, 1).

    References
    ----------
    El Emam and Dankar (2008), Protecting privacy using k-anonymity; El Emam (2013), Guide to the De-Identification of
    Personal Health Information, chapter 16.

    Examples
    --------
    >>> import pandas as pd
    >>> from metrics import prosecutor_risk
    >>> frame = pd.DataFrame({"age": ["[20,29]", "[20,29]", "[30,39]", "[40,49]"]})
    >>> prosecutor_risk(frame, ["age"], threshold=0.5)
    ReidentificationRisk(highest=1.0, mean=0.75, at_risk=0.5)
    """
    return prosecutor_of_sizes(SizeCounts.of_classes(sizes_in(frame, quasi_identifiers, classes)), threshold)


def prosecutor_of_sizes(sizes: SizeCounts, threshold: float = 0.2) -> ReidentificationRisk:
    """Compute `prosecutor_risk` from class sizes; its mean is the marketer risk."""
    return _summary(1 / sizes.sizes, sizes.sizes * sizes.counts, threshold)


def individual_risk(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], weights: Floats, *, classes: Integers | None = None
) -> Floats:
    """Individual risk of each record of a sample survey, by Benedetti and Franconi, shape (n,).

    Parameters and errors are those of `prosecutor_risk`.

    Parameters
    ----------
    weights : ndarray of float, shape (n,)
        Survey weights: the number of people of the population that each record stands for, above 0.

    Raises
    ------
    ValueError
        If a weight is not a finite number above 0.

    References
    ----------
    Benedetti and Franconi (1998), Statistical and technological solutions for controlled data dissemination; Templ,
    Kowarik and Meindl (2015), Statistical disclosure control for micro-data using the R package sdcMicro.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from metrics import individual_risk
    >>> frame = pd.DataFrame({"job": ["cook", "cook", "pilot"]})
    >>> individual_risk(frame, ["job"], np.array([10, 40, 100])).round(4)
    array([0.0361, 0.0361, 0.0465])
    """
    refuse_rows(
        ~(np.isfinite(weights) & (weights > 0)), lambda row: f"row {row}: the weight must be a finite number above 0"
    )
    groups = equivalence_classes(frame, quasi_identifiers) if classes is None else classes
    risks = individual_of_sizes(np.bincount(groups), np.bincount(groups, weights).astype(float))
    return np.asarray(risks[groups])


def individual_of_sizes(own: Integers, everybody: Floats) -> Floats:
    """Individual risk of the records of each class, shape (classes,).

    - own, shape (classes,): Number of records f of each class in the sample.
    - everybody, shape (classes,): Sum of their weights, which estimates the size of the class in the population; at
      least f is taken.

    The size F of the class in the population is negative binomial given f, with p = f / sum of weights. The risk is the
    mean of 1 / F. With q = 1 - p it is (p/q) log(1/p) for f = 1, and p/q - (p/q)^2 log(1/p) for f = 2. From f = 3 it is
    p / (f - q), as sdcMicro computes it by default. This is an upper bound by Jensen's inequality, since the mean of (f
    - 1) / (F - 1) is p.
    """
    p = np.minimum(own / np.maximum(everybody, own), 1.0)
    q = 1 - p
    # At p = 1, the whole class is in the sample.
    odds = np.divide(p, q, out=np.zeros_like(p), where=q > 0)
    alone = np.where(q > 0, -odds * np.log(p), 1.0)
    # Digits would cancel where p is near 1; there the series in q is exact.
    pair = np.where(q > 1e-4, odds + odds**2 * np.log(p), 0.5 - q / 3)
    return np.asarray(np.select([own == 1, own == 2], [alone, pair], p / (own - q)))


def journalist_risk(
    frame: pd.DataFrame, population: pd.DataFrame, quasi_identifiers: Sequence[str], *, threshold: float = 0.2
) -> ReidentificationRisk:
    """Journalist risk: the attacker knows the population, but not who is in the table; 1 / size of the class there.

    Parameters, errors and source are those of `prosecutor_risk`.

    Parameters
    ----------
    population : DataFrame, shape (N, columns)
        Everybody that the table was drawn from, with cells generalized like those of the table.

    Raises
    ------
    ValueError
        If the table has more records of some class than the population.
    """
    own, everybody, first_row = _population_sizes(frame, population, quasi_identifiers)
    return journalist_of_sizes(own, everybody, threshold, lambda lacking: f"row {first_row[lacking]}: ")


def journalist_of_sizes(
    own: Integers, everybody: Integers, threshold: float, where: Callable[[int], str] = lambda _: ""
) -> ReidentificationRisk:
    """Compute `journalist_risk` from class sizes.

    - own, everybody, shape (classes,): Size of each class of the table, and its size in the population.
    - threshold: The risk above which a record counts as at risk, in [0, 1).
    - where: Begins the message of the error, given the position of a class that the population lacks.

    Raises ValueError: As `journalist_risk`.
    """
    refuse_rows(
        everybody < own,
        lambda lacking: (
            f"{where(lacking)}the table has {own[lacking]} records like this one and the population "
            f"{everybody[lacking]}; it must hold everybody, generalized alike"
        ),
    )
    return _summary(1 / everybody, own, threshold)


def marketer_risk(
    frame: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    *,
    population: pd.DataFrame | None = None,
    classes: Integers | None = None,
) -> float:
    """Marketer risk: share of the records linked correctly by an attacker who links all records, in [0, 1].

    It is the mean of `journalist_risk` if a population is given. Otherwise the table holds everybody, and it is the
    mean of `prosecutor_risk`, classes / n. Parameters, errors and source are those of these two functions.
    """
    if population is not None:
        return journalist_risk(frame, population, quasi_identifiers).mean
    return prosecutor_risk(frame, quasi_identifiers, classes=classes).mean


def group_risk(risk: ArrayLike, groups: ArrayLike, counts: ArrayLike | None = None) -> Floats:
    """Risk of groups such as households: the probability that somebody in the group is recognized.

    Parameters
    ----------
    risk : array_like, shape (n,)
        Re-identification risk of each record, in [0, 1].
    groups : array_like of int, shape (n,)
        Number of each record's group, from 0.
    counts : array_like of int, shape (n,), optional
        Number of such records; by default one each.

    Returns
    -------
    ndarray, shape (groups,)
        1 - prod(1 - r_i) over the records i of each group, whose recognitions are taken to be independent.

    Raises
    ------
    ValueError
        If a risk lies outside [0, 1].

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, section 3.3.7, household risk. The program sdcMicro prints
    it as hierarchical risk.

    Examples
    --------
    >>> from metrics import group_risk
    >>> group_risk([0.2, 0.5, 0.1], [0, 0, 1]).round(3).tolist()
    [0.6, 0.1]
    """
    each = np.asarray(risk, dtype=float)
    refuse_rows(~((each >= 0) & (each <= 1)), lambda row: f"risk: row {row} does not lie in [0, 1]")
    with np.errstate(divide="ignore"):
        nobody = np.log1p(-each) * (1 if counts is None else np.asarray(counts))
    return np.asarray(-np.expm1(np.bincount(np.asarray(groups, dtype=np.intp), weights=nobody)))


class GroupRisk(NamedTuple):
    """Probability that somebody in a group is recognized, by `group_risk`: highest and mean over the groups."""

    highest: float
    mean: float

    @classmethod
    def of(cls, risk: Floats, groups: Integers, counts: Integers | None = None) -> GroupRisk:
        """Risk of the groups that occur, given the risk of records, their groups and their number."""
        present, numbers = np.unique(groups, return_inverse=True)
        each = group_risk(risk, numbers, counts)
        return cls(float(each.max()), float(each.mean())) if present.size else cls(0.0, 0.0)


def _population_sizes(
    frame: pd.DataFrame, population: pd.DataFrame, quasi_identifiers: Sequence[str]
) -> tuple[Integers, Integers, Integers]:
    """Size of each class in the table and in the population, and its first row, each of shape (classes,)."""
    require_columns(frame, quasi_identifiers)
    require_columns(population, quasi_identifiers)
    names = list(quasi_identifiers)
    together = pd.concat([frame[names], population[names]], ignore_index=True)
    classes = equivalence_classes(together, names)
    own, others = classes[: len(frame)], classes[len(frame) :]
    count = class_sizes(own)
    size = np.bincount(others, minlength=count.size)[: count.size]
    return count, size, np.unique(own, return_index=True)[1]


def _summary(risk: Floats, records: Integers, threshold: float) -> ReidentificationRisk:
    """Summary of the risk of each class, weighted by its number of records."""
    require(0 <= threshold < 1, f"threshold must lie in [0, 1), got {threshold!r}")
    rows = records.sum()
    return ReidentificationRisk(
        highest=float(risk.max()),
        mean=float((risk * records).sum() / rows),
        at_risk=float(records[risk > threshold].sum() / rows),
    )
