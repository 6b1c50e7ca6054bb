"""What tests of random draws share."""

import numpy as np
from scipy import stats

ALARM = 1e-4
"""How often a statistical test raises a false alarm, over all seeds."""


def rng(*seed):
    return np.random.default_rng([*seed, 2026])


def chi_square(observed, probabilities):
    """p-value of counts under probabilities; cells expected less than ten times are joined."""
    expected = np.asarray(probabilities) * observed.sum()
    rare = expected < 10
    seen = np.append(observed[~rare], observed[rare].sum())
    wanted = np.append(expected[~rare], observed.sum() - expected[~rare].sum())
    keep = wanted > 5
    statistic = ((seen[keep] - wanted[keep]) ** 2 / wanted[keep]).sum()
    return stats.chi2.sf(statistic, keep.sum() - 1)
