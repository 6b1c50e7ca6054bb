"""The contract of a game: fits, views, settings and refusals, on a game of one number."""

from typing import ClassVar

import pandas as pd
import pytest

from attacks import Decisions, NearestNeighbour, RankedAnswers
from attacks.base.attack import Knowledge
from defenses import Curator, Identity, Microdata, RetentionReplacement
from metrics import CategoricalDomain
from metrics.score import Score, Scores
from scenarios import CandidateFile, Game
from scenarios.tables.seeds import generator


class Guessing(Game):
    """Scores nothing but the number of claims."""

    takes: ClassVar = {"membership": Decisions, "reidentification": RankedAnswers}

    def __init__(self, *, records, attacker_knows="mechanism", size=3):
        self.records = records
        self.attacker_knows = attacker_knows
        self.size = size

    def draw(self, rng, choice=None):
        return self.records

    def knowledge(self, secret, defense):
        return Knowledge(secret.frame, secret)

    def score(self, secret, published, claims, rng):
        self.taken(claims)
        return Scores.of(Score("membership", 1.0, 0.5, 1))

    def utility(self, secret, release):
        return {}


RECORDS = Microdata(
    pd.DataFrame({"x": list("ab") * 5}), quasi_identifiers=("x",), domains={"x": CategoricalDomain(("a", "b"))}
)


def test_claims_of_another_kind_are_named():
    game = Guessing(records=RECORDS)
    claims = Decisions([1.0])
    assert game.taken(claims) is claims
    with pytest.raises(TypeError, match=r"Guessing scores decisions.* or ranked answers, got str"):
        game.taken("nobody")
    with pytest.raises(TypeError, match="got NoneType"):
        game.score(RECORDS, None, None, generator(1))


def test_fits_of_release_and_goal():
    game = Guessing(records=RECORDS)
    assert game.misfit(Identity(), NearestNeighbour()) is None
    assert game.misfit(Curator(), NearestNeighbour()) == "Guessing needs a microdata release, Curator makes statistics"

    class OnModels(NearestNeighbour):
        kind = "model"

    class OfLinks(NearestNeighbour):
        goal = "linkability"

    assert game.misfit(Identity(), OnModels()) == "Guessing publishes microdata, OnModels works on model"
    expected = "Guessing is about membership and reidentification, OfLinks about linkability"
    assert game.misfit(Identity(), OfLinks()) == expected


def test_the_channel_is_shown_only_where_the_mechanism_is_known():
    release = RetentionReplacement(retention=0.5).apply(RECORDS, generator(1))
    assert release.channel is not None
    shown, hidden = (
        Guessing(records=RECORDS, attacker_knows=knows).view(release, generator(2))
        for knows in ("mechanism", "nothing")
    )
    assert shown.channel is not None
    assert hidden.channel is None
    assert (shown.origin == -1).all()


def test_defaults_of_a_game():
    game, release = Guessing(records=RECORDS, size=7), object()
    assert game.publish(release, generator(1)) is release
    assert dict(game.settings()) == {"attacker_knows": "mechanism", "size": 7}
    assert (game.variants, game.lets_choose, game.shares_people) == ((), False, False)
    with pytest.raises(NotImplementedError, match="Guessing gives the adversary no choice"):
        game.briefing(Identity(), generator(1))
    with pytest.raises(TypeError, match="abstract"):
        Game()


@pytest.mark.parametrize("bad", ["all", None, 3, "Mechanism", ""])
def test_what_the_attacker_knows_is_one_of_two_words(bad):
    with pytest.raises(ValueError, match="attacker_knows must be one of 'mechanism', 'nothing'"):
        CandidateFile(records=RECORDS, originals=2, candidates=4, attacker_knows=bad)
