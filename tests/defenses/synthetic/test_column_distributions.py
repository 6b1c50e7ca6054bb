"""Synthetic tables drawn from column distributions: independent marginals and the Gaussian copula."""

from __future__ import annotations

import numpy as np
import pytest
from defense_tools import apply, table

from defenses import (
    GaussianCopula,
    GlobalRecoding,
    IndependentMarginals,
    Microdata,
    Pipeline,
)
from metrics import CategoricalDomain, read_cells
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator

GRADES = CategoricalDomain(("low", "middle", "high"), ordered=True)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("defense", [IndependentMarginals(), IndependentMarginals(smoothing=0), GaussianCopula()])
def test_synthetic_rows_stem_from_nobody_and_can_be_read(defense):
    for title, records in {
        "plain": people(300, generator(0, "people")),
        "missing": people(300, generator(0, "missing"), missing=True),
        "constant": people(30, generator(0, "constant"), constant=True),
        "one": people(1, generator(0, "one")),
        "none": people(0, generator(0, "none")),
    }.items():
        release = apply(defense, records)
        assert len(release.frame) == len(records)
        assert (release.origin == -1).all()
        assert release.channel is None
        assert list(release.frame.columns) == list(records.released_columns)
        for name in release.frame.columns:
            cells = read_cells(release.frame[name], records.domains[name])
            assert cells.plain.all()
        ages = release.frame["age"].dropna()
        assert ages.between(18, 95).all()
        assert (ages == ages.round()).all()
        if title == "missing":
            shares = release.frame.isna().mean(), records.frame[list(release.frame)].isna().mean()
            # Both sides vary by 0.017; four times sqrt(2) of that for four columns.
            assert np.abs(shares[0] - shares[1]).max() < 0.1
        elif len(records):
            assert release.frame.notna().all(axis=None)


def test_columns_without_an_order_and_generalized_ones():
    records = people(200, generator(0, "people"))
    for defense in (IndependentMarginals(), GaussianCopula()):
        release = apply(Pipeline(steps=[GlobalRecoding(levels={"age": 1, "city": 1}), defense]), records)
        assert (release.origin == -1).all()
        assert set(release.frame["age"].astype(str)) <= set(
            apply(GlobalRecoding(levels={"age": 1}), records).frame["age"].astype(str)
        )
    wholly = Microdata(records.frame.assign(income=np.nan), ("name",), ("age", "income"), (), dict(records.domains))
    for defense in (IndependentMarginals(), GaussianCopula()):
        assert apply(defense, wholly).frame["income"].isna().all()
    with pytest.raises(ValueError, match="column 'grade'"):
        apply(GaussianCopula(), table({"grade": GRADES}, grade=["low", "best"]))
