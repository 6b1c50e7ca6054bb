"""Reference tables hold other people in every round."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from attacks.membership.reference_tables import reference_tables
from attacks.membership.shadow_syntheses import shadow_syntheses
from defenses import Identity


def test_every_round_compares_with_other_people(membership_game):
    secret = membership_game.draw(np.random.default_rng(0))
    release = Identity().apply(secret.records, np.random.default_rng(0))
    known = membership_game.knowledge(secret, Identity())
    rounds = [table.frame for table in reference_tables(release, known, 3, np.random.default_rng(0))]
    assert [len(frame) for frame in rounds] == [120] * 3
    for one, other in itertools.combinations(rounds, 2):
        # 120 of 400 people each: a person is in both with probability .09, about 36 are.
        assert len(one.merge(other.drop_duplicates())) < 80


@pytest.mark.parametrize("knows_mechanism", [True, False])
def test_tables_have_the_columns_of_the_release(membership_game, knows_mechanism):
    secret = membership_game.draw(np.random.default_rng(0))
    release = Identity().apply(secret.records, np.random.default_rng(0))
    fewer = replace(release, frame=release.frame.drop(columns=release.frame.columns[:2]))
    known = membership_game.knowledge(secret, Identity())
    if not knows_mechanism:
        known = replace(known, simulate=None)
    tables = list(reference_tables(fewer, known, 2, np.random.default_rng(0)))
    assert [list(table.frame.columns) for table in tables] == [list(fewer.frame.columns)] * 2
    assert not list(shadow_syntheses(fewer, known, 2))
