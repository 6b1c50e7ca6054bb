"""Exact answers without limit."""

import math

import numpy as np
import pandas as pd
import pytest

from defenses import ExactCurator, Microdata
from defenses.base.queries import Mean
from metrics.columns.domains import NumericDomain


def session(values):
    records = Microdata(pd.DataFrame({"age": values}), domains={"age": NumericDomain(0, 100)})
    return ExactCurator().apply(records, np.random.default_rng(0)).open(np.random.default_rng(0))


def test_every_answer_is_exact_and_costs_nothing():
    exact = session([10.0, 20.0, 60.0])
    assert [exact.answer(Mean("age"), epsilon=0.1) for _ in range(5)] == [30.0] * 5
    assert exact.remaining == math.inf
    assert exact.refused == 0


def test_an_unknown_column_is_refused():
    with pytest.raises(ValueError, match="height"):
        session([10.0]).answer(Mean("height"))
