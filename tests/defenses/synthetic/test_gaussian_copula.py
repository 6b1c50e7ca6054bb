"""Gaussian copula: distributions and correlations are kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
from defense_tools import apply, table
from scipy import stats

from defenses import (
    GaussianCopula,
)
from metrics import CategoricalDomain

GRADES = CategoricalDomain(("low", "middle", "high"), ordered=True)


def test_the_copula_keeps_distributions_and_correlations():
    rng = np.random.default_rng(0)
    normal = rng.multivariate_normal([0, 0, 0], [[1, 0.8, 0.5], [0.8, 1, 0.3], [0.5, 0.3, 1]], 4000)
    grade = np.array(GRADES.categories, dtype=object)[np.digitize(normal[:, 2], [-1, 1])]
    records = table({"grade": GRADES}, x=np.exp(normal[:, 0]), y=normal[:, 1], grade=grade)
    frame = apply(GaussianCopula(), records).frame
    # Rank correlations of 4,000 normal pairs vary by less than 0.016 on either side: four times sqrt(2) of that.
    synthetic, original = (
        table.assign(grade=GRADES.codes(table["grade"])).corr(method="spearman") for table in (frame, records.frame)
    )
    assert np.abs(synthetic.loc["x", "y"] - original.loc["x", "y"]) < 0.09
    # Steps of a category take a part of its correlation away.
    assert 0.7 < synthetic.loc["x", "grade"] / original.loc["x", "grade"] < 1.1
    assert stats.ks_2samp(frame["x"], records.frame["x"]).pvalue > 1e-3
    shares = [
        column.value_counts(normalize=True).reindex(GRADES.categories) for column in (frame["grade"], pd.Series(grade))
    ]
    assert np.abs(shares[0] - shares[1]).max() < 0.04
    assert frame["x"].min() >= records.frame["x"].min()
    assert not frame["x"].isin(records.frame["x"]).mean() > 0.01
