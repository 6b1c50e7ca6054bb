"""Replacement of rows by rows of other records."""

import numpy as np
import pandas as pd
import pytest
from rating_tools import DOMAINS, TABLE

from defenses import Identity, Microdata, RecordReplacement


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
