"""The training game: scores, utility, boards at their baselines, bad input."""

import numpy as np
import pytest
from training_tools import played

from attacks import GradientInversion, LossThreshold, ModelMembership, NotApplicable, UpdateMembership
from attacks.base.attack import Decisions, RankedAnswers, ValueClaims
from attacks.training.gradient_inversion import most_common
from defenses import FederatedAveraging
from defenses.federated import (
    Encoding,
    EqualSplit,
    ExampleClipping,
    PrivacyLossNoise,
    SecureAggregation,
)
from metrics import across_plays
from scenarios import Training, play
from scenarios.games.playing import attack_release, make_release
from scenarios.games.training import matched_cells
from scenarios.running.methods.invented_people import people
from scenarios.running.methods.methods import find
from scenarios.running.plan import read_plan


@pytest.mark.parametrize("name", ["adult", pytest.param("bank", marks=pytest.mark.long)])
def test_secure_aggregation_clipping_and_noise_lead_down_to_the_baselines(name, request):
    records = request.getfixturevalue(name)
    defense = FederatedAveraging(
        split=EqualSplit(clients=10),
        clipping=ExampleClipping(norm=1.0),
        uplink=PrivacyLossNoise(epsilon=1.0, delta=1e-5),
        aggregation=SecureAggregation(),
    )
    attacks = [GradientInversion(), UpdateMembership(), UpdateMembership(statistic="loss"), ModelMembership()]
    plays = [played(records, 80, defense, attacks, 10 * number) for number in range(8)]
    first = [one[0] for one in plays]
    rate = across_plays([scores["reconstruction"].rate for scores in first], trials=80)
    assert rate.low <= np.mean([scores["reconstruction"].chance for scores in first]) <= rate.high
    for attack in range(1, 4):
        # Three intervals of 98 %.
        estimate = across_plays([one[attack]["membership"].rate for one in plays], confidence=0.98, trials=80)
        assert estimate.low <= 0.5 <= estimate.high
    assert defense.guarantee(records.take(np.arange(80))).epsilon == 1.0


@pytest.mark.long
@pytest.mark.parametrize("name", ["federated-adult", "federated-bank"])
def test_the_shipped_board_reaches_the_baselines_at_epsilon_one_half(name):
    plan = read_plan(name)
    game = plan.games[0]
    (defense,) = [
        entry.method
        for entry in plan.defenses
        if entry.method.uplink is not None and entry.method.uplink.epsilon == 0.5
    ]
    attacks = [entry.method for entry in plan.attacks]
    scores = []
    for number in range(10):
        secret = game.draw(np.random.default_rng([number, 1]))
        _, published = make_release(defense, game, secret, np.random.default_rng([number, 2]))
        rng = np.random.default_rng([number, 3])
        scores.append([attack_release(defense, attack, game, secret, published, rng) for attack in attacks])
    for attack in range(len(attacks)):
        goal = "reconstruction" if "reconstruction" in scores[0][attack].goals else "membership"
        # Five intervals of 99 %.
        rate = across_plays([one[attack][goal].rate for one in scores], confidence=0.99, trials=game.members)
        assert rate.low <= np.mean([one[attack][goal].chance for one in scores]) <= rate.high


@pytest.mark.thorough
def test_aggregation_alone_hides_records_not_members(adult):
    defense = FederatedAveraging(split=EqualSplit(clients=10), aggregation=SecureAggregation())
    rows = [played(adult, 80, defense, [GradientInversion(), UpdateMembership()], 10 * number) for number in range(4)]
    for one, _ in rows:
        assert one["reconstruction"].rate == pytest.approx(one["reconstruction"].chance)
    assert np.mean([other.measures["membership_auc"] for _, other in rows]) > 0.55


