"""Microaggregation by MDAV under Gower's distance."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.grouping.microaggregation import mdav
from defenses.grouping.microaggregation.microaggregation import Microaggregation


class GowerMicroaggregation(Microaggregation):
    """Microaggregation by MDAV under Gower's distance, which weights numbers and categories equally.

    Gower's distance of two records is the mean over the columns of |x - y| / range for numbers, and of 0 or 1 for
    categories. `Microaggregation` uses squared differences divided by the standard deviation instead, which gives
    outliers and numbers more weight. Parameters, errors, representatives, guarantee and channel are those of
    `Microaggregation`.

    Parameters, errors, representatives, guarantee and channel are those of `Microaggregation`. The distance of two
    records is the mean over the columns of |x - y| / range for numbers and of 0 or 1 for categories. There numbers
    differ by squares and are divided by their standard deviation, so that outliers and columns of numbers count for
    more.

    Parameters
    ----------
    k : int
        Smallest group size, at least 1.
    columns : sequence of str, optional
        The columns to group by and to replace; by default the quasi-identifiers.
    representative : {"mean", "median", "mode"}
        What a group releases.

    Notes
    -----
    Ranges are those of the records. A missing number is at distance 1 from any number, plus the distance of that number
    from the mean. Gower instead omits the column from the comparison. The penalty here discourages groups that mix
    missing numbers with others.

    References
    ----------
    Gower (1971), A general coefficient of similarity and some of its properties.
    Templ, Kowarik and Meindl (2015), Statistical disclosure control for micro-data using the R package sdcMicro.
    """

    called = ("MDAV-generic", "Gower MDAV")

    def _groups(self, numbers: NDArray[np.float64], categories: NDArray[np.intp], rng: Generator) -> NDArray[np.intp]:
        span = np.ptp(numbers, axis=0)
        return mdav.groups(numbers / np.where(span > 0, span, 1.0), self.k, categories, distance="absolute")
