"""Microaggregation of mixed columns by Gower's distance."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.grouping.microaggregation import mdav
from defenses.grouping.microaggregation.microaggregation import Microaggregation


class GowerMicroaggregation(Microaggregation):
    """Microaggregation by MDAV under Gower's distance, where a column of numbers weighs no more than one of categories.

    Parameters, errors, representatives, guarantee and channel are those of `Microaggregation`. The distance of two
    records is the mean over the columns of |x - y| / range for numbers and of 0 or 1 for categories. There numbers
    differ by squares and are divided by their standard deviation, so that outliers and columns of numbers count for
    more.

    Parameters
    ----------
    k : int
        Smallest group, at least 1.
    columns : sequence of str, optional
        The columns to group by and to replace; by default the quasi-identifiers.
    representative : {"mean", "median", "mode"}
        What a group releases.

    Notes
    -----
    Ranges are those of the records. A missing number is, beside 1 for being missing, taken for the mean, where Gower
    leaves the column out of the comparison: groups of missing and known numbers are the worse for it, as they should.

    References
    ----------
    Gower (1971), A general coefficient of similarity and some of its properties; Templ, Kowarik and Meindl (2015),
    Statistical disclosure control for micro-data using the R package sdcMicro.
    """

    def _groups(self, numbers: NDArray[np.float64], categories: NDArray[np.intp], rng: Generator) -> NDArray[np.intp]:
        span = np.ptp(numbers, axis=0)
        return mdav.groups(numbers / np.where(span > 0, span, 1.0), self.k, categories, distance="absolute")
