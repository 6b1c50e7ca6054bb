"""Attacks on trainings, and the game they are scored in."""

import numpy as np
import pandas as pd
import pytest

from attacks import GradientInversion, Knowledge, LossThreshold, ModelMembership, NotApplicable, UpdateMembership
from attacks.base.claims import Decisions, RankedAnswers, ValueClaims
from attacks.training.gradient_inversion import most_common
from attacks.training.update_membership import alignment
from defenses import FederatedAveraging
from defenses.federated import (
    Encoding,
    EqualSplit,
    ExampleClipping,
    OneHiddenLayer,
    PrivacyLossNoise,
    SecureAggregation,
)
from metrics import across_plays
from scenarios import Training, play
from scenarios.conformance.people import people
from scenarios.experiments.federated_curves import FederatedCurves
from scenarios.experiments.federated_gaps import BestRounds, Gap, TrainingSetting, best_rounds, fitted_shape
from scenarios.experiments.federated_report import rounds_text
from scenarios.games.playing import attack_release, make_release
from scenarios.games.training import matched_cells
from scenarios.methods import find
from scenarios.running.plan import read_plan


def played(records, members, defense, attacks, seed=0):
    """Scores of attacks on one release."""
    game = Training(records=records, members=members, held_out=1000)
    secret = game.draw(np.random.default_rng(seed))
    _, published = make_release(defense, game, secret, np.random.default_rng(seed + 1))
    return [
        attack_release(defense, attack, game, secret, published, np.random.default_rng(seed + 2)) for attack in attacks
    ]


def per_play(records, members, defense, attack, name, plays):
    return [played(records, members, defense, [attack], 10 * number)[0][name] for number in range(plays)]


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


def test_labels_separate_a_batch_of_one_gradient(adult):
    # One step of regression on 16 classes: what the labels alone give.
    defense = FederatedAveraging(split=EqualSplit(clients=20), rounds=1, target="education")
    (scores,) = played(adult, 160, defense, [GradientInversion()])
    assert scores["reconstruction"].rate > scores["reconstruction"].chance + 0.1


@pytest.mark.parametrize("name", ["adult", "bank"])
def test_one_gradient_of_two_classes_says_little_of_eight(name, request):
    defense = FederatedAveraging(split=EqualSplit(clients=20), rounds=1)
    plays = [played(request.getfixturevalue(name), 160, defense, [GradientInversion()], seed)[0] for seed in range(3)]
    gain = np.mean([scores["reconstruction"].rate - scores["reconstruction"].chance for scores in plays])
    # As the docstring says: about what the guess names. It can fail both ways.
    assert abs(gain) < 0.04


def test_membership_is_above_chance_on_an_overfitted_model(adult):
    overfitted = FederatedAveraging(
        model=OneHiddenLayer(hidden=64), split=EqualSplit(clients=10), rounds=40, local_epochs=10, learning_rate=1.0
    )
    attacks = [UpdateMembership(statistic="loss"), UpdateMembership(), ModelMembership()]
    plays = [played(adult, 100, overfitted, attacks, 10 * number) for number in range(5)]
    areas = np.array([[scores.measures["membership_auc"] for scores in one] for one in plays])
    # Standard error of an area by chance on 100 + 100 people: 0.041; over five plays 0.0184. False alarm 0.01 % each.
    assert (areas.mean(axis=0) > 0.5 + 3.7 * 0.0184).all()


@pytest.mark.parametrize(("clients", "least"), [(100, 0.95), (10, 0.65)])
def test_alignment_tells_members_from_updates(adult, clients, least):
    defense = FederatedAveraging(split=EqualSplit(clients=clients), rounds=1)
    areas = per_play(adult, 100, defense, UpdateMembership(), "membership_auc", 4)
    assert np.mean(areas) > least


@pytest.mark.parametrize("name", ["adult", "bank"])
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
        estimate = across_plays([one[attack]["membership"] for one in plays], confidence=0.98, trials=80)
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


def test_aggregation_alone_hides_records_not_members(adult):
    defense = FederatedAveraging(split=EqualSplit(clients=10), aggregation=SecureAggregation())
    rows = [played(adult, 80, defense, [GradientInversion(), UpdateMembership()], 10 * number) for number in range(4)]
    for one, _ in rows:
        assert one["reconstruction"].rate == pytest.approx(one["reconstruction"].chance)
    assert np.mean([other["membership_auc"] for _, other in rows]) > 0.55


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


def test_clients_that_never_take_part_are_answered_by_the_most_common_values(adult):
    defense = FederatedAveraging(split=EqualSplit(clients=10), rounds=1, participation=0.3)
    scores = played(adult, 80, defense, [GradientInversion(), UpdateMembership()])
    assert scores[0]["reconstruction"].rate >= scores[0]["reconstruction"].chance - 0.05
    assert 0 <= scores[1]["membership"].rate <= 1


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


