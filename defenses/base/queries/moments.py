"""Means and covariances of numbers near 0, with a bound on their rounding errors."""

from __future__ import annotations

import math

from defenses.base.microdata import Microdata
from metrics.arrays import Floats


def middle_of(records: Microdata, column: str) -> float:
    """Middle of the column's declared bounds, a public offset; 0 without declared bounds."""
    domain = records.domains.get(column)
    low, high = getattr(domain, "low", 0.0), getattr(domain, "high", 0.0)
    return float(low + (high - low) / 2)


def mean_of(values: Floats) -> float:
    """Mean of at least one number: a correctly rounded sum, divided by the number of values."""
    return math.fsum(values.tolist()) / values.size


def covariance_of(first: Floats, second: Floats) -> float:
    """Covariance (divided by n) of two columns of at least one number each; the variance if they are the same.

    Notes
    -----
    Let the numbers lie within [-A, A] and [-B, B]. The result is off by at most 2^-47 A B. Proof, with u = 2^-53 and
    without terms in u^2: a mean is off by 2 u A, a deviation, of at most 2 A, by 4 u A. A product of deviations is off
    by 2 A 4 u B + 2 B 4 u A + 4 u A B = 20 u A B. The sum of products and its quotient add 8 u A B. In all that is
    28 u A B, below 2^-48 A B; the terms in u^2 are smaller by far.
    """
    products = (first - mean_of(first)) * (second - mean_of(second))
    return mean_of(products)
