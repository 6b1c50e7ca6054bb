"""A curator without an account: noise of one epsilon in every answer, no limit, no guarantee."""

import math

import numpy as np
import pandas as pd
import pytest

from defenses import Microdata, UnaccountedCurator
from defenses.base.queries import Count


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