def test_the_game_scores_the_truth_in_full_and_a_guess_by_its_chance(adult):
    game = Training(records=adult, members=60, held_out=500)
    secret = game.draw(np.random.default_rng(6))
    defense = FederatedAveraging(split=EqualSplit(clients=10))
    _, published = make_release(defense, game, secret, np.random.default_rng(7))
    frame = secret.records.frame.iloc[np.argsort(published.holder, kind="stable")[::1]]
    rng = np.random.default_rng(8)
    score = game.score(secret, published, ValueClaims(frame, np.ones(60)), rng)
    assert score["reconstruction"].rate == score.measures["records_recovered"] == 1
    common = most_common(published.encoding, secret.auxiliary.frame).iloc[[0] * 60]
    score = game.score(secret, published, ValueClaims(common, np.ones(60)), rng)
    assert score["reconstruction"].rate == score["reconstruction"].chance
    assert score["reconstruction"].trials == 60
    score = game.score(secret, published, Decisions(secret.member.astype(float)), rng)
    assert score["membership"].rate == score.measures["membership_auc"] == 1
    assert secret.member.sum() == 60
    empty = np.zeros(0, dtype=np.intp)
    with pytest.raises(TypeError, match="RankedAnswers"):
        game.score(secret, published, RankedAnswers(0, 0, empty, empty, empty), rng)
    with pytest.raises(ValueError, match="about 3 candidates"):
        game.score(secret, published, Decisions(np.zeros(3)), rng)
    with pytest.raises(ValueError, match="about 10 records"):
        game.score(secret, published, ValueClaims(frame.iloc[:10], np.ones(10)), rng)


def test_cells_are_paired_within_a_client_alone():
    records = people(4, np.random.default_rng(9))
    encoding = Encoding.of(records)
    swapped = records.frame.iloc[[1, 0, 3, 2]].reset_index(drop=True)
    assert matched_cells(encoding, records.frame, np.array([0, 0, 1, 1]), swapped).all()
    assert not matched_cells(encoding, records.frame, np.arange(4), swapped).all()


@pytest.mark.thorough
def test_utility_is_anchored(adult):
    game = Training(records=adult, members=1000, held_out=3000)
    secret = game.draw(np.random.default_rng(10))
    good = FederatedAveraging(split=EqualSplit(clients=10), rounds=100, local_epochs=5).apply(
        secret.records, np.random.default_rng(11)
    )
    worth = game.utility(secret, good)
    assert worth["utility_auc"] > 0.95
    assert worth["utility_balanced_accuracy"] > 0.8
    assert worth["accuracy"] == pytest.approx(worth["accuracy_central"], abs=0.02)
    idle = FederatedAveraging(learning_rate=1e-9, rounds=1).apply(secret.records, np.random.default_rng(12))
    assert game.utility(secret, idle)["utility_balanced_accuracy"] < 0.3


def test_play_in_one_call_and_what_cannot_play(adult):
    game = Training(records=adult, members=40, auxiliary=200, held_out=300)
    defense = FederatedAveraging(split=EqualSplit(clients=5), rounds=3)
    outcome = play(defense, UpdateMembership(), game, np.random.default_rng(13))
    assert outcome.scores["membership"].chance == 0.5
    assert play(defense, UpdateMembership(), game, np.random.default_rng(13)) == outcome
    with pytest.raises(NotApplicable, match="LossThreshold works on model"):
        play(defense, LossThreshold(), game, np.random.default_rng(14))
    with pytest.raises(NotApplicable, match="needs a training release"):
        play(find("Identity", "defenses")(), UpdateMembership(), game, np.random.default_rng(15))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Training(records=people(10, np.random.default_rng(0)), members=3), "members"),
        (lambda: Training(records=people(10, np.random.default_rng(0)), members=2, attacker_knows="x"), "attacker"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make()


@pytest.mark.parametrize("name", ["federated-adult", "federated-bank"])
def test_the_scenarios_are_read(name):
    plan = read_plan(name)
    secret = plan.games[0].draw(np.random.default_rng(0))
    guaranteed = [entry.method.guarantee(secret.records).epsilon for entry in plan.defenses]
    assert guaranteed.count(8.0) == 3
    assert guaranteed.count(0.5) == 1
    assert all(plan.games[0].misfit(d.method, a.method) is None for d in plan.defenses for a in plan.attacks)
