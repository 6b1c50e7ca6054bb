"""Shared columns as feature vectors, for classifiers and for distances between vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attacks.base.sides import SharedColumn
from metrics.columns.arrays import Floats
from metrics.columns.cells import NumericCells
from metrics.columns.domains import Domain


def encode_features(columns: list[SharedColumn], *, standardize: bool = False) -> tuple[Floats, Floats]:
    """Encode the shared columns of released rows and candidates as feature vectors.

    A categorical column gives one feature per category of its domain and one for the missing value. A generalized cell
    spreads evenly over the categories that it covers. A generalized number counts as the midpoint of its cell.

    Parameters
    ----------
    columns : list of SharedColumn
        Released cells beside the candidates' values.
    standardize : bool
        False for classifiers that ignore scales, such as trees. A number is then one feature; a missing number gets a
        value below the domain. True for distances. A number then gives two features: its position in the candidates'
        range, and whether it is missing. The position of a missing number is the mean of the candidates' distinct
        numbers. Categorical features are multiplied by sqrt(1/2), so that two categories are at Euclidean distance 1.

    Returns
    -------
    rows : ndarray, shape (rows, features)
        The released rows.
    candidates : ndarray, shape (candidates, features)
        The candidates.
    """
    rows, candidates = [], []
    for column in columns:
        if isinstance(column.cells, NumericCells):
            cells, values = _standardized(column, column.cells) if standardize else _plain(column, column.cells)
        else:
            weight = np.sqrt(0.5) if standardize else 1.0
            cells, values = column.cells.mass() * weight, one_hot(column.values, column.cells.domain) * weight
        rows.append(cells[column.cells.codes])
        candidates.append(values[column.codes])
    return np.hstack(rows), np.hstack(candidates)


def one_hot(values: ArrayLike, domain: Domain) -> Floats:
    """One-hot encoding of original values, shape (n, domain.size + 1); the last feature is the missing value."""
    return np.eye(domain.size + 1)[domain.codes(values)]


def _plain(column: SharedColumn, cells: NumericCells) -> tuple[Floats, Floats]:
    """One feature per number, shapes (cells, 1) and (values, 1)."""
    domain = cells.domain
    below = domain.low - (domain.high - domain.low) - 1
    sides = cells.midpoint(), column.values.astype(float)
    left, right = (np.nan_to_num(side, nan=below)[:, None] for side in sides)
    return left, right


def _standardized(column: SharedColumn, cells: NumericCells) -> tuple[Floats, Floats]:
    """Position in the candidates' range and indicator of a missing number, shapes (cells, 2) and (values, 2)."""
    values = column.values.astype(float)
    present = values[~np.isnan(values)]
    low, span = (present.min(), np.ptp(present) or 1.0) if present.size else (0.0, 1.0)
    sides = [(side - low) / span for side in (cells.midpoint(), values)]
    mean = float(np.nanmean(sides[1])) if present.size else 0.0
    left, right = (np.column_stack([np.nan_to_num(side, nan=mean), np.isnan(side)]) for side in sides)
    return left, right
