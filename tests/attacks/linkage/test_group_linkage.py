"""Group linkage of rows released in groups."""

import numpy as np
from playing_tools import secret_of

from attacks import (
    AssignmentLinkage,
    GroupLinkage,
    LikelihoodAssignment,
    NearestNeighbour,
)
from defenses import (
    Identity,
    Microaggregation,
)
from scenarios import CandidateFile
from scenarios.tables.seeds import generator


def test_group_linkage_finds_more_members_of_groups_than_one_to_one_linkage(bank):
    # 600 rows a rate: the standard deviation of a difference is below .025, and the differences are .06 or more.
    game = CandidateFile(records=bank)
    correct = np.zeros((6, 4))
    for number in range(6):
        secret = secret_of(game, generator(4, "draw", number))
        release = game.publish(
            Microaggregation(k=5).apply(secret.records, generator(4, number)), generator(4, "p", number)
        )
        for place, attack in enumerate(
            (NearestNeighbour(), AssignmentLinkage(), LikelihoodAssignment(), GroupLinkage())
        ):
            claims = attack.run(release, game.knowledge(secret, Identity()), generator(4, "run", number))
            correct[number, place] = (claims.best(generator(0)) == secret.answers[release.origin]).mean()
    *others, groups = correct.mean(axis=0)
    assert groups > max(others)
    assert groups < 0.26
