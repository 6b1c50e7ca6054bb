"""Reference tables hold other people in every round."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from playing_tools import secret_of

from attacks import (
    DensityRatioMembership,
    EnsembleMembership,
    LocalLikelihoodMembership,
    SynthesisLikelihoodRatio,
)
from attacks.membership.reference_tables import reference_tables, shadow_syntheses
from defenses import Identity, NeighbourInterpolation


def test_every_round_compares_with_other_people(membership_game):
    secret = secret_of(membership_game, np.random.default_rng(0))
    release = Identity().apply(secret.records, np.random.default_rng(0))
    known = membership_game.knowledge(secret, Identity())
    rounds = [table.frame for table in reference_tables(release, known, 3, np.random.default_rng(0))]
    assert [len(frame) for frame in rounds] == [120] * 3
    for one, other in itertools.combinations(rounds, 2):
        # 120 of 400 people each: a person is in both with probability .09, about 36 are.
        assert len(one.merge(other.drop_duplicates())) < 80


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("knows_mechanism", [True, False])
def test_tables_have_the_columns_of_the_release(membership_game, knows_mechanism):
    secret = secret_of(membership_game, np.random.default_rng(0))
    release = Identity().apply(secret.records, np.random.default_rng(0))
    fewer = replace(release, frame=release.frame.drop(columns=release.frame.columns[:2]))
    known = membership_game.knowledge(secret, Identity())
    if not knows_mechanism:
        known = replace(known, simulate=None)
    tables = list(reference_tables(fewer, known, 2, np.random.default_rng(0)))
    assert [list(table.frame.columns) for table in tables] == [list(fewer.frame.columns)] * 2
    assert not list(shadow_syntheses(fewer, known, 2))


@pytest.mark.thorough
@pytest.mark.parametrize("attack", [DensityRatioMembership(rounds=2), LocalLikelihoodMembership()], ids=repr)
def test_the_order_of_released_columns_changes_no_score(membership_game, attack):
    """The attacker's own people keep their order, and are released in clear."""
    secret = secret_of(membership_game, np.random.default_rng(0))
    release = Identity().apply(secret.records, np.random.default_rng(0))
    turned = replace(release, frame=release.frame[release.frame.columns[::-1]])
    known = replace(membership_game.knowledge(secret, Identity()), simulate=None)
    straight, other = (attack.run(table, known, np.random.default_rng(1)).scores for table in (release, turned))
    assert other == pytest.approx(straight, rel=1e-3, abs=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("attack", [EnsembleMembership(rounds=2), SynthesisLikelihoodRatio(rounds=2)], ids=repr)
def test_shadow_syntheses_may_have_their_columns_in_another_order(membership_game, attack):
    """As where the published file has its columns sorted; the synthesis draws other people then."""
    secret = secret_of(membership_game, np.random.default_rng(0))
    defense = NeighbourInterpolation(k=1)
    release = defense.apply(secret.records, np.random.default_rng(0))
    turned = replace(release, frame=release.frame[release.frame.columns[::-1]])
    scores = attack.run(turned, membership_game.knowledge(secret, defense), np.random.default_rng(1)).scores
    members = np.argsort(-scores)[: len(scores) // 2]
    assert secret.member[members].mean() > 0.6
