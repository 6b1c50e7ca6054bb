"""The release of one constant row."""

import numpy as np
from defense_tools import apply, table

from defenses.perturbation.constant import Constant
from metrics.columns.domains import NumericDomain


def test_constant_releases_the_typical_cell():
    domains = {"n": NumericDomain(0, 9, integer=True, cuts=(5,)), "m": NumericDomain(0, 9)}
    columns = {"n": [9, 1, 2, 3], "c": ["b", "*", "*", "b"], "m": [np.nan, 4.0, np.nan, 5.0], "e": [None] * 4}
    frame = apply(Constant(), table(domains, **columns)).frame
    # Three of n lie below 5, with lower median 2; ties of c and m go to the first in order, missing being the last.
    assert frame.to_dict("list") == {"n": [2] * 4, "c": ["\\*"] * 4, "m": [4.0] * 4, "e": [None] * 4}
