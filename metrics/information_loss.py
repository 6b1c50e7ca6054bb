"""Information loss of generalized tables: certainty penalty, Iyengar's loss, discernibility, class size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from metrics.classes import require_columns, sizes_in
from metrics.columns import CategoricalCells, Cells, Domain, Floats, Integers, NumericCells, read_cells, require


def normalized_certainty_penalty(released: pd.DataFrame, domains: Mapping[str, Domain]) -> float:
    """Normalized certainty penalty: mean share of the domain that a cell covers, in [0, 1].

    The penalty of an interval is its width relative to the domain's, that of a set of u among d categories u / d. A
    single value or a missing one has penalty 0, and ``*`` has 1. The mean is over rows and columns.

    Parameters
    ----------
    released : DataFrame, shape (n, columns)
        Released cells.
    domains : mapping of str to Domain
        The columns to measure, with the domains of their original values.

    Raises
    ------
    ValueError
        If there is no row or no column, the frame lacks a column, or a cell cannot be read.

    References
    ----------
    Xu, Wang, Pei, Wang, Shi and Fu (2006), Utility-based anonymization using local recoding, section 2.
    """
    return _mean_loss(released, domains, certainty_penalties)


def certainty_penalties(cells: Cells) -> Floats:
    """Share of the domain that each distinct cell covers, shape (distinct,); see `normalized_certainty_penalty`."""
    if isinstance(cells, CategoricalCells):
        members = cells.member.sum(axis=1)
        covered = np.where(members > 1, members / cells.domain.size, 0.0)
    else:
        covered = _width(cells)
    return np.where(cells.suppressed, 1.0, covered)


def generalization_loss(released: pd.DataFrame, domains: Mapping[str, Domain]) -> float:
    """Iyengar's loss: mean of (u - 1) / (d - 1) over cells that cover u of d categories, in [0, 1].

    The loss of an interval of numbers is its width relative to the domain's. A missing value has loss 0, and ``*`` has
    1. The mean is over rows and columns. Parameters and errors are those of `normalized_certainty_penalty`.

    References
    ----------
    Iyengar (2002), Transforming data to satisfy privacy constraints, section 3.1.
    """

    def loss(cells: Cells) -> Floats:
        if isinstance(cells, CategoricalCells):
            return np.asarray(np.maximum(cells.member.sum(axis=1) - 1, 0) / max(1, cells.domain.size - 1))
        return _width(cells)

    return _mean_loss(released, domains, loss)


def discernibility(frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, classes: Integers | None = None) -> int:
    """Discernibility penalty: the sum of squared class sizes, since each record is penalized by the size of its class.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values or released cells.
    quasi_identifiers : sequence of str
        The columns that an attacker may know.
    classes : ndarray of int, shape (n,), optional
        The classes of `equivalence_classes`, if already computed.

    Raises
    ------
    ValueError
        If the frame has no row or lacks a column.

    References
    ----------
    Bayardo and Agrawal (2005), Data privacy through optimal k-anonymization, section 3.
    """
    return int((sizes_in(frame, quasi_identifiers, classes).astype(np.int64) ** 2).sum())


def average_class_size(
    frame: pd.DataFrame, quasi_identifiers: Sequence[str], *, classes: Integers | None = None
) -> float:
    """Mean size of the equivalence classes; parameters and errors are those of `discernibility`.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006), Mondrian multidimensional k-anonymity, section 5 (there divided by k).
    """
    return float(sizes_in(frame, quasi_identifiers, classes).mean())


def _width(cells: Cells) -> Floats:
    """Width of each distinct numeric cell inside the domain, relative to the domain's width, shape (distinct,)."""
    assert isinstance(cells, NumericCells)  # noqa: S101 (the only other kind of cells)
    domain = cells.domain
    if domain.low == domain.high:
        return np.zeros(cells.missing.size)
    low, high = (np.clip(end, domain.low, domain.high) for end in cells.hull())
    return np.where(cells.missing, 0.0, (high - low) / (domain.high - domain.low))


def _mean_loss(
    released: pd.DataFrame,
    domains: Mapping[str, Domain],
    loss: Callable[[Cells], Floats],
) -> float:
    """Mean over rows and columns of a loss of distinct cells; ``*`` counts 1."""
    require(
        len(released) != 0 and domains,
        f"a loss needs rows and columns, got {len(released)} rows and {len(domains)} domains",
    )
    require_columns(released, tuple(domains))
    total = 0.0
    for name, domain in domains.items():
        cells = read_cells(released[name], domain)
        total += float(np.average(np.where(cells.suppressed, 1.0, loss(cells))[cells.codes]))
    return total / len(domains)
