"""Reference tables hold other people in every round."""

import itertools

import numpy as np

from attacks.membership.reference_tables import reference_tables
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
