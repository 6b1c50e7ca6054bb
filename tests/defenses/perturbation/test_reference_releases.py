"""Replacement of rows by rows of other records."""

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, people, table
from rating_tools import DOMAINS, TABLE

from defenses import Identity, Microdata, RecordReplacement
from defenses.base.defense import released_frame
from defenses.perturbation.reference_releases import Constant
from metrics.columns.domains import NumericDomain


def test_identity_releases_what_it_holds():
    records = people()
    release = apply(Identity(), records)
    pd.testing.assert_frame_equal(release.frame, released_frame(records))
    assert release.channel.parts == ()


def test_constant_releases_the_typical_cell():
    domains = {"n": NumericDomain(0, 9, integer=True, cuts=(5,)), "m": NumericDomain(0, 9)}
    columns = {"n": [9, 1, 2, 3], "c": ["b", "*", "*", "b"], "m": [np.nan, 4.0, np.nan, 5.0], "e": [None] * 4}
    frame = apply(Constant(), table(domains, **columns)).frame
    # Three of n lie below 5, with lower median 2; ties of c and m go to the first in order, missing being the last.
    assert frame.to_dict("list") == {"n": [2] * 4, "c": ["\\*"] * 4, "m": [4.0] * 4, "e": [None] * 4}


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
