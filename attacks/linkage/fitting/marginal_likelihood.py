"""Marginal likelihood of a release: each row stems from any candidate with equal probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attacks.base.sides import SharedColumn
from metrics.columns.arrays import Floats

# Bounds of ratios in single precision, so that products of a few stay finite.
SMALLEST_RATIO, LARGEST_RATIO = 1e-12, 1e12


def marginal_log_likelihood(log_likelihood: NDArray[Any]) -> float:
    """Sum over rows of the log mean over candidates of the likelihood.

    Unlike the likelihood of the best matching, it does not grow with the number of candidates. A model that explains
    each row by some candidate or other gains nothing.

    Parameters
    ----------
    log_likelihood : ndarray of float, shape (rows, candidates)
        Finite.
    """
    most = log_likelihood.max(axis=1, keepdims=True)
    return float((np.log(np.exp(log_likelihood - most).mean(axis=1)) + most[:, 0]).sum())


def candidate_weights(log_likelihood: NDArray[Any]) -> NDArray[np.float32]:
    """Posterior of each candidate of each row by itself, shape (rows, candidates)."""
    weights = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(weights, dtype=np.float32)


def gains(weights: NDArray[np.float32], columns: Sequence[SharedColumn], ratios: Sequence[Floats]) -> Floats:
    """Gain in marginal log-likelihood by one more column, for each of several columns.

    Parameters
    ----------
    weights : ndarray of float32, shape (rows, candidates)
        Posterior of each candidate of each row under the columns so far.
    columns : sequence of SharedColumn
        The columns to add.
    ratios : sequence of ndarray of float, shape (cells, values)
        Likelihood ratio of each column; the reciprocal of a ratio takes a column away.
    """
    result = np.empty(len(columns))
    for number, (column, ratio) in enumerate(zip(columns, ratios, strict=True)):
        bounded = np.clip(ratio, SMALLEST_RATIO, LARGEST_RATIO).astype(np.float32)
        mean = np.einsum("ij,ij->i", weights, column.expand(bounded))
        result[number] = np.log(np.maximum(mean, 1e-30).astype(float)).sum()
    return result
