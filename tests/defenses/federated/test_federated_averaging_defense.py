"""FederatedAveraging as a defense: releases, description, utility, bad input."""

import math

import numpy as np
import pandas as pd
import pytest

from defenses import FederatedAveraging, Microdata
from defenses.federated import (
    AggregationError,
    Encoding,
    EqualSplit,
    ExampleClipping,
    OneHiddenLayer,
    PairwiseMasks,
    PrivacyLossNoise,
    SecureAggregation,
    SequentialNoise,
    SoftmaxRegression,
)
from metrics import CategoricalDomain, NumericDomain
from metrics.ranking import area_under_curve
from scenarios import load
from scenarios.running.methods.invented_people import people
from scenarios.running.methods.methods import build, describe


def test_more_dropouts_than_masks_survive_end_a_training():
    masks = SecureAggregation(protocol=PairwiseMasks())
    defense = FederatedAveraging(split=EqualSplit(clients=12), dropout=0.7, aggregation=masks)
    with pytest.raises(AggregationError, match="too many dropouts"):
        defense.apply(people(60, np.random.default_rng(9)), np.random.default_rng(0))


def test_secure_aggregation_trains_the_same_model_and_hides_updates():
    records = people(60, np.random.default_rng(16))
    plain = FederatedAveraging(split=EqualSplit(clients=6), rounds=5)
    hidden = plain.clone().set_params(aggregation=SecureAggregation())
    ours, theirs = (method.apply(records, np.random.default_rng(17)) for method in (plain, hidden))
    np.testing.assert_allclose(ours.models[-1], theirs.models[-1], atol=1e-5)
    assert not any(theirs.updates)
    assert (theirs.view(np.random.default_rng(0)).holder == -1).all()


def test_defenses_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="uplink: noise needs clipping"):
        FederatedAveraging(uplink=PrivacyLossNoise())
    with pytest.raises(ValueError, match="uplink: epsilon"):
        FederatedAveraging(clipping=ExampleClipping(), uplink=SequentialNoise(epsilon=8.0), rounds=5)
    for value in (-0.1, 1.0, math.nan, "half"):
        with pytest.raises(ValueError, match="dropout"):
            FederatedAveraging(dropout=value)
    with pytest.raises(ValueError, match="model must be an Architecture"):
        FederatedAveraging(model="softmax")
    with pytest.raises(ValueError, match="target"):
        FederatedAveraging(target="name").apply(people(40, np.random.default_rng(0)), np.random.default_rng(0))
    with pytest.raises(AggregationError, match="too few clients"):
        FederatedAveraging(split=EqualSplit(clients=2), aggregation=SecureAggregation()).apply(
            people(40, np.random.default_rng(0)), np.random.default_rng(0)
        )


def test_bad_records_name_their_column():
    records = people(40, np.random.default_rng(21))
    frame = records.frame.copy()
    frame.loc[3, "city"] = "Atlantis"
    with pytest.raises(ValueError, match="'city'"):
        FederatedAveraging().apply(records.with_frame(frame), np.random.default_rng(0))
    frame = records.frame.copy()
    frame.loc[3, "illness"] = None
    with pytest.raises(ValueError, match="'illness', row 4: the class is missing"):
        FederatedAveraging().apply(records.with_frame(frame), np.random.default_rng(0))
    frame = records.frame.copy()
    frame.loc[3, "income"] = np.inf
    with pytest.raises(ValueError, match="'income' holds an infinity"):
        FederatedAveraging().apply(records.with_frame(frame), np.random.default_rng(0))
    for count in (0, 1):
        with pytest.raises(ValueError, match="clients"):
            FederatedAveraging().apply(records.take(np.arange(count)), np.random.default_rng(0))


def test_constant_columns_and_single_valued_domains_train():
    frame = pd.DataFrame({"x": [1.0] * 20, "y": ["a", "b"] * 10})
    domains = {"x": NumericDomain(1.0, 1.0), "y": CategoricalDomain(("a", "b"))}
    records = Microdata(frame, sensitive=("y",), domains=domains)
    release = FederatedAveraging(split=EqualSplit(clients=4)).apply(records, np.random.default_rng(0))
    assert np.isfinite(release.models[-1]).all()


def test_same_seed_same_release_and_records_stay():
    records = people(60, np.random.default_rng(22))
    before = records.frame.copy()
    method = FederatedAveraging(
        model=OneHiddenLayer(hidden=4), clipping=ExampleClipping(), uplink=PrivacyLossNoise(), participation=0.5
    )
    first, second = (method.apply(records, np.random.default_rng(23)) for _ in range(2))
    np.testing.assert_array_equal(first.models[-1], second.models[-1])
    pd.testing.assert_frame_equal(records.frame, before)


def test_parts_are_described_and_built_again():
    table = {
        "use": "FederatedAveraging",
        "model": {"use": "SoftmaxRegression"},
        "split": {"use": "LabelSkewedSplit", "clients": 5},
        "clipping": {"use": "UpdateClipping", "norm": 2.0},
        "downlink": {"use": "RenyiNoise", "epsilon": 3.0},
        "aggregation": {"use": "SecureAggregation", "protocol": {"use": "ShamirShares", "threshold": 1}},
    }
    method = build(table, "defenses")
    assert isinstance(method.model, SoftmaxRegression)
    assert build({"use": "FederatedAveraging", **describe(method)}, "defenses") == method
    with pytest.raises(ValueError, match="no parameter 'nrom'"):
        build({"use": "FederatedAveraging", "clipping": {"use": "UpdateClipping", "nrom": 2.0}}, "defenses")


@pytest.mark.long
def test_ten_equal_clients_reach_the_central_auc_on_adult():
    from sklearn.linear_model import LogisticRegression

    data = load("adult")
    encoding = Encoding.of(data.records)
    features, labels = encoding.features(data.test.frame), encoding.labels(data.test.frame)
    method = FederatedAveraging(split=EqualSplit(clients=10), rounds=50, local_epochs=10, learning_rate=1.0)
    release = method.apply(data.records, np.random.default_rng(0))
    ours = area_under_curve(release.network.probabilities(release.models[-1], features)[:, 1], labels == 1)
    model = LogisticRegression(max_iter=2000, C=1e3)
    model.fit(encoding.features(data.records.frame), encoding.labels(data.records.frame))
    central = area_under_curve(model.predict_proba(features)[:, 1], labels == 1)
    assert ours > central - 0.01
