"""The mean rank of several membership attacks."""

import numpy as np
import pandas as pd
import pytest

from attacks import Attack, Decisions, Knowledge, NearestNeighbour, NotApplicable, RankAverageMembership
from defenses import Microdata, MicrodataRelease


class Stated(Attack):
    goal = "membership"

    def __init__(self, *, scores=()):
        self.scores = scores

    def run(self, release, knowledge, rng):
        if not len(self.scores):
            raise NotApplicable("there is no score")
        return Decisions(np.array(self.scores))


PEOPLE = pd.DataFrame({"age": [20, 30, 40]})
RELEASE, KNOWLEDGE = MicrodataRelease(PEOPLE, np.arange(3)), Knowledge(PEOPLE, Microdata(PEOPLE))


def ranks(*attacks):
    return RankAverageMembership(attacks=attacks).run(RELEASE, KNOWLEDGE, np.random.default_rng(0)).scores.tolist()


def test_ranks_are_averaged_and_ties_share_theirs():
    assert ranks(Stated(scores=[5.0, -1e9, 6.0])) == [2, 1, 3]
    assert ranks(Stated(scores=[5.0, -np.inf, 6.0]), Stated(scores=[0.1, 0.1, 0.0])) == [2.25, 1.75, 2]


def test_attacks_that_do_not_fit_are_left_out():
    assert ranks(Stated(), Stated(scores=[1.0, 2.0, 3.0])) == [1, 2, 3]
    with pytest.raises(NotApplicable, match="no score"):
        ranks(Stated())


@pytest.mark.parametrize("attacks", [[], "DCR", [NearestNeighbour()], [1]])
def test_other_attacks_are_refused(attacks):
    with pytest.raises(ValueError, match="attacks must name"):
        RankAverageMembership(attacks=attacks)
