"""How much a generalized table blurs its cells, and how large its classes are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from metrics.arrays import Floats, Integers
from metrics.cells import CategoricalCells, Cells, NumericCells, read_cells
from metrics.classes import check_columns, class_sizes, known_classes
from metrics.domains import Domain


def normalized_certainty_penalty(released: pd.DataFrame, domains: Mapping[str, Domain]) -> float:
    """Normalised certainty penalty: mean share of its domain that a cell is blurred over, in [0, 1].

    An interval counts its width by the width of the domain, a set of u among d categories u / d, a single value or a
    missing one 0, and ``*`` 1; averaged over rows and columns.

    Parameters
    ----------
    released : DataFrame, shape (n, columns)
        Released cells.
    domains : mapping of str to Domain
        The columns to look at, each with what its original values may be.

    Raises
    ------
    ValueError
        If there is no row or no column, the frame lacks a column, or a cell cannot be read.

    References
    ----------
    Xu, Wang, Pei, Wang, Shi and Fu (2006), Utility-based anonymization using local recoding, section 2.
    """

    def penalty(cells: Cells) -> Floats:
        if isinstance(cells, CategoricalCells):
            members = cells.member.sum(axis=1)
            return np.where(members > 1, members / cells.domain.size, 0.0)
        return _width(cells)

    return _mean_loss(released, domains, penalty)


def generalization_loss(released: pd.DataFrame, domains: Mapping[str, Domain]) -> float:
    """Iyengar's loss: mean of (u - 1) / (d - 1) over cells that cover u of d categories, in [0, 1].

    An interval of numbers counts its width by the width of the domain, a missing value 0 and ``*`` 1; averaged over
    rows and columns. Parameters and errors as for `normalized_certainty_penalty`.

    References
    ----------
    Iyengar (2002), Transforming data to satisfy privacy constraints, section 3.1.
    """

    def loss(cells: Cells) -> Floats:
        if isinstance(cells, CategoricalCells):
            others: Floats = np.maximum(cells.member.sum(axis=1) - 1, 0) / max(1, cells.domain.size - 1)
            return others
        return _width(cells)

    return _mean_loss(released, domains, loss)


def discernibility(frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, classes: Integers | None = None) -> int:
    """Discernibility penalty: each record counts the size of its class, hence the sum of squared class sizes.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    classes : ndarray of int, shape (n,), optional
        The classes by `equivalence_classes`, where they are known already.

    Raises
    ------
    ValueError
        If the frame has no row or lacks a column.

    References
    ----------
    Bayardo and Agrawal (2005), Data privacy through optimal k-anonymization, section 3.
    """
    known = known_classes(frame, quasi_identifiers, classes)
    return int((class_sizes(known).astype(np.int64) ** 2).sum())


def average_class_size(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, classes: Integers | None = None
) -> float:
    """Mean number of rows in a class; parameters and errors as for `discernibility`.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006), Mondrian multidimensional k-anonymity, section 5 (there divided by k).
    """
    known = known_classes(frame, quasi_identifiers, classes)
    return float(class_sizes(known).mean())


def _width(cells: Cells) -> Floats:
    """Width of each distinct numeric cell, inside the domain and as a share of its width, shape (distinct,)."""
    assert isinstance(cells, NumericCells)  # noqa: S101 (the only other kind of cells)
    domain = cells.domain
    if domain.low == domain.high:
        return np.zeros(cells.missing.size)
    low, high = (np.clip(end, domain.low, domain.high) for end in cells.hull())
    return np.where(cells.missing, 0.0, (high - low) / (domain.high - domain.low))


def _mean_loss(released: pd.DataFrame, domains: Mapping[str, Domain], loss: Callable[[Cells], Floats]) -> float:
    """Mean over rows and columns of a loss per distinct cell, ``*`` at 1."""
    if len(released) == 0 or not domains:
        raise ValueError(f"a loss needs rows and columns, got {len(released)} rows and {len(domains)} domains")
    check_columns(released, tuple(domains))
    total = 0.0
    for name, domain in domains.items():
        cells = read_cells(released[name], domain)
        total += float(np.where(cells.suppressed, 1.0, loss(cells))[cells.codes].mean())
    return total / len(domains)
