"""Type aliases for arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Booleans = NDArray[np.bool_]
Integers64 = NDArray[np.int64]
Words64 = NDArray[np.uint64]
"""Unsigned 64-bit integers: seeds, hashes and random bits."""
