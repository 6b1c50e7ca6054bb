"""Channel parts for numbers that are clipped or rounded."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import numpy as np
import pandas as pd

from defenses.base.channel_parts.part import Likelihood, ValuePart, equal
from defenses.base.columns import plain_numbers
from metrics.columns.arrays import Floats


@dataclass(frozen=True)
class Clipping(ValuePart):
    """Numbers outside two thresholds are replaced by the nearer threshold.

    The log-likelihood is 0 where the released number is the clipped original, and -inf elsewhere. A missing value stays
    missing.

    Parameters
    ----------
    low, high : float
        The thresholds, in the column's unit; infinite where that end is not clipped.
    """

    kind: ClassVar[str] = "clipping"
    low: float
    high: float

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        clipped = np.clip(plain_numbers(original[self.column]), self.low, self.high)
        return Likelihood((plain_numbers(released[self.column]),), (clipped,), equal)


@dataclass(frozen=True)
class Rounded(ValuePart):
    """Numbers are rounded to the nearest multiple of a base; ties go to the even multiple.

    The log-likelihood is 0 where the released number is the rounded original, and -inf elsewhere. A missing value stays
    missing.

    Parameters
    ----------
    base : float
        The base, in the column's unit.
    """

    kind: ClassVar[str] = "rounded"
    base: float

    def publish(self, numbers: Floats) -> Floats:
        """Round numbers, shape (n,), to multiples with the base's number of decimals; missing values stay missing."""
        exponent = Decimal(repr(float(self.base))).as_tuple().exponent
        decimals = max(0, -exponent) if isinstance(exponent, int) else 0
        return np.asarray(np.round(np.rint(numbers / self.base) * self.base, decimals))

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        rounded = self.publish(plain_numbers(original[self.column]))
        return Likelihood((plain_numbers(released[self.column]),), (rounded,), equal)
