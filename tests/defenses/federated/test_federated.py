"""Federated averaging: gradients, splits, clipping, noise scales, guarantees, bad input."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from defenses import FederatedAveraging, Microdata
from defenses.federated import (
    AdditiveShares,
    AggregationError,
    Client,
    Encoding,
    EqualSplit,
    ExampleClipping,
    LabelSkewedSplit,
    Network,
    OneHiddenLayer,
    PairwiseMasks,
    PrivacyLossNoise,
    RenyiNoise,
    SecureAggregation,
    SerialNoise,
    ShamirShares,
    SoftmaxRegression,
    TrainingRules,
    UnequalSplit,
    UpdateClipping,
    classical_multiplier,
    downlink_sensitivity,
    federated_averaging,
    uplink_sensitivity,
)
from defenses.federated.averaging import Sensitivities
from metrics import CategoricalDomain, NumericDomain
from metrics.ranking import area_under_curve
from scenarios import load
from scenarios.conformance.people import people
from scenarios.methods import build, describe


def some(rng, n=7, d=5, classes=3):
    return rng.normal(size=(n, d)), rng.integers(classes, size=n)


def clients(rng, count=4, n=6, d=5):
    return [Client(*some(rng, n, d), ("a", "b", "c")) for _ in range(count)]


@pytest.mark.parametrize("sizes", [(5, 3), (5, 4, 3)])
def test_gradients_are_those_of_the_loss(sizes):
    rng = np.random.default_rng(0)
    network = Network(sizes)
    weights, (features, labels) = rng.normal(size=network.size), some(rng)
    examples = network.example_gradients(weights, features, labels)
    step = 1e-6
    for place in range(network.size):
        moved = [weights + sign * step * np.eye(network.size)[place] for sign in (1, -1)]
        slope = (network.losses(moved[0], features, labels) - network.losses(moved[1], features, labels)) / (2 * step)
        np.testing.assert_allclose(examples[:, place], slope, atol=1e-7)
    np.testing.assert_allclose(network.gradient(weights, features, labels), examples.mean(axis=0))
    inputs, errors = network.errors(weights, features, labels)
    np.testing.assert_allclose(network.example_norms(inputs, errors), np.linalg.norm(examples, axis=1))


def test_clients_at_once_are_clients_one_by_one():
    rng = np.random.default_rng(1)
    network = Network((5, 4, 3))
    weights, features, labels = (
        rng.normal(size=(2, network.size)),
        rng.normal(size=(2, 6, 5)),
        rng.integers(3, size=(2, 6)),
    )
    together = network.gradient(weights, features, labels)
    for client in range(2):
        np.testing.assert_allclose(
            together[client], network.gradient(weights[client], features[client], labels[client])
        )


def test_records_survive_their_encoding():
    records = people(80, np.random.default_rng(2), missing=True)
    encoding = Encoding.of(records)
    features, labels = encoding.features(records.frame), encoding.labels(records.frame)
    assert features.min() >= 0
    assert features.max() <= 1
    decoded = encoding.decode(features, labels)
    for name in ("city", "grade", "illness"):
        assert [value if isinstance(value, str) else None for value in records.frame[name]] == decoded[name].tolist()
    for name in ("age", "income"):
        np.testing.assert_allclose(decoded[name].astype(float), records.frame[name].astype(float), rtol=1e-9)
    assert encoding.same_cells(records.frame, decoded).all()


def test_the_encoding_reads_no_record():
    records = people(30, np.random.default_rng(3))
    assert Encoding.of(records) == Encoding.of(records.take([0]))
    bare = Microdata(records.frame[["age", "illness"]], sensitive=("illness",), domains={"age": NumericDomain(0, 100)})
    with pytest.raises(ValueError, match="'illness' has no public domain"):
        Encoding.of(bare)


@pytest.mark.parametrize(
    "split",
    [EqualSplit(clients=7), UnequalSplit(clients=7, ratio=5.0), LabelSkewedSplit(clients=7, concentration=0.3)],
)
def test_splits_keep_to_their_sizes(split):
    labels = np.random.default_rng(4).integers(3, size=200)
    holder = split.assign(labels, np.random.default_rng(5))
    sizes = split.sizes(200)
    assert sizes.sum() == 200
    np.testing.assert_array_equal(np.bincount(holder, minlength=7), sizes)
    with pytest.raises(ValueError, match="empty"):
        split.sizes(6)


def test_skewed_labels_are_skewed_and_unequal_clients_unequal():
    labels = np.repeat([0, 1], 500)

    def spread(split):
        holder = split.assign(labels, np.random.default_rng(6))
        return np.std([labels[holder == client].mean() for client in range(10)])

    assert spread(LabelSkewedSplit(clients=10, concentration=0.5)) > 4 * spread(EqualSplit(clients=10))
    sizes = UnequalSplit(clients=10, ratio=10.0).sizes(1100)
    assert 8 < sizes.max() / sizes.min() < 12


def test_the_training_uses_these_scales():
    noise = SerialNoise(epsilon=5.0, delta=1e-4)
    rules = TrainingRules(10, 1, 0.5, clipping=ExampleClipping(norm=1.0), uplink=noise, downlink=noise)
    sizes = np.array([100, 300, 600])
    moved = Sensitivities.of(rules, sizes, np.arange(3), np.arange(3))
    assert noise.multiplier(10) == pytest.approx(classical_multiplier(0.5, 1e-5))
    assert moved.uplink == pytest.approx(uplink_sensitivity(1.0, 100))
    assert moved.downlink == pytest.approx(downlink_sensitivity(1.0, 0.6, 100))
    # Of a sum, p_i 2C / n_i; of the mean of the first two alone, with the smallest of all clients.
    hidden = replace(rules, aggregation=SecureAggregation())
    assert Sensitivities.of(hidden, sizes, np.arange(3), np.arange(2)).uplink == pytest.approx(0.1 * 2 / 100)
    assert Sensitivities.of(rules, sizes, np.arange(3), np.arange(2)).downlink == pytest.approx(0.75 * 2 / 100)


@pytest.mark.parametrize("make", [SerialNoise, RenyiNoise, PrivacyLossNoise])
def test_the_noise_of_a_secure_sum_has_its_scale_with_dropouts_too(make):
    group = clients(np.random.default_rng(7), count=20, n=5, d=60)
    noise = make(epsilon=0.5, delta=1e-5)
    noises = {}
    for dropout in (0.0, 0.3):
        rules = TrainingRules(
            1, 1, 0.5, dropout=dropout, clipping=ExampleClipping(norm=1.0), aggregation=SecureAggregation()
        )
        plain, seen = (
            federated_averaging(Network((60, 3)), group, part, np.random.default_rng(8))
            for part in (rules, replace(rules, uplink=noise))
        )
        answering = 20 - int(dropout * 20)
        assert seen.participants[0].size == answering
        np.testing.assert_array_equal(seen.participants[0], plain.participants[0])
        # 2C/n of the 100 records drawn, over the weight of those that answer: 2C over their records.
        wanted = noise.multiplier(1) * 2 / (5 * answering)
        assert seen.noise == pytest.approx(wanted, rel=1e-3)
        noises[dropout] = (seen.aggregates[0] - plain.aggregates[0]).std() / wanted
    # 183 draws each: 4 standard errors.
    assert list(noises.values()) == pytest.approx([1, 1], abs=0.21)


@pytest.mark.parametrize("protocol", [AdditiveShares(), ShamirShares(), PairwiseMasks()], ids=repr)
def test_clients_drop_out_of_a_training(protocol):
    group = [Client(*some(np.random.default_rng(n), n), ("a", "b", "c")) for n in range(3, 15)]
    rules = TrainingRules(6, 2, 0.7, dropout=0.25)
    plain = federated_averaging(Network((5, 3)), group, rules, np.random.default_rng(0))
    hidden = federated_averaging(
        Network((5, 3)),
        group,
        replace(rules, aggregation=SecureAggregation(protocol=protocol)),
        np.random.default_rng(0),
    )
    assert [part.size for part in hidden.participants] == [9] * 6
    assert len({tuple(part) for part in hidden.participants}) > 1
    for ours, theirs in zip(plain.updates, plain.participants, strict=True):
        assert sorted(ours) == theirs.tolist()
    # The mean over those who answer, by their own weights, either way.
    np.testing.assert_allclose(hidden.models[-1], plain.models[-1], atol=1e-5)
    few = replace(rules, aggregation=SecureAggregation(protocol=protocol, minimum=10))
    with pytest.raises(AggregationError, match="too few clients: 9 send and 10 are needed"):
        federated_averaging(Network((5, 3)), group, few, np.random.default_rng(0))


def test_more_dropouts_than_masks_survive_end_a_training():
    masks = SecureAggregation(protocol=PairwiseMasks())
    defense = FederatedAveraging(split=EqualSplit(clients=12), dropout=0.7, aggregation=masks)
    with pytest.raises(AggregationError, match="too many dropouts"):
        defense.apply(people(60, np.random.default_rng(9)), np.random.default_rng(0))


def test_noise_in_the_updates_has_its_scale():
    rng = np.random.default_rng(7)
    group = clients(rng, count=40, n=5, d=30)
    rules = TrainingRules(1, 1, 0.5, clipping=ExampleClipping(norm=1.0))
    plain = federated_averaging(Network((30, 3)), group, rules, np.random.default_rng(8))
    noised = TrainingRules(1, 1, 0.5, clipping=ExampleClipping(norm=1.0), uplink=SerialNoise(epsilon=0.5, delta=1e-5))
    seen = federated_averaging(Network((30, 3)), group, noised, np.random.default_rng(8))
    noise = np.array([seen.updates[0][client] - plain.updates[0][client] for client in range(40)])
    wanted = classical_multiplier(0.5, 1e-5) * 2 / 5
    assert noise.std() == pytest.approx(wanted, rel=0.05)  # 3,720 draws: 4.3 standard errors


def test_the_lectures_bound_fails_for_minimisers_and_holds_for_clipped_gradients():
    values = np.array([-1.0] * 50 + [1.0] * 51)
    moved = values.copy()
    moved[-1] = -1.0
    # Mean absolute loss on [-C, C], n = 101: the minimiser is the median, and one record moves it by 2C, not 2C/101.
    assert abs(np.median(values) - np.median(moved)) == 2.0
    assert uplink_sensitivity(1.0, 101) < 0.02
    assert ExampleClipping(norm=1.0).record_sensitivity(101, 1) == uplink_sensitivity(1.0, 101)
    assert ExampleClipping(norm=1.0).record_sensitivity(101, 3) == pytest.approx(2 / 101 + 4)
    assert UpdateClipping(norm=1.0).record_sensitivity(101, 1) == UpdateClipping(norm=1.0).client_sensitivity(1) == 2


@pytest.mark.parametrize("clipping", [ExampleClipping(norm=0.3), UpdateClipping(norm=0.3)])
@pytest.mark.parametrize("steps", [1, 3])
def test_no_replaced_record_moves_an_update_further_than_its_sensitivity(clipping, steps):
    rng = np.random.default_rng(13)
    farthest = 0.0
    for _ in range(50):
        group = clients(rng, count=2, n=4)
        other = Client(group[0].features.copy(), group[0].labels.copy(), group[0].classes)
        other.features[0] = 10 * rng.normal(size=5)
        other.labels[0] = rng.integers(3)
        rules = TrainingRules(1, steps, 2.0, clipping=clipping)
        ends = [
            federated_averaging(Network((5, 3)), [first, group[1]], rules, np.random.default_rng(0)).updates[0][0]
            for first in (group[0], other)
        ]
        farthest = max(farthest, np.linalg.norm(ends[0] - ends[1]))
    assert 0 < farthest <= clipping.record_sensitivity(4, steps) + 1e-12


def test_one_step_of_averaging_is_a_step_on_all_records():
    rng = np.random.default_rng(14)
    group = [Client(*some(rng, n), ("a", "b", "c")) for n in (3, 9, 5)]
    network = Network((5, 3))
    training = federated_averaging(network, group, TrainingRules(6, 1, 0.7), np.random.default_rng(15))
    features, labels = (np.concatenate([getattr(c, name) for c in group]) for name in ("features", "labels"))
    weights = training.models[0]
    for _ in range(6):
        weights = weights - 0.7 * network.gradient(weights, features, labels)
    np.testing.assert_allclose(training.models[-1], weights, atol=1e-12)


def test_secure_aggregation_trains_the_same_model_and_hides_updates():
    records = people(60, np.random.default_rng(16))
    plain = FederatedAveraging(split=EqualSplit(clients=6), rounds=5)
    hidden = plain.clone().set_params(aggregation=SecureAggregation())
    ours, theirs = (method.apply(records, np.random.default_rng(17)) for method in (plain, hidden))
    np.testing.assert_allclose(ours.models[-1], theirs.models[-1], atol=1e-5)
    assert not any(theirs.updates)
    assert (theirs.view(np.random.default_rng(0)).holder == -1).all()


def test_clients_are_drawn():
    training = federated_averaging(
        Network((5, 3)),
        clients(np.random.default_rng(18), 10),
        TrainingRules(8, 1, 0.5, participation=0.3),
        np.random.default_rng(0),
    )
    assert [part.size for part in training.participants] == [3] * 8
    assert len({tuple(part) for part in training.participants}) > 1


def bad(group, rules=None, network=None):
    return federated_averaging(
        network or Network((5, 3)), group, rules or TrainingRules(2, 1, 0.5), np.random.default_rng(0)
    )


def test_bad_clients_are_refused():
    group = clients(np.random.default_rng(19))
    with pytest.raises(ValueError, match="at least 2 are needed, got 1"):
        bad(group[:1])
    with pytest.raises(ValueError, match="client 1 is empty"):
        bad([group[0], Client(np.zeros((0, 5)), np.zeros(0, dtype=np.intp), group[0].classes)])
    with pytest.raises(ValueError, match="client 1: features must be finite"):
        bad([group[0], Client(np.full((2, 5), np.nan), np.zeros(2, dtype=np.intp), group[0].classes)])
    with pytest.raises(ValueError, match=r"client 1: its classes .* differ from those of client 0"):
        bad([group[0], Client(group[1].features, group[1].labels, ("a", "b"))])
    with pytest.raises(ValueError, match="client 1: a label is none"):
        bad([group[0], Client(group[1].features, group[1].labels + 3, group[1].classes)])
    with pytest.raises(ValueError, match="client 0: features of shape"):
        bad([Client(group[0].features[:2], group[0].labels, group[0].classes), group[1]])


def test_gradients_that_are_not_finite_name_client_and_round():
    group = clients(np.random.default_rng(20))
    huge = [Client(client.features * 1e200, client.labels, client.classes) for client in group]
    with pytest.raises(ValueError, match=r"client \d, round \d: the gradient is not finite"):
        bad(huge, TrainingRules(5, 1, 1e200), Network((5, 4, 3)))


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "1", True])
def test_clipping_norms_that_are_no_bound_are_refused(value):
    for kind in (ExampleClipping, UpdateClipping):
        with pytest.raises(ValueError, match="norm"):
            kind(norm=value)


@pytest.mark.parametrize("kind", [SerialNoise, RenyiNoise, PrivacyLossNoise])
def test_budgets_out_of_range_are_refused(kind):
    for delta in (0.0, 1.0, 1.5, math.nan):
        with pytest.raises(ValueError, match="delta"):
            kind(delta=delta)
    for epsilon in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="epsilon"):
            kind(epsilon=epsilon)


def test_defenses_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="uplink: noise needs clipping"):
        FederatedAveraging(uplink=PrivacyLossNoise())
    with pytest.raises(ValueError, match="uplink: epsilon"):
        FederatedAveraging(clipping=ExampleClipping(), uplink=SerialNoise(epsilon=8.0), rounds=5)
    for value in (-0.1, 1.0, math.nan, "half"):
        with pytest.raises(ValueError, match="dropout"):
            FederatedAveraging(dropout=value)
    with pytest.raises(ValueError, match="model must be an Architecture"):
        FederatedAveraging(model="softmax")
    with pytest.raises(ValueError, match="clients"):
        EqualSplit(clients=1)
    with pytest.raises(ValueError, match="hidden"):
        OneHiddenLayer(hidden=0)
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
