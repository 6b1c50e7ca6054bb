"""Helpers for tests of channels."""

import numpy as np
import pandas as pd
from scipy import stats

LEVEL = 1e-4
"""False-alarm probability of each chi-square test over random seeds; the seeds of the tests are fixed."""


def one_column(part, released, original):
    """Likelihood of one column's released cells under its original values."""
    return part.bind(pd.DataFrame({part.columns[0]: released}), pd.DataFrame({part.columns[0]: original}))


def chi_square(observed, expected):
    """P-value of the chi-square test of goodness of fit; cells with an expected count below 5 are pooled."""
    rare = expected < 5
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    keep = expected > 0
    assert observed[~keep].sum() == 0
    return stats.chisquare(observed[keep], expected[keep]).pvalue
