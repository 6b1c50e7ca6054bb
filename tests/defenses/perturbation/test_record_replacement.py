"""Replacement of rows by rows of other records."""

import numpy as np
import pandas as pd
import pytest

from defenses import Identity, Microdata, RecordReplacement
from metrics.domains import CategoricalDomain, NumericDomain

DOMAINS = {
    "person": CategoricalDomain(("a", "b", "c")),
    "item": CategoricalDomain(("x", "y", "z", "u|v")),
    "rating": NumericDomain(0.5, 5),
    "day": NumericDomain(0, 1000, integer=True),
}
TABLE = pd.DataFrame(
    {
        "person": list("aabbbc"),
        "item": ["x", "y", "x", "y", "u|v", "z"],
        "rating": [5.0, 4.0, 5.0, 1.0, 3.0, 2.0],
        "day": [10, 20, 300, 400, 500, 600],
    }
)


def test_replaced_rows():
    records = Microdata(TABLE, domains=DOMAINS, person="person")
    release = RecordReplacement(share=1.0).apply(records, np.random.default_rng(0))
    assert release.frame["person"].tolist() == TABLE["person"].tolist()
    assert (release.origin == -1).all()
    plain = Microdata(TABLE, domains=DOMAINS)
    release = RecordReplacement(share=0.5).apply(plain, np.random.default_rng(0))
    expected = Identity().apply(plain, np.random.default_rng(0)).frame.iloc[release.origin].reset_index(drop=True)
    pd.testing.assert_frame_equal(release.frame, expected)
    with pytest.raises(ValueError, match="share"):
        RecordReplacement(share=1.2)
