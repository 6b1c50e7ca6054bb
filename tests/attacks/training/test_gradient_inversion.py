"""Gradient inversion: exact readings, batches, and what one gradient cannot give."""

import numpy as np
import pytest
from training_tools import played

from attacks import GradientInversion, Knowledge, UpdateMembership
from defenses import FederatedAveraging
from defenses.federated import (
    EqualSplit,
    OneHiddenLayer,
)
from scenarios.games.training import matched_cells
from scenarios.running.methods.invented_people import people


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("model", [None, OneHiddenLayer(hidden=16)])
@pytest.mark.parametrize("name", ["adult", "bank"])
def test_a_single_records_gradient_is_inverted_exactly(name, model, request):
    records = request.getfixturevalue(name).take(np.arange(100))
    defense = FederatedAveraging(model=model, split=EqualSplit(clients=100), rounds=1)
    release = defense.apply(records, np.random.default_rng(0))
    auxiliary = request.getfixturevalue(name).take(np.arange(1000, 1100))
    seen = release.view(np.random.default_rng(1))
    claims = GradientInversion().run(seen, Knowledge(records.frame, auxiliary), np.random.default_rng(2))
    truth = records.frame.iloc[np.argsort(release.holder)].reset_index(drop=True)
    equal = np.array([(claims.values[column] == truth[column]).to_numpy() for column in release.encoding.columns])
    # Not only bins: all values of all 100.
    assert equal.all()


def test_missing_cells_are_inverted_too():
    records = people(40, np.random.default_rng(3), missing=True)
    release = FederatedAveraging(split=EqualSplit(clients=40), rounds=1).apply(records, np.random.default_rng(0))
    knowledge = Knowledge(records.frame, people(40, np.random.default_rng(4)))
    claims = GradientInversion().run(release.view(np.random.default_rng(1)), knowledge, np.random.default_rng(2))
    assert matched_cells(release.encoding, records.frame, release.holder, claims.values).all()


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", ["adult", "bank"])
@pytest.mark.parametrize(
    "settings",
    [
        {"model": OneHiddenLayer(hidden=32), "rounds": 1},
        {"rounds": 20},
        {"rounds": 20, "local_epochs": 5},
    ],
    ids=["one gradient", "regression", "local steps"],
)
def test_a_batch_of_eight_is_read_far_beyond_the_guess(name, settings, request):
    defense = FederatedAveraging(split=EqualSplit(clients=10), **settings)
    (scores,) = played(request.getfixturevalue(name), 80, defense, [GradientInversion()])
    assert scores["reconstruction"].chance < 0.6
    assert scores["reconstruction"].rate > 0.85
    assert scores.measures["records_recovered"] > 0.6


@pytest.mark.thorough
def test_labels_separate_a_batch_of_one_gradient(adult):
    # One step of regression on 16 classes: what the labels alone give.
    defense = FederatedAveraging(split=EqualSplit(clients=20), rounds=1, target="education")
    (scores,) = played(adult, 160, defense, [GradientInversion()])
    assert scores["reconstruction"].rate > scores["reconstruction"].chance + 0.1


@pytest.mark.long
@pytest.mark.parametrize("name", ["adult", pytest.param("bank", marks=pytest.mark.long)])
def test_one_gradient_of_two_classes_says_little_of_eight(name, request):
    defense = FederatedAveraging(split=EqualSplit(clients=20), rounds=1)
    plays = [played(request.getfixturevalue(name), 160, defense, [GradientInversion()], seed)[0] for seed in range(3)]
    gain = np.mean([scores["reconstruction"].rate - scores["reconstruction"].chance for scores in plays])
    # As the docstring says: about what the guess names. It can fail both ways.
    assert abs(gain) < 0.04


@pytest.mark.thorough
def test_clients_that_never_take_part_are_answered_by_the_most_common_values(adult):
    defense = FederatedAveraging(split=EqualSplit(clients=10), rounds=1, participation=0.3)
    scores = played(adult, 80, defense, [GradientInversion(), UpdateMembership()])
    assert scores[0]["reconstruction"].rate >= scores[0]["reconstruction"].chance - 0.05
    assert 0 <= scores[1]["membership"].rate <= 1


def test_optimisation_needs_steps():
    with pytest.raises(ValueError, match="steps"):
        GradientInversion(steps=0)
