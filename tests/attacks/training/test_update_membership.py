"""Membership inference from updates and from the models of a training."""

import numpy as np
import pytest
from training_tools import per_play, played

from attacks import Knowledge, ModelMembership, NotApplicable, UpdateMembership
from attacks.training.update_membership import alignment
from defenses import FederatedAveraging
from defenses.federated import (
    EqualSplit,
    OneHiddenLayer,
)


@pytest.mark.long
@pytest.mark.parametrize("count", [3, pytest.param(5, marks=pytest.mark.long)])
def test_membership_is_above_chance_on_an_overfitted_model(adult, count):
    overfitted = FederatedAveraging(
        model=OneHiddenLayer(hidden=64), split=EqualSplit(clients=10), rounds=40, local_epochs=10, learning_rate=1.0
    )
    attacks = [UpdateMembership(statistic="loss"), UpdateMembership(), ModelMembership()]
    plays = [played(adult, 100, overfitted, attacks, 10 * number) for number in range(count)]
    areas = np.array([[scores.measures["membership_auc"] for scores in one] for one in plays])
    # Standard error of an area by chance on 100 + 100 people: 0.041. False alarm 0.01 % each.
    assert (areas.mean(axis=0) > 0.5 + 3.7 * 0.041 / np.sqrt(count)).all()


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("clients", "least"), [(100, 0.95), (10, 0.65)])
def test_alignment_tells_members_from_updates(adult, clients, least):
    defense = FederatedAveraging(split=EqualSplit(clients=clients), rounds=1)
    areas = per_play(adult, 100, defense, UpdateMembership(), "membership_auc", 4)
    assert np.mean(areas) > least


def test_the_ratio_finds_what_is_in_a_mean_and_nothing_elsewhere():
    rng = np.random.default_rng(5)
    strangers, members, others = rng.normal(size=(200, 6)), rng.normal(size=(50, 4, 6)), rng.normal(size=(50, 6))
    updates = members.mean(axis=1)
    scores = alignment(np.concatenate([members[:, 0], others]), strangers, updates, np.full(50, 4), 0.0)
    own, elsewhere = np.diag(scores[:50]), scores[50:]
    assert own.mean() > 0 > elsewhere.mean()
    # A likelihood ratio averages to 1 where its hypothesis is false. The constant left out is that of the covariances'
    # determinants, (4/3)^(6/2); the mean of 2,500 dependent ratios has a standard error of about 0.1.
    assert 0.6 < np.exp(elsewhere).mean() * (4 / 3) ** 3 < 1.5


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: UpdateMembership(statistic="luck"), "statistic"),
        (lambda: UpdateMembership(rounds="second"), "rounds"),
    ],
)
def test_unknown_statistics_and_rounds_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make()


def test_alignment_needs_people_of_its_own(adult):
    release = FederatedAveraging(split=EqualSplit(clients=4), rounds=1).apply(
        adult.take(np.arange(20)), np.random.default_rng(0)
    )
    with pytest.raises(NotApplicable, match="two people"):
        UpdateMembership().run(release, Knowledge(adult.frame.iloc[:5], adult.take([7])), np.random.default_rng(0))
