"""The downcoding game: correct values as multisets, chance from the auxiliary population, and refusals."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from attacks import ValueClaims
from defenses import Identity, Microdata, MicrodataRelease
from metrics import CategoricalDomain, NumericDomain
from scenarios import CellDowncoding
from scenarios.games.cell_downcoding import overlap
from scenarios.tables.seeds import generator


def test_overlap_counts_multisets_by_class():
    classes = np.array([0, 0, 0, 1, 1])
    claimed, truth = pd.Series(["x", "x", "y", "x", None]), pd.Series(["x", "y", "z", "y", "y"])
    assert overlap(classes, claimed, truth) == 2
    assert overlap(classes, pd.Series([1, 1, 2, 1, np.nan]), pd.Series([2.0, 1, 1, 1, 3])) == 4
    assert overlap(classes[:0], claimed[:0], truth[:0]) == 0


ORIGINALS = pd.DataFrame({"age": [1, 2, 3, 4], "city": list("aabb")})
DOMAINS = {"age": NumericDomain(0, 9, integer=True), "city": CategoricalDomain(("a", "b"))}


@pytest.fixture
def game():
    records = Microdata(
        pd.concat([ORIGINALS] * 3, ignore_index=True), quasi_identifiers=("age", "city"), domains=DOMAINS
    )
    return CellDowncoding(records=records, originals=4, strangers=4, auxiliary=4)


def play_with(game, released, claimed, origin=(0, 1, 2, 3)):
    """Scores of claimed values for a release of the four people of `ORIGINALS`."""
    originals = Microdata(ORIGINALS, quasi_identifiers=("age", "city"), domains=DOMAINS)
    secret = replace(game.draw(generator(1)), records=originals)
    release = MicrodataRelease(pd.DataFrame(released), list(origin))
    claims = ValueClaims(pd.DataFrame(claimed), np.ones(4))
    return game.score(secret, release, claims, generator(2))


RELEASED = {"age": ["[1,2]", "[1,2]", "[3,4]", "*"], "city": ["a", "a", "b", "b"]}


def test_only_generalized_cells_of_known_origin_are_trials(game):
    truth = {"age": [1, 2, 3, 4], "city": list("aabb")}
    assert play_with(game, RELEASED, truth)["downcoding"].trials == 4
    assert play_with(game, RELEASED, truth)["downcoding"].rate == 1
    scores = play_with(game, RELEASED, truth, origin=(0, 1, -1, -1))
    assert (scores["downcoding"].trials, scores["downcoding"].rate) == (2, 1)


def test_rows_of_a_class_are_compared_as_a_multiset(game):
    # The first two rows are one class: their order does not count, but each true value counts once.
    swapped = {"age": [2, 1, 3, 4], "city": list("aabb")}
    assert play_with(game, RELEASED, swapped)["downcoding"].rate == 1
    doubled = {"age": [1, 1, 4, 3], "city": list("aabb")}
    assert play_with(game, RELEASED, doubled)["downcoding"].rate == 1 / 4
    missing = {"age": [None, 2, None, None], "city": list("aabb")}
    assert play_with(game, RELEASED, missing)["downcoding"].rate == 1 / 4
    assert play_with(game, RELEASED, {"city": list("aabb")})["downcoding"].rate == 0


def test_a_plain_table_has_no_rate(game):
    scores = play_with(game, ORIGINALS.to_dict("list"), {"age": [1, 2, 3, 4]})
    assert scores["downcoding"].rate is scores.measures["risk"] is None


def test_bad_claims_are_refused(game):
    secret = game.draw(generator(0))
    release = Identity().apply(secret.records, generator(0))
    with pytest.raises(TypeError, match="claimed values"):
        game.score(secret, release, None, generator(0))
    few = ValueClaims(pd.DataFrame({"age": [1, 2]}), np.ones(2))
    with pytest.raises(ValueError, match="4 released rows, each once"):
        game.score(secret, release, few, generator(0))
    twice = ValueClaims(pd.DataFrame({"age": [1, 2, 3, 4]}), np.ones(4), np.array([0, 1, 2, 2]), np.full(4, 0.5))
    with pytest.raises(ValueError, match="4 released rows, each once"):
        game.score(secret, release, twice, generator(0))
    assert len(game.knowledge(secret, Identity()).candidates) == 0
