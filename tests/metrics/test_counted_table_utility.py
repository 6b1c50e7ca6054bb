"""Utility by counts of pairs of bins, and by drawn rows."""

import numpy as np
import pandas as pd

from metrics import CategoricalDomain
from metrics.profile import CountedProfile, original_profile
from metrics.table_utility import CountedTableUtility

NAMES = tuple("abcd")
DOMAINS = {name: CategoricalDomain(tuple("uvwxyz")) for name in NAMES}


def noise(frame, sample):
    """Mean noise of associations over three seeds, measured on some rows of a table."""
    profile = original_profile(frame, DOMAINS)
    counted = CountedProfile(profile.joint, profile.starts, profile.rows)
    none = frame[:0]
    return np.mean(
        [
            CountedTableUtility(counted, sample, DOMAINS, none, None, np.random.default_rng(seed)).noise
            for seed in range(3)
        ]
    )


def test_the_noise_of_associations_on_drawn_rows_is_that_of_all_rows():
    rng = np.random.default_rng(1)
    rows = 12_000
    common = rng.integers(0, 6, rows)
    codes = {name: np.where(rng.random(rows) < 0.5, common, rng.integers(0, 6, rows)) for name in NAMES}
    frame = pd.DataFrame({name: np.array(list("uvwxyz"))[column] for name, column in codes.items()})
    # The noise of a twelfth of the rows is twelve times as large before it is rescaled.
    assert 0.4 < noise(frame, frame[:1000]) / noise(frame, frame) < 2.5
