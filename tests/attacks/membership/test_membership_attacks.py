"""All membership attacks on tables: copies, constants, what they need, bad input."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from membership_tools import mean_score
from playing_tools import scored, secret_of

from attacks import (
    DensityRatioMembership,
    DistanceToClosestRecord,
    EnsembleMembership,
    Homer,
    LikelihoodMembership,
    LocalLikelihoodMembership,
    MarginalLikelihoodRatio,
    MarginalMembership,
    NearestNeighbour,
    SynthesisLikelihoodRatio,
)
from attacks.base.attack import Knowledge, NotApplicable
from defenses import (
    Constant,
    Identity,
    Microdata,
    Mondrian,
    RetentionReplacement,
    Shuffle,
)
from metrics.ranking import area_under_curve
from scenarios import Membership, play

ON_TABLES = (
    DistanceToClosestRecord(),
    DensityRatioMembership(),
    LocalLikelihoodMembership(),
    LikelihoodMembership(),
    Homer(),
    MarginalLikelihoodRatio(),
    MarginalMembership(),
)
OF_SHADOWS = (SynthesisLikelihoodRatio(), EnsembleMembership())
OF_OTHER_PEOPLE = [attack for attack in ON_TABLES if not isinstance(attack, LikelihoodMembership)]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("attack", [DistanceToClosestRecord(), LikelihoodMembership()])
def test_a_plain_copy_gives_everybody_away(membership_game, attack):
    scores = scored(Identity(), attack, membership_game, np.random.default_rng(0))
    assert scores["membership"].rate > 0.99
    assert scores.measures["membership_auc"] > 0.99
    assert scores.measures["tpr_at_1_percent_fpr"] > 0.99
    assert scores["membership"].chance == 0.5
    assert scores["membership"].trials == scores.measures["non_members"] == 120
    assert scores["membership"].advantage == pytest.approx(2 * scores["membership"].rate - 1)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("attack", ON_TABLES + OF_SHADOWS, ids=lambda attack: type(attack).__name__)
def test_constants_give_nobody_away(membership_game, attack):
    # 240 named members by chance: standard error of the rate .023 (draws without replacement); four of them.
    assert mean_score(Constant(), attack, membership_game) == pytest.approx(0.5, abs=0.09)


@pytest.mark.thorough
def test_each_attack_has_a_table_on_which_it_is_above_chance(membership_game):
    # Chance .5 with a standard error of .032 over one play and .023 over two: a rate of .7 is six of the former above.
    # Measured: .8 to 1, and .6 for marginals.
    assert mean_score(Identity(), DensityRatioMembership(), membership_game, plays=1) > 0.7
    assert mean_score(RetentionReplacement(retention=0.6), LikelihoodMembership(), membership_game, plays=1) > 0.7
    assert mean_score(Mondrian(k=2), DistanceToClosestRecord(), membership_game, plays=1) > 0.7
    assert mean_score(Shuffle(), MarginalLikelihoodRatio(), membership_game) > 0.58
    assert mean_score(Shuffle(), Homer(), membership_game, plays=4) > 0.53


def test_what_attacks_need(membership_game):
    secret = secret_of(membership_game, np.random.default_rng(0))
    release = membership_game.publish(
        Identity().apply(secret.records, np.random.default_rng(0)), np.random.default_rng(0)
    )
    alone = Knowledge(secret.candidates, secret.auxiliary.take([]))
    for attack in OF_OTHER_PEOPLE:
        with pytest.raises(NotApplicable, match="people of its own"):
            attack.run(release, alone, np.random.default_rng(0))
    for attack in OF_SHADOWS:
        for lacking in (alone, Knowledge(secret.candidates, secret.auxiliary)):
            with pytest.raises(NotApplicable, match="repeat the defense"):
                attack.run(release, lacking, np.random.default_rng(0))
    with pytest.raises(NotApplicable, match="channel"):
        LikelihoodMembership().run(release.without_channel(), alone, np.random.default_rng(0))
    with pytest.raises(NotApplicable, match="reidentification"):
        play(Identity(), NearestNeighbour(), membership_game, np.random.default_rng(0))


@pytest.mark.thorough
def test_unseen_categories_and_other_types(membership_game):
    secret = secret_of(membership_game, np.random.default_rng(0))
    release = membership_game.publish(
        Identity().apply(secret.records, np.random.default_rng(0)), np.random.default_rng(0)
    )
    strange = secret.candidates.assign(sex="Atlantean")
    wordy = secret.candidates.assign(age="old")
    for attack in ON_TABLES:
        with pytest.raises(ValueError, match="unknown category"):
            attack.run(release, Knowledge(strange, secret.auxiliary), np.random.default_rng(0))
        with pytest.raises(ValueError, match="no number"):
            attack.run(release, Knowledge(wordy, secret.auxiliary), np.random.default_rng(0))
        few = Knowledge(secret.candidates.drop(columns="age"), secret.auxiliary)
        assert np.isfinite(attack.run(release, few, np.random.default_rng(0)).scores).any()


@pytest.mark.thorough
def test_people_in_clear_stand_in_where_the_mechanism_is_unknown():
    # Categories that look like sets or stars are escaped in the attacker's own tables as in the release.
    people = pd.DataFrame({"city": ["*", "{Kobe}", "Nara|Uji", "Osaka"] * 20, "age": np.arange(80)})
    game = Membership(records=Microdata(people), members=20, attacker_knows="nothing")
    for attack in OF_OTHER_PEOPLE:
        assert scored(Identity(), attack, game, np.random.default_rng(0))["membership"].rate >= 0.5


@pytest.mark.thorough
def test_one_seed_one_result(membership_game):
    for attack in (DistanceToClosestRecord(rounds=1), LikelihoodMembership(), Homer(rounds=1)):
        first, second = (scored(Mondrian(k=3), attack, membership_game, np.random.default_rng(8)) for _ in range(2))
        assert first == second


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("knows_mechanism", [True, False])
@pytest.mark.parametrize("attack", ON_TABLES, ids=repr)
def test_a_finished_release_without_some_columns_is_attacked_in_the_others(fewer_columns, attack, knows_mechanism):
    fewer, known, member = fewer_columns
    decisions = attack.run(fewer, known if knows_mechanism else replace(known, simulate=None), np.random.default_rng(0))
    assert area_under_curve(decisions.scores, member) > 0.55


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("attack", [EnsembleMembership(), SynthesisLikelihoodRatio()], ids=repr)
def test_shadows_with_other_columns_do_not_count(membership_game, attack):
    fewer, known, _ = without_two_columns(membership_game)
    with pytest.raises(NotApplicable, match="cannot repeat the defense"):
        attack.run(fewer, known, np.random.default_rng(0))


@pytest.fixture(scope="module")
def fewer_columns(membership_game):
    """A release without two columns, what is known of it, and who is a member."""
    return without_two_columns(membership_game)


def without_two_columns(game):
    secret = secret_of(game, np.random.default_rng(0))
    release = Identity().apply(secret.records, np.random.default_rng(0))
    fewer = replace(release, frame=release.frame.drop(columns=release.frame.columns[:2]))
    return fewer, game.knowledge(secret, Identity()), secret.member
