"""The intersection game: its second release and its refusals."""

import pandas as pd
import pytest
from letter_tools import aged_people

from defenses import Identity, Mondrian
from metrics import k_anonymity
from scenarios import Intersection
from scenarios.games.playing import make_release
from scenarios.tables.seeds import generator


@pytest.mark.thorough
def test_the_game_hands_every_attack_the_same_second_release():
    game = Intersection(records=aged_people(400, generator(0)), originals=100, overlap=40, strangers=50, auxiliary=10)
    secret = game.draw(generator(0, "draw"))
    assert len(secret.second) == 100
    pd.testing.assert_frame_equal(secret.second.frame[:40], secret.records.frame[:40])
    assert secret.member.sum() == 40
    known, again = (game.knowledge(secret, Mondrian(k=5)) for _ in range(2))
    pd.testing.assert_frame_equal(known.other.frame, again.other.frame)
    assert (known.other.origin == -1).all()
    assert k_anonymity(known.other.frame, ["age", "height"]) >= 5
    assert len(known.candidates) == 90
    release, _ = make_release(Identity(), game, secret, generator(0))
    assert set(game.utility(secret, release)) >= {"marginals", "k", "l"}
    assert game.attacker_knows == "mechanism"


@pytest.mark.parametrize(
    ("changes", "message"), [({"overlap": 0}, "overlap"), ({"overlap": 101}, "overlap"), ({"originals": 390}, "needed")]
)
def test_bad_games_are_refused(changes, message):
    settings = {"originals": 100, "overlap": 40, "strangers": 50, "auxiliary": 10, **changes}
    with pytest.raises(ValueError, match=message):
        Intersection(records=aged_people(400, generator(0)), **settings)
