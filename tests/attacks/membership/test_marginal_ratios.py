"""Log-ratios of marginals by hand, their mutual information, and limits on pairs."""

import numpy as np
import pandas as pd
import pytest

from attacks import Knowledge
from attacks.membership import marginal_membership as module
from attacks.membership.marginal_membership import SMOOTHING, UNSEEN, coded, marginal_ratios
from defenses import Microdata, MicrodataRelease
from metrics import CategoricalDomain, NumericDomain

DOMAINS = {"job": CategoricalDomain(("a", "b")), "age": NumericDomain(0, 99, cuts=(50,))}


def release(jobs, ages):
    return MicrodataRelease(pd.DataFrame({"job": jobs, "age": ages}), np.full(len(jobs), -1))


@pytest.fixture
def knowledge():
    people = pd.DataFrame({"job": ["a", "a", "b", "b"], "age": [10, 60, 20, 70]})
    return Knowledge(pd.DataFrame({"job": ["a", "b"], "age": [30, np.nan]}), Microdata(people, domains=DOMAINS))


def test_ratios_compare_a_table_with_others_and_the_population(knowledge):
    attacked, other = release(["a", "a", "a", "b"], [10, 10, 60, 60]), release(["b", "b"], [20, 20])
    ratios = marginal_ratios(attacked, [other], knowledge)
    assert ratios.marginals == [(0,), (1,), (0, 1)]
    result = ratios.log_ratios(0, [1], coded(knowledge.candidates, knowledge, ["job", "age"]))
    unseen, weight = UNSEEN / (4 * 2), SMOOTHING / 4

    def expected(released, others, population):
        usual = (others + population) / 2 + unseen
        return np.log((released + weight * usual) / (1 + weight) / usual)

    assert result[0] == pytest.approx([expected(3 / 4, 0, 1 / 2), expected(1 / 2, 1, 1 / 2), expected(1 / 2, 0, 1 / 4)])
    # Nobody has a missing age, so that there is no evidence.
    assert result[1, 1:] == pytest.approx(np.log(weight / (1 + weight)))
    assert ratios.single.tolist() == [1, 1, 0]


def test_mutual_information_of_independent_and_equal_columns(knowledge):
    independent = release(["a", "a", "b", "b"], [10, 60, 10, 60])
    equal = release(["a", "a", "b", "b"], [10, 10, 60, 60])
    assert marginal_ratios(independent, [independent], knowledge).information() == pytest.approx([0, 0, 0])
    assert marginal_ratios(equal, [equal], knowledge).information() == pytest.approx([0, 0, np.log(2)])


def test_the_most_informative_pairs_are_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 1)
    people = pd.DataFrame({"x": ["a", "b"] * 20, "y": ["a"] * 20 + ["b"] * 20, "z": ["a", "b"] * 20})
    domains = {name: CategoricalDomain(("a", "b")) for name in people}
    table = MicrodataRelease(people, np.full(40, -1))
    ratios = marginal_ratios(table, [table], Knowledge(people, Microdata(people, domains=domains)))
    assert ratios.marginals == [(0,), (1,), (2,), (0, 2)]


def test_large_pairs_are_left_out(monkeypatch, knowledge):
    monkeypatch.setattr(module, "MOST_CELLS", 8)
    table = release(["a"], [10])
    assert marginal_ratios(table, [table], knowledge).marginals == [(0,), (1,)]
