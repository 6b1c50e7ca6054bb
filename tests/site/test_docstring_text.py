"""Docstrings become links and literals; a name that nothing bears is reported."""

import logging

import board_data
import board_pictures
import catalog
import pytest
from docstring_text import folded, prepared, rest

from defenses import Mondrian, RetentionReplacement


def test_public_names_become_links():
    assert rest("see `Microaggregation`", Mondrian) == "see :py:obj:`Microaggregation <defenses.Microaggregation>`"
    assert rest("`defenses.ldp`") == ":doc:`defenses.ldp </api/defenses.ldp>`"


def test_parameters_stay_literals_also_where_a_function_has_the_name():
    assert rest("`epsilon` and `k`", RetentionReplacement) == "``epsilon`` and ``k``"


def test_bars_and_stars_are_no_markup():
    assert rest("e^(-|x|) *args x_ ``a|b``") == r"e^(-\|x\|) \*args x\_ ``a|b``"


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("text", ["`Mondrain`", "`Mondrian.no_such_thing`"])
def test_a_name_that_nothing_bears_is_reported(text, caplog):
    with caplog.at_level(logging.WARNING):
        rest(text, Mondrian)
    assert "names nothing" in caplog.text or "has no" in caplog.text


def test_references_become_a_list_and_examples_stay():
    lines = ["References", "----------", "A (2001), One,", "section 2.", "B (2002), Two.", "", "Examples", "--------"]
    made = prepared([*lines, ">>> f(`x`)", "|3|"], Mondrian)
    assert made[2:5] == ["- A (2001), One,", "  section 2.", "- B (2002), Two."]
    assert made[-2:] == [">>> f(`x`)", "|3|"]


def test_notes_are_folded_and_the_guarantee_stays_open():
    made = folded([".. rubric:: Notes", "", "Proof. x", "", "Guarantee: y", "", ".. rubric:: References", "z"])
    assert made.index("Guarantee: y") < made.index(".. folded:: Notes, derivations and proofs")
    assert "   Proof. x" in made
    assert made[-1] == "z"


def test_names_in_see_also_are_those_of_the_package():
    assert folded([":py:obj:`Mondrian`", "   x"])[0] == ":py:obj:`Mondrian <defenses.Mondrian>`"


def test_every_public_method_has_a_page():
    pages = {entry.name for kind in catalog.entries().values() for entry in kind}
    assert {"Mondrian", "NearestNeighbour", "CandidateFile", "Laplace", "k_anonymity", "bank", "arena"} <= pages
    for kind in ("defenses", "attacks", "games", "metrics"):
        for entry in catalog.entries()[kind]:
            assert entry.family, f"{entry.name} is in no family of its package's overview"


def test_pictures_show_each_setting_of_the_board():
    mine = [point for point in board_data.points() if point.family == "Mondrian"]
    picture = board_pictures.curve("Mondrian")
    assert picture.count("<circle") == len(mine)
    assert all(0 <= point.utility <= 1 for point in mine)
    pairs = board_data.pairs()
    assert board_pictures.strip("GroupLinkage").count("<circle") == (pairs["attack"] == "GroupLinkage").sum()
