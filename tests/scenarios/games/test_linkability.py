"""The linkability game: two files that do not align, their columns, and refusals."""

import numpy as np
import pytest
from criteria_tools import people
from playing_tools import scored

from attacks import NearestRowLinkability
from attacks.criteria.nearest_row_linkability import LinkedRows, NearestRows
from defenses import Identity
from scenarios import Linkability
from scenarios.tables.seeds import generator


def test_files_do_not_align_and_hold_their_own_columns():
    game = Linkability(
        records=people(100, generator(0)),
        originals=40,
        strangers=40,
        auxiliary=0,
        parts={"first": ["p"], "second": ["q", "s"]},
    )
    secret = game.draw(generator(0, "draw"))
    known = game.knowledge(secret, Identity())
    assert list(known.candidates) == ["p"]
    assert list(known.others) == ["q", "s"]
    together = secret.candidates
    assert (known.others["q"].to_numpy() == together["q"].to_numpy()).mean() < 0.2
    assert sorted(known.others["q"]) == sorted(together["q"])
    assert scored(Identity(), NearestRowLinkability(), game, generator(0, "play"))["linkability"].rate == 1


@pytest.mark.parametrize(
    "parts",
    [
        {"first": ["p"]},
        {"first": ["p"], "second": ["p"]},
        {"first": [], "second": ["p"]},
        {"first": ["p"], "second": ["x"]},
        ["p", "q"],
    ],
)
def test_bad_parts_are_refused(parts):
    with pytest.raises(ValueError, match="parts"):
        Linkability(records=people(1000, generator(0)), parts=parts)


def test_bad_claims_are_refused():
    game = Linkability(records=people(30, generator(0)), originals=10, strangers=10, auxiliary=0)
    secret = game.draw(generator(0))
    release = Identity().apply(secret.records, generator(0))
    with pytest.raises(TypeError, match="linked rows"):
        game.score(secret, release, None, generator(0))
    empty = NearestRows(np.zeros((3, 20), bool), np.zeros((3, 20), bool), np.zeros(20, int))
    with pytest.raises(ValueError, match="10 rows and 20 people"):
        game.score(secret, release, LinkedRows(empty, empty), generator(0))


def test_halves_of_the_columns_are_the_default_parts():
    game = Linkability(records=people(30, generator(0)), originals=10, strangers=5, auxiliary=5)
    known = game.knowledge(game.draw(generator(1)), Identity())
    assert (list(known.candidates), list(known.others)) == (["p", "q"], ["r", "s"])
    assert (len(known.candidates), len(known.others), len(known.auxiliary)) == (15, 15, 5)
    assert game.settings()["parts"] is None


def test_scores_by_hand():
    game = Linkability(records=people(30, generator(0)), originals=10, strangers=10, auxiliary=0)
    secret = game.draw(generator(2))
    release = Identity().apply(secret.records, generator(2))
    # Second parts all lead to the first row, and so do the first parts of five originals and of one stranger.
    linked = np.zeros(20, dtype=bool)
    linked[np.flatnonzero(secret.member)[:5]] = True
    linked[np.flatnonzero(~secret.member)[:1]] = True
    none, single = np.zeros((10, 20), dtype=bool), np.ones(20, dtype=int)
    first, second = none.copy(), none.copy()
    first[0, linked], first[1, ~linked], second[0] = True, True, True
    claims = LinkedRows(NearestRows(none, first, single), NearestRows(none, second, single))
    scores = game.score(secret, release, claims, generator(2))
    assert scores["linkability"].rate == pytest.approx(0.5)
    assert scores["linkability"].chance == pytest.approx(0.1)
    assert scores.measures["risk"] == pytest.approx((0.5 - 0.1) / (1 - 0.1), abs=0.05)