def test_model_membership_hands_shadow_training_on(adult):
    attack = ModelMembership(attack=find("OfflineLikelihoodRatioAttack", "attacks")())
    defense = FederatedAveraging(split=EqualSplit(clients=5), rounds=3)
    game = Training(records=adult, members=40, auxiliary=200, held_out=300)
    assert 0 <= play(defense, attack, game, np.random.default_rng(16)).scores["membership"].rate <= 1
    with pytest.raises(ValueError, match="attack"):
        ModelMembership(attack=GradientInversion())


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: GradientInversion(steps=0), "steps"),
        (lambda: UpdateMembership(statistic="luck"), "statistic"),
        (lambda: UpdateMembership(rounds="second"), "rounds"),
        (lambda: Training(records=people(10, np.random.default_rng(0)), members=3), "members"),
        (lambda: Training(records=people(10, np.random.default_rng(0)), members=2, attacker_knows="x"), "attacker"),
        (lambda: FederatedCurves(clients=[]), "clients"),
        (lambda: FederatedCurves(epsilon=[20.0]), "epsilon"),
        (lambda: FederatedCurves(clip=0.0), "clip"),
        (lambda: FederatedCurves(rounds=[0]), "rounds"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make()


def test_alignment_needs_people_of_its_own(adult):
    release = FederatedAveraging(split=EqualSplit(clients=4), rounds=1).apply(
        adult.take(np.arange(20)), np.random.default_rng(0)
    )
    with pytest.raises(NotApplicable, match="two people"):
        UpdateMembership().run(release, Knowledge(adult.frame.iloc[:5], adult.take([7])), np.random.default_rng(0))


@pytest.mark.parametrize("name", ["federated-adult", "federated-bank"])
def test_the_scenarios_are_read(name):
    plan = read_plan(name)
    secret = plan.games[0].draw(np.random.default_rng(0))
    promised = [entry.method.guarantee(secret.records).epsilon for entry in plan.defenses]
    assert promised.count(8.0) == 3
    assert promised.count(0.5) == 1
    assert all(plan.games[0].misfit(d.method, a.method) is None for d in plan.defenses for a in plan.attacks)


@pytest.mark.long
def test_the_gap_falls_with_ten_fifty_and_250_clients():
    curves = FederatedCurves(rounds=(20,))
    section, _ = curves.run(6, 1, lambda line: None)
    assert curves.clients == (10, 50, 250)
    assert "falls with N at 3 of 3 epsilons" in section.text[0]
    for chart in section.lines[:3]:
        measured = chart.series[0]
        assert measured.x == [10, 50, 250]
        # Ten clients against 250: by more than both intervals.
        assert measured.high[2] < measured.low[0]
    # And with epsilon, at any number of clients.
    for chart in section.lines[3:]:
        assert list(chart.series[0].y) == sorted(chart.series[0].y, reverse=True)


@pytest.mark.long
def test_the_curves_are_reported_and_the_gap_falls_with_clients():
    curves = FederatedCurves(dataset="bank", clients=(5, 50), records=20, epsilon=(5.0,), rounds=(4, 8))
    sections = curves.run(4, 1, lambda line: None)
    cells = [row[1] for row in sections[0].tables[0].rows]
    few, many = (float(cell.split(" ")[0]) for cell in cells)
    assert many < few
    assert "falls with N at 1 of 1" in sections[0].text[0]
    assert len(sections[1].tables) == 2
    assert sections == curves.run(4, 1, lambda line: None)


def test_best_rounds_and_the_fit_say_what_is_there():
    points = [TrainingSetting(10, rounds, 5.0) for rounds in (10, 20, 40)]
    gaps = dict(zip(points, [Gap(0.3, 0.01), Gap(0.1, 0.01), Gap(0.5, 0.01)], strict=True))
    assert best_rounds(points, gaps) == BestRounds(20, inside=True)
    assert rounds_text(best_rounds(points, gaps)) == "20, inside"
    gaps[points[0]] = Gap(0.11, 0.01)
    assert best_rounds(points, gaps) == BestRounds(20, inside=False)
    assert rounds_text(best_rounds(points, gaps)) == "20"

    def theory(point):
        left = 0.97**point.rounds
        noise = point.rounds / (100 * np.sqrt(point.clients) * point.epsilon)
        return 0.5 * left + (2 * noise + 3 * noise**2) * (1 - left)

    grid = [TrainingSetting(n, rounds, epsilon) for n in (10, 50) for rounds in (5, 20, 80) for epsilon in (1.0, 5.0)]
    shape = fitted_shape({point: Gap(theory(point), 0.01) for point in grid}, 100)
    for point in grid:
        assert shape[point] == pytest.approx(theory(point), rel=0.05)
    assert pd.Series(shape).min() > 0
