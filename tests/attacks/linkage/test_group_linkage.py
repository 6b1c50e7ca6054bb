"""Group linkage of rows released in groups."""

import numpy as np

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
from scenarios.seeds import generator


def test_group_linkage_finds_more_members_of_groups_than_one_to_one_linkage(bank):
    # 600 rows a rate: the standard deviation of a difference is below .025, and the differences are .06 or more.
    game = CandidateFile(records=bank)
    rates = {}
    for attack in (NearestNeighbour(), AssignmentLinkage(), LikelihoodAssignment(), GroupLinkage()):
        correct = []
        for number in range(6):
            secret = game.draw(generator(4, "draw", number))
            release = game.publish(
                Microaggregation(k=5).apply(secret.records, generator(4, number)), generator(4, "p", number)
            )
            claims = attack.run(release, game.knowledge(secret, Identity()), generator(4, "run", number))
            correct.append((claims.best(generator(0)) == secret.answers[release.origin]).mean())
        rates[type(attack).__name__] = np.mean(correct)
    assert rates["GroupLinkage"] > max(rates[name] for name in rates if name != "GroupLinkage")
    assert rates["GroupLinkage"] < 0.26
