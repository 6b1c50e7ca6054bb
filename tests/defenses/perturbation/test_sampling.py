"""Simple random sampling."""

import numpy as np
from defense_tools import apply, table
from scipy import stats

from defenses.perturbation.sampling import Sampling


def test_sample_has_its_size_and_is_uniform():
    records = table(x=list(range(10)))
    rng = np.random.default_rng(3)
    hits = np.zeros(10)
    for _ in range(600):
        release = Sampling(rate=0.3).apply(records, rng)
        assert release.frame["x"].tolist() == release.origin.tolist() == sorted(set(release.origin.tolist()))
        assert len(release.frame) == 3
        hits[release.origin] += 1
    # Of 10 hits the variances sum to 600 * 10 * 0.21; scaled by 9 / 10 of that they are chi-square with 9 degrees.
    statistic = ((hits - 180) ** 2).sum() / (600 * 0.21 * 10 / 9)
    assert stats.chi2.sf(statistic, 9) > 1e-4
    assert len(apply(Sampling(rate=0.01), records).frame) == 1
    assert len(apply(Sampling(rate=1.0), records).frame) == 10
