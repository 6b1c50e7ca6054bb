"""Sums that may fail, and shares with one wrong word."""

import numpy as np

from defenses.federated import (
    AggregationError,
)
from defenses.federated.secret_sharing import MERSENNE


def attempt(secure, values, seed, dropped=()):
    """The sum, or the message of the error."""
    try:
        return secure.total(values, np.random.default_rng(seed), dropped)
    except AggregationError as error:
        return str(error)


def corrupted(shares, place):
    changed = shares.copy()
    changed[place] = (changed[place] + np.uint64(1)) % np.uint64(MERSENNE)
    return changed
