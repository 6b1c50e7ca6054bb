"""Audit of epsilon from samples under two neighbouring tables."""

import numpy as np

from metrics.empirical_epsilon import epsilon_lower_bound


def told_apart(first, second, delta):
    """Lower bound on epsilon from what an auditor saw in one world and in the other."""
    half = len(first) // 2
    cuts = np.quantile(first[:half], np.linspace(0.02, 0.98, 49))

    def counts(part, cuts):
        return (part > np.reshape(cuts, (-1, 1))).sum(axis=1)

    bounds = epsilon_lower_bound(
        counts(first[:half], cuts), half, counts(second[:half], cuts), half, delta=delta, confidence=0.999
    )
    cut = cuts[int(np.argmax(bounds))]
    fresh = [counts(part[half:], cut) for part in (first, second)]
    return float(epsilon_lower_bound(fresh[0], half, fresh[1], half, delta=delta, confidence=0.999)[0])
