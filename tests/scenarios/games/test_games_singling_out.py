"""The singling-out game: predicates that isolate one person by hand, its control group, and refusals."""

import numpy as np
import pandas as pd
import pytest

from attacks import Predicates
from defenses import Identity, Microdata
from scenarios import SinglingOut
from scenarios.tables.seeds import generator


@pytest.fixture
def game():
    records = Microdata(pd.DataFrame({"number": np.arange(20)}), quasi_identifiers=("number",))
    return SinglingOut(records=records, originals=8, auxiliary=3)


def holds_for(*numbers):
    return lambda frame: frame["number"].isin(numbers).to_numpy()


def test_a_predicate_isolates_one_person_and_neither_none_nor_two(game):
    secret = game.draw(generator(1))
    inside, outside = (side.frame["number"].tolist() for side in (secret.records, secret.others))
    claims = Predicates(
        [
            holds_for(inside[0]),
            holds_for(inside[1], *outside[:2]),
            holds_for(outside[0]),
            holds_for(*inside[:2]),
            holds_for(),
        ]
    )
    scores = game.score(secret, None, claims, generator(1))
    assert (scores["singling_out"].rate, scores["singling_out"].chance) == (2 / 5, 1 / 5)
    assert (scores["singling_out"].trials, scores["singling_out"].control_trials) == (5, 5)
    assert scores.measures["risk_low"] <= scores.measures["risk"] <= scores.measures["risk_high"]


def test_both_tables_are_equally_large_and_apart(game):
    secret = game.draw(generator(2))
    assert (len(secret.records), len(secret.others), len(secret.auxiliary)) == (8, 8, 3)
    drawn = [number for part in (secret.records, secret.others, secret.auxiliary) for number in part.frame["number"]]
    assert len(set(drawn)) == 19
    assert (game.originals, game.strangers) == (8, 8)
    assert "strangers" not in game.settings()


def test_nobody_is_known_in_clear(game):
    known = game.knowledge(game.draw(generator(3)), Identity())
    assert len(known.candidates) == 0
    assert list(known.candidates) == ["number"]
    assert len(known.auxiliary) == 3


def test_no_predicate_has_no_rate(game):
    scores = game.score(game.draw(generator(4)), None, Predicates([]), generator(4))
    assert scores["singling_out"].rate is scores["singling_out"].chance is scores.measures["risk"] is None


def test_bad_claims_and_games_are_refused(game):
    with pytest.raises(TypeError, match="predicates"):
        game.score(game.draw(generator(0)), None, None, generator(0))
    for changes, message in (
        ({"originals": 0}, "originals"),
        ({"originals": 11}, "22 records are needed, but the table has 20"),
        ({"auxiliary": -1}, "auxiliary"),
        ({"attacker_knows": "all"}, "attacker_knows"),
    ):
        with pytest.raises(ValueError, match=message):
            SinglingOut(**{"records": game.records, "originals": 2, **changes})
