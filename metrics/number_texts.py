"""Texts of many numbers at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.arrays import Booleans, Floats

SMALLEST, LARGEST = 1e-4, 1e9
"""Arrow and Python write equal digits of numbers from the first to below the second, and of 0; no exponents."""


def in_digits(numbers: Floats) -> Booleans:
    """Tell which numbers Arrow writes without an exponent, and with the digits of Python, shape (n,)."""
    size = np.abs(numbers)
    return np.asarray((size >= SMALLEST) & (size < LARGEST) | (size == 0))


def number_texts(numbers: NDArray[np.float64], write: Callable[[float], str]) -> Any:
    """Texts of numbers by Arrow, or by a function where Arrow would write an exponent or no number.

    Arrow omits the fraction of an integer and keeps the sign of -0.0.

    Parameters
    ----------
    numbers : ndarray of float, shape (n,)
        The numbers.
    write : callable
        ``write(number)`` is the text of a number that is not `in_digits`.

    Returns
    -------
    pyarrow.Array of string, shape (n,)
        The texts.
    """
    texts = pc.cast(pa.array(numbers), pa.string())
    other = ~in_digits(numbers)
    if not other.any():
        return texts
    return pc.replace_with_mask(texts, pa.array(other), pa.array(map(write, numbers[other].tolist()), pa.string()))
