"""Anchored utility of released tables."""

import numpy as np
import pandas as pd
import pytest

from defenses import Constant, Identity, Microdata, Mondrian, RetentionReplacement, Shuffle
from metrics import CategoricalDomain, NumericDomain
from metrics.profile import original_profile, profile
from metrics.references import repeated_row
from metrics.table_utility import MEASURES, TableUtility, anchored, prediction_target, weighted_marginals
from scenarios import load

COLOR = CategoricalDomain(("red", "blue"))
SIZE = NumericDomain(0, 9, integer=True, cuts=(5,))


@pytest.fixture(scope="module")
def drawn():
    records = load("bank").records
    rng = np.random.default_rng(3)
    order = rng.permutation(len(records))
    originals = records.take(order[:300])
    domains = {name: records.domain(name) for name in records.released_columns}
    return originals, TableUtility(originals.frame, domains, records.take(order[300:1500]).frame, "y", rng)


def score(drawn, defense):
    originals, utility = drawn
    return utility.score(defense.apply(originals, np.random.default_rng(5)).frame)


@pytest.mark.thorough
def test_original_is_one_and_constants_are_zero(drawn):
    best, worst = score(drawn, Identity()), score(drawn, Constant())
    for name in MEASURES:
        assert best[name] == 1.0
        assert worst[name] == 0.0
    assert best["classifier_auc"] == best["classifier_auc_original"] > 0.6
    assert worst["classifier_auc"] == 0.5


@pytest.mark.thorough
def test_utility_falls_as_more_is_replaced(drawn):
    steps = [score(drawn, RetentionReplacement(retention=retention)) for retention in (0.9, 0.7, 0.5, 0.3)]
    for name in MEASURES:
        values = [step[name] for step in steps]
        assert values == sorted(values, reverse=True)
        assert values[0] > values[-1]


def test_shuffling_keeps_marginals_and_loses_associations(drawn):
    shuffled = score(drawn, Shuffle())
    assert shuffled["marginals"] == pytest.approx(1.0)
    assert shuffled["associations"] < 0.3


@pytest.mark.thorough
def test_generalized_cells_are_worth_something_in_between(drawn):
    # With 50 people in a cell, marginals are no nearer than uniform draws come by luck.
    values = [score(drawn, Mondrian(k=k))["marginals"] for k in (2, 10, 20)]
    assert 1 > values[0] > values[1] > values[2] > 0


def test_empty_release_and_missing_column(drawn):
    originals, utility = drawn
    empty = utility.score(originals.frame.iloc[:0])
    assert [empty[name] for name in (*MEASURES, "classifier_auc")] == [*(0 for _ in MEASURES), 0.5]
    with pytest.raises(ValueError, match="no column 'age'"):
        utility.score(originals.frame.drop(columns="age"))
    with pytest.raises(ValueError, match="empty"):
        TableUtility(originals.frame.iloc[:0], utility.domains, originals.frame, "y", np.random.default_rng())


def test_nothing_to_predict_leaves_the_classifier_out():
    frame = pd.DataFrame({"color": ["red", "blue"], "size": [1, 2]})
    utility = TableUtility(frame, {"color": COLOR, "size": SIZE}, frame, None, np.random.default_rng(0))
    assert utility.score(frame)["classifier_auc"] is None
    assert prediction_target(("size", "color"), {"color": COLOR, "size": SIZE}) == "color"


def test_one_column_one_row_constant_column():
    frame = pd.DataFrame({"color": ["red"]})
    utility = TableUtility(frame, {"color": COLOR}, frame, None, np.random.default_rng(0))
    assert utility.score(frame)["marginals"] == 1.0


def test_anchoring():
    assert [anchored(value, 0.6) for value in (0.5, 0.6, 0.8, 1.0)] == pytest.approx([0, 0, 0.5, 1])
    assert (anchored(1.0, 1.0), anchored(0.9, 1.0)) == (1.0, 0.0)


def test_missing_values_are_a_value_of_their_own():
    frame = pd.DataFrame({"color": ["red", None, None, "blue"], "size": [1.0, np.nan, 7.0, 7.0]})
    records = Microdata(frame, quasi_identifiers=("color", "size"), domains={"color": COLOR, "size": SIZE})
    utility = TableUtility(frame, records.domains, frame, None, np.random.default_rng(0))
    assert utility.score(frame)["marginals"] == 1.0
    assert utility.score(frame.fillna({"color": "red", "size": 1}))["marginals"] < 1.0


def weighted(original, release, domains, rng):
    """Weighted marginals of two tables that both have a column of weights."""
    others = {name: domain for name, domain in domains.items() if name != "weight"}
    tables = []
    for frame, table in ((original, original_profile(original, others)), (release, profile(release, others))):
        weights = frame["weight"].astype(float).to_numpy()
        tables.append(repeated_row(weights @ table.mass / weights.sum(), table))
    return weighted_marginals(*tables, others, rng)


def test_weighted_marginals_count_each_row_by_its_weight(monkeypatch):
    monkeypatch.setattr("metrics.table_utility.information_free_fidelity", lambda *_: {"marginals": 0.5})
    domains = {"color": COLOR, "size": SIZE, "weight": NumericDomain(1, 9)}
    original = pd.DataFrame({"color": ["red", "blue", "blue"], "size": [1, 1, 7], "weight": [6.0, 1.0, 3.0]})
    released = pd.DataFrame({"color": ["red", "blue", "*"], "size": ["1", "7", "7"], "weight": ["1", "1", "2"]})
    # Red is .6 of the population, and 1/4 + half of 2/4 of the release; sizes below 5 are .7, and 1/4 of the release.
    rng = np.random.default_rng(1)
    assert weighted(original, released, domains, rng) == pytest.approx((1 - (0.1 + 0.45) / 2 - 0.5) / 0.5)
    del domains["size"]
    assert weighted(original, released, domains, rng) == pytest.approx((1 - 0.1 - 0.5) / 0.5)
    assert weighted(original, original.astype(str), domains, rng) == 1.0


def test_a_sample_with_its_weights_is_worth_more_than_its_rows():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"size": rng.choice(10, 3000, p=np.arange(1, 11) / 55), "weight": 1.0})
    domains = {"size": NumericDomain(0, 9, integer=True, cuts=tuple(range(1, 9)))}
    # Large sizes are sampled four times as often, and count a quarter.
    large = (frame["size"] > 6).to_numpy()
    sample = frame.assign(weight=np.where(large, 1.25, 5.0))[rng.random(3000) < np.where(large, 0.8, 0.2)]
    figures = [
        weighted(frame, table, {**domains, "weight": None}, np.random.default_rng(3))
        for table in (sample, sample.assign(weight=1.0))
    ]
    assert figures[0] > 0.8
    assert figures[1] < 0.3
