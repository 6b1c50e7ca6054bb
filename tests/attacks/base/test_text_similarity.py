"""Nearly equal pairs of released cells and candidates' values."""

import pandas as pd
import pytest
from name_tools import with_errors, words

from attacks.base import text_similarity
from attacks.base.text_similarity import CODES, NAMES, NEAR, PHRASES, SPELLING, TextComparison, measure_of
from scenarios.tables.seeds import generator


def pairs(cells, values):
    found, recall = TextComparison(cells, values).all_pairs()
    assert recall == 1.0
    return {(cells[cell], values[value]): level for cell, value, _, level in zip(*found, strict=True)}


def test_one_spelling_is_found_in_any_case_blanks_or_unicode_form():
    cells = ["SMITH", " smith ", "ﬁelding", "STRASSE", "ＢＯＢ", "x"]
    values = ["smith", "fielding", "straße", "bob", "X", "nobody"]
    assert pairs(cells, values) == {
        ("SMITH", "smith"): SPELLING,
        (" smith ", "smith"): SPELLING,
        ("ﬁelding", "fielding"): SPELLING,
        ("STRASSE", "straße"): SPELLING,
        ("ＢＯＢ", "bob"): SPELLING,
        ("x", "X"): SPELLING,
    }


def test_equal_texts_are_no_pair_and_other_values_of_one_spelling_are():
    assert pairs(["Ann"], ["Ann", "ann", "Bob"]) == {("Ann", "ann"): SPELLING}


@pytest.mark.parametrize(
    ("values", "measure", "cell", "near"),
    [
        (["catherine", "martha", "dixon"], NAMES, "martah", "martha"),
        (["19350124", "19871130", "20010203"], CODES, "19350214", "19350124"),
        (["12 garden street", "7 station road", "3 hill lane"], PHRASES, "garden street 12", "12 garden street"),
    ],
)
def test_names_codes_and_addresses_are_compared_by_measures_of_their_own(values, measure, cell, near):
    assert measure_of(values) is measure
    found = pairs([cell], values)
    assert found.pop((cell, near)) == NEAR
    assert NEAR not in found.values()


def test_short_and_empty_texts_resemble_nothing():
    assert pairs(["", "a", "ab", "b", "\U0001f600"], ["", "ab", "ac", "c", "\U0001f601"]) == {}


def test_long_texts_emoji_and_texts_from_right_to_left_are_compared():
    long = "name " * 2000
    found = pairs(
        ["דוד כהןן", "zoé \U0001f600\U0001f601 ann", long + "x"], ["דוד כהן", "zoe \U0001f600\U0001f601 ann", long]
    )
    assert {cell[:3] for cell, value in found if cell[:2] == value[:2]} == {"דוד", "zoé", "nam"}


def test_many_texts_are_compared_by_shared_keys_and_the_recall_is_measured(monkeypatch):
    rng = generator(3)
    values = words(1200, 4, rng)
    cells = with_errors(pd.DataFrame({"text": values[:800]}), 1.0, rng)["text"].tolist()
    every, _ = TextComparison(cells, values.tolist()).all_pairs()
    monkeypatch.setattr(text_similarity, "MOST_COMPARED", 1000)
    found, recall = TextComparison(cells, values.tolist()).all_pairs()
    keys, known = (set(zip(some.cell.tolist(), some.value.tolist(), strict=True)) for some in (every, found))
    assert known <= keys
    assert recall == pytest.approx(len(known) / len(keys), abs=0.05)
    own = {(place, place) for place in range(800)} & keys
    assert len(own & known) >= 0.95 * len(own)
