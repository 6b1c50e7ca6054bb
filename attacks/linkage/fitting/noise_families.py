"""Noise families of a numeric column: Gaussian and Laplace, with scale and offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.columns.arrays import Floats

GAUSSIAN, LAPLACE = 0, 1
# Ratios of scale to interval at which the sum of the probabilities over a grid is tabulated; beyond them it is 1.
_RATIOS = np.linspace(0.1, 3.0, 200)
_STEPS = np.arange(-40, 41)[:, None] / _RATIOS
_SUMS = tuple(
    np.minimum(1.0, height / _RATIOS * np.exp(exponent)).sum(axis=0)
    for height, exponent in ((1 / np.sqrt(2 * np.pi), -0.5 * _STEPS**2), (0.5, -np.abs(_STEPS)))
)


def sum_over_grid(family: int, ratio: Floats) -> Floats:
    """Sum over an even grid of density times interval, each at most 1, by ratio of scale to interval.

    Divided by it, the probabilities of all numbers of the grid add up to 1, also where noise is finer than the grid.
    """
    if ratio.size and ratio.min() > _RATIOS[-1]:
        return np.ones(1)
    return np.asarray(np.interp(ratio, _RATIOS, _SUMS[family], left=1.0, right=1.0))


@dataclass(frozen=True)
class Noise:
    """Noise of a numeric column.

    Attributes
    ----------
    family : int
        `GAUSSIAN` or `LAPLACE`.
    scale : float
        Standard deviation of Gaussian noise, mean absolute value of Laplace noise; in the column's unit.
    offset : float
        Centre of the noise, in the column's unit.
    """

    family: int
    scale: float
    offset: float = 0.0

    def probability(self, residual: NDArray[Any], width: NDArray[Any]) -> NDArray[Any]:
        """Probability of each released number given an original number, on the grid of numbers that occur.

        Parameters
        ----------
        residual : ndarray of float
            Released minus original number; infinite where one of them is missing, with probability 0.
        width : ndarray of float
            Length of the interval of numbers that the released number stands for.

        Returns
        -------
        ndarray of float
            In the precision of `residual`.
        """
        result: NDArray[Any] = residual - self.offset if self.offset else residual.copy()
        if self.family == LAPLACE:
            np.abs(result, out=result)
            result *= -1 / self.scale
            height = 0.5 / self.scale
        else:
            result *= result
            result *= -0.5 / self.scale**2
            height = 1 / (self.scale * np.sqrt(2 * np.pi))
        np.exp(result, out=result)
        result *= width * height
        np.minimum(1.0, result, out=result)
        result /= sum_over_grid(self.family, self.scale / width).astype(result.dtype, copy=False)
        return result

    def refitted(self, distance: NDArray[Any], weight: NDArray[Any], least: float) -> Noise:
        """Same family and offset with the most likely scale.

        Parameters
        ----------
        distance : ndarray of float
            Released minus original number, 0 where one of them is missing.
        weight : ndarray of float
            Expected number of disturbed values of each entry; 0 where one is missing.
        least : float
            Lower bound of the scale.
        """
        total = float(weight.sum())
        if not total > 0:
            return self
        deviation = distance - self.offset if self.offset else distance
        if self.family == LAPLACE:
            scale = float(np.abs(deviation).ravel() @ weight.ravel()) / total
        else:
            scale = float(np.sqrt(np.square(deviation).ravel() @ weight.ravel() / total))
        return Noise(self.family, max(scale, least), self.offset)
