"""A curator without an account: noise of one epsilon in every answer, no limit, no guarantee."""

import math

import numpy as np
import pandas as pd
import pytest

from defenses import ExactCurator, Microdata, UnaccountedCurator
from defenses.base.queries import Count, Mean
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


def test_a_query_cannot_choose_its_epsilon():
    records = Microdata(pd.DataFrame({"city": ["Uji", "Nara"] * 10}))
    answers = []
    for epsilon in (None, 1e6):
        release = UnaccountedCurator(epsilon=0.1).apply(records, np.random.default_rng(0))
        session = release.open(np.random.default_rng(1))
        answers.append([session.answer(Count(), epsilon=epsilon) for _ in range(50)])
        assert session.remaining == math.inf
    assert answers[0] == answers[1]
    assert len(set(answers[0])) > 1


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({"epsilon": 0}, "epsilon"), ({"epsilon": math.nan}, "epsilon"), ({"neighbours": "swap"}, "neighbours")],
)
def test_bad_parameters_are_refused(parameters, name):
    with pytest.raises(ValueError, match=name):
        UnaccountedCurator(**parameters)
