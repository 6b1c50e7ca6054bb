"""Membership attacks on released tables and on statistics, and their games."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from attacks import (
    Decisions,
    DensityRatioMembership,
    DistanceToClosestRecord,
    Homer,
    HomerByQueries,
    LikelihoodMembership,
    MarginalLikelihoodRatio,
    NearestNeighbour,
    RankedAnswers,
)
from attacks.base.attack import Knowledge, NotApplicable
from attacks.base.marginals import Attributes, homer_scores, likelihood_ratio_scores
from attacks.membership.reference_tables import reference_tables
from defenses import (
    Constant,
    ExactCurator,
    GaussianCopula,
    Identity,
    IndependentMarginals,
    Microdata,
    MicrodataRelease,
    Mondrian,
    RetentionReplacement,
    Shuffle,
)
from metrics.domains import CategoricalDomain, NumericDomain
from scenarios import Membership, StatisticsMembership, load, play
from scenarios.games.membership import membership_scores

ON_TABLES = (
    DistanceToClosestRecord(),
    DensityRatioMembership(),
    LikelihoodMembership(),
    Homer(),
    MarginalLikelihoodRatio(),
)


@pytest.fixture(scope="module")
def game(adult):
    return Membership(records=adult, members=120, auxiliary=400, held_out=0)


def mean(defense, attack, game, name="membership", plays=2):
    return np.mean([play(defense, attack, game, np.random.default_rng(seed)).scores[name] for seed in range(plays)])


@pytest.mark.parametrize("attack", [DistanceToClosestRecord(), LikelihoodMembership()])
def test_a_plain_copy_gives_everybody_away(game, attack):
    scores = play(Identity(), attack, game, np.random.default_rng(0)).scores
    assert scores["membership"] > 0.99
    assert scores["membership_auc"] > 0.99
    assert scores["tpr_at_1_percent_fpr"] > 0.99
    assert scores["membership_chance"] == 0.5
    assert scores["persons"] == scores["non_members"] == 120
    assert scores["membership_advantage"] == pytest.approx(2 * scores["membership"] - 1)


@pytest.mark.parametrize("attack", ON_TABLES, ids=lambda attack: type(attack).__name__)
def test_constants_give_nobody_away(game, attack):
    # 240 named members by chance: standard error of the rate .023 (draws without replacement); four of them.
    assert mean(Constant(), attack, game) == pytest.approx(0.5, abs=0.09)


def test_each_attack_has_a_table_on_which_it_is_above_chance(game):
    # Chance .5 with a standard error of .023 over two plays; measured: .8 to 1, and .6 for marginals.
    assert mean(Identity(), DensityRatioMembership(), game) > 0.7
    assert mean(RetentionReplacement(retention=0.6), LikelihoodMembership(), game) > 0.7
    assert mean(Mondrian(k=2), DistanceToClosestRecord(), game) > 0.7
    assert mean(Shuffle(), MarginalLikelihoodRatio(), game) > 0.58
    assert mean(Shuffle(), Homer(), game, plays=4) > 0.53


def test_calibration_finds_more_at_small_rates_of_false_positives(game):
    class Uncalibrated(DistanceToClosestRecord):
        def run(self, release, knowledge, rng):
            from attacks.membership.distance_to_closest_record import _closest

            return Decisions(-_closest(release, knowledge))

    plain = mean(Mondrian(k=5), Uncalibrated(), game, "tpr_at_1_percent_fpr", plays=4)
    calibrated = mean(Mondrian(k=5), DistanceToClosestRecord(), game, "tpr_at_1_percent_fpr", plays=4)
    assert calibrated > plain + 0.05


def test_every_round_compares_with_other_people(game):
    secret = game.draw(np.random.default_rng(0))
    release = Identity().apply(secret.records, np.random.default_rng(0))
    known = game.knowledge(secret, Identity())
    rounds = [table.frame for table in reference_tables(release, known, 3, np.random.default_rng(0))]
    assert [len(frame) for frame in rounds] == [120] * 3
    for one, other in itertools.combinations(rounds, 2):
        # 120 of 400 people each: a person is in both with probability .09, about 36 are.
        assert len(one.merge(other.drop_duplicates())) < 80


@pytest.mark.long
def test_marginals_give_members_of_synthetic_tables_away():
    # 10 plays of 300 members: standard error of the mean rate below .01; measured .56 and .57.
    game = Membership(records=load("adult").records, members=300, held_out=0)
    for defense in (GaussianCopula(), IndependentMarginals()):
        assert mean(defense, MarginalLikelihoodRatio(), game, plays=10) > 0.53
        assert mean(defense, MarginalLikelihoodRatio(), game, plays=10) > mean(
            defense, DistanceToClosestRecord(), game, plays=10
        )


def test_the_likelihood_ratio_is_exact_on_a_tiny_table():
    """Against all tables of two records of a population of three, one column under randomized response."""
    domain = CategoricalDomain(("a", "b", "c"))
    defense = RetentionReplacement(retention=0.6)
    population = pd.DataFrame({"x": ["a", "b", "c"]})
    records = Microdata(population.iloc[[0, 1]].reset_index(drop=True), ("x",)[:0], ("x",), (), {"x": domain})
    release = defense.apply(records, np.random.default_rng(4)).view(np.random.default_rng(0))
    keep = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    seen = [domain.categories.index(cell) for cell in release.frame["x"]]

    def probability(pairs):
        return np.mean([keep[first, seen[0]] * keep[second, seen[1]] for first, second in pairs])

    everybody = list(itertools.product(range(3), repeat=2))
    out = probability(everybody)
    ratios = [
        probability([(x, other) for other in range(3)] + [(other, x) for other in range(3)]) / out for x in range(3)
    ]
    knowledge = Knowledge(population, records.take([]))
    decided = LikelihoodMembership().run(release, knowledge, np.random.default_rng(0)).scores
    assert np.exp(decided) == pytest.approx(ratios)


def test_homers_statistic_is_as_published():
    domains = {"x": CategoricalDomain(("a", "b")), "n": NumericDomain(0, 10, cuts=(5,))}
    attributes = Attributes(domains)
    people = pd.DataFrame({"x": ["a", "b", None], "n": [1, 7, np.nan]})
    # Columns: a, b, missing; [0, 5), [5, 10], missing.
    yes = np.array([[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]], dtype=float)
    rng = np.random.default_rng(0)
    published, population = rng.random(6), rng.random(6)
    expected = (np.abs(yes - population) - np.abs(yes - published)).sum(axis=1)
    assert homer_scores(attributes, people, published, population) == pytest.approx(expected)
    ratio = yes @ (np.log(published + 0.1) - np.log(population + 0.1))
    assert likelihood_ratio_scores(attributes, people, published, population, 0.1) == pytest.approx(ratio)
    released = pd.DataFrame({"x": ["{a|b}", "a", "b", None], "n": ["[0,10]", "2", "*", None]})
    assert attributes.shares(released)[:3] == pytest.approx([0.375, 0.375, 0.25])
    assert attributes.shares(released).sum() == pytest.approx(2)


def test_scores_need_decisions_about_the_candidates():
    member = np.array([True, False, True, False])
    with pytest.raises(TypeError, match="decisions"):
        membership_scores(RankedAnswers(1, 1, [], [], []), member, np.random.default_rng(0))
    with pytest.raises(ValueError, match="3 candidates, there are 4"):
        membership_scores(Decisions(np.zeros(3)), member, np.random.default_rng(0))
    perfect = membership_scores(Decisions(np.array([1, -math.inf, 2, 0])), member, np.random.default_rng(0))
    assert perfect["membership"] == perfect["membership_auc"] == 1


def test_what_attacks_need(game):
    secret = game.draw(np.random.default_rng(0))
    release = game.publish(Identity().apply(secret.records, np.random.default_rng(0)), np.random.default_rng(0))
    alone = Knowledge(secret.candidates, secret.auxiliary.take([]))
    for attack in (DistanceToClosestRecord(), DensityRatioMembership(), Homer(), MarginalLikelihoodRatio()):
        with pytest.raises(NotApplicable, match="people of its own"):
            attack.run(release, alone, np.random.default_rng(0))
    with pytest.raises(NotApplicable, match="channel"):
        LikelihoodMembership().run(release.without_channel(), alone, np.random.default_rng(0))
    with pytest.raises(NotApplicable, match="reidentification"):
        play(Identity(), NearestNeighbour(), game, np.random.default_rng(0))


def test_unseen_categories_and_other_types(game):
    secret = game.draw(np.random.default_rng(0))
    release = game.publish(Identity().apply(secret.records, np.random.default_rng(0)), np.random.default_rng(0))
    strange = secret.candidates.assign(sex="Atlantean")
    wordy = secret.candidates.assign(age="old")
    for attack in ON_TABLES:
        with pytest.raises(ValueError, match="Atlantean"):
            attack.run(release, Knowledge(strange, secret.auxiliary), np.random.default_rng(0))
        with pytest.raises(ValueError, match="old"):
            attack.run(release, Knowledge(wordy, secret.auxiliary), np.random.default_rng(0))
        few = Knowledge(secret.candidates.drop(columns="age"), secret.auxiliary)
        assert np.isfinite(attack.run(release, few, np.random.default_rng(0)).scores).any()


def test_people_in_clear_stand_in_where_the_mechanism_is_unknown():
    # Categories that look like sets or stars are escaped in the attacker's own tables as in the release.
    people = pd.DataFrame({"city": ["*", "{Kobe}", "Nara|Uji", "Osaka"] * 20, "age": np.arange(80)})
    game = Membership(records=Microdata(people), members=20, attacker_knows="nothing")
    for attack in (DistanceToClosestRecord(), DensityRatioMembership(), Homer(), MarginalLikelihoodRatio()):
        assert play(Identity(), attack, game, np.random.default_rng(0)).scores["membership"] >= 0.5


def test_a_mechanism_that_refuses_the_attackers_people_is_left_out():
    def refuse(records, rng):
        raise ValueError("too few")

    frame = pd.DataFrame({"x": ["a", "b", "a"]})
    people = Microdata(frame, domains={"x": CategoricalDomain(("a", "b"))})
    release = MicrodataRelease(frame, np.full(3, -1))
    decided = DistanceToClosestRecord().run(release, Knowledge(frame, people, refuse), np.random.default_rng(0))
    assert decided.scores == pytest.approx(0)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"members": 0}, "members"),
        ({"members": 10**6}, "members"),
        ({"members": 2.5}, "members"),
        ({"auxiliary": -1}, "auxiliary"),
        ({"held_out": float("nan")}, "held_out"),
        ({"attacker_knows": "all"}, "attacker_knows"),
    ],
)
def test_bad_parameters(change, word):
    records = load("adult").records
    for kind in (Membership, StatisticsMembership):
        with pytest.raises(ValueError, match=word):
            kind(records=records, **change)


def test_the_people_of_a_play_are_different(game):
    secret = game.draw(np.random.default_rng(0))
    assert secret.member.sum() == 120
    members = secret.candidates[secret.member].reset_index(drop=True)
    order = members["fnlwgt"].argsort(kind="stable")
    other = secret.records.frame["fnlwgt"].argsort(kind="stable")
    assert members["fnlwgt"].iloc[order].tolist() == secret.records.frame["fnlwgt"].iloc[other].tolist()
    assert len(secret.auxiliary) == 400


def test_statistics_give_members_away_where_they_are_few():
    # Chance .5; over 4 plays of 50 members the standard error is .035; measured .75.
    game = StatisticsMembership(records=load("adult").records, members=50, held_out=0)
    assert mean(ExactCurator(), HomerByQueries(), game, plays=4) > 0.62
    outcome = play(ExactCurator(), HomerByQueries(), game, np.random.default_rng(0))
    assert outcome.utility["utility_answers"] == 1
    with pytest.raises(NotApplicable, match="statistics"):
        play(Identity(), HomerByQueries(), game, np.random.default_rng(0))


def test_a_curator_that_refuses_gives_nobody_away():
    from defenses.base.queries import BudgetSpent

    class Silent:
        remaining, refused = 0.0, 0

        def answer(self, query, epsilon=None):
            raise BudgetSpent("nothing is left")

    game = StatisticsMembership(records=load("adult").records, members=50, held_out=0)
    secret = game.draw(np.random.default_rng(0))
    knowledge = game.knowledge(secret, ExactCurator())
    assert set(HomerByQueries().run(Silent(), knowledge, np.random.default_rng(0)).scores) == {0.0}
    with pytest.raises(NotApplicable, match="people of its own"):
        HomerByQueries().run(
            Silent(), Knowledge(secret.candidates, secret.auxiliary.take([])), np.random.default_rng(0)
        )
    with pytest.raises(ValueError, match="age"):
        HomerByQueries().run(
            Silent(), Knowledge(secret.candidates.drop(columns="age"), secret.auxiliary), np.random.default_rng(0)
        )


def test_one_seed_one_result(game):
    for attack in (DistanceToClosestRecord(rounds=1), LikelihoodMembership(), Homer(rounds=1)):
        first, second = (play(Mondrian(k=3), attack, game, np.random.default_rng(8)).scores for _ in range(2))
        assert first == second
