"""Docstrings become links and literals; a name that nothing bears is reported."""

import logging

import board_data
import board_pictures
import catalog
import pandas as pd
import pytest
import standing
from docstring_text import folded, prepared, rest

from defenses import Mondrian, RetentionReplacement


def test_public_names_become_links():
    assert rest("see `Microaggregation`", Mondrian) == "see :py:obj:`Microaggregation <defenses.Microaggregation>`"
    assert rest("`defenses.ldp`") == ":doc:`defenses.ldp </api/defenses.ldp>`"


def test_parameters_stay_literals_also_where_a_function_has_the_name():
    assert rest("`epsilon` and `k`", RetentionReplacement) == "``epsilon`` and ``k``"


def test_bars_and_stars_are_no_markup():
    assert rest("e^(-|x|) *args x_ ``a|b``") == r"e^(-\|x\|) \*args x\_ ``a|b``"


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


def test_pictures_show_each_setting_of_the_board(monkeypatch):
    """The build reads the settings from 100,000 results, which takes ten seconds; here they are made up."""
    names = ("data", "family", "setting", "guarantee", "utility", "advantage", "upper", "attack")
    rows = [
        (data, family, setting, "k=5", utility, 1 - utility, 1.0, "GroupLinkage")
        for data in ("adult", "bank")
        for family, setting, utility in (("Mondrian", "k=5", 0.4), ("Mondrian", "k=50", 0.2), ("Constant", "–", 0.0))
    ]
    monkeypatch.setattr(standing, "settings", lambda: pd.DataFrame(rows, columns=names))
    board_data.points.cache_clear()
    picture = board_pictures.curve("Mondrian")
    assert picture.count("<circle") == 4
    assert "k=50: utility 0.20, advantage 0.80" in picture
    assert "Constant: utility 0.00, advantage 1.00" in board_pictures.curve("Constant")
    board_data.points.cache_clear()
    pairs = board_data.pairs()
    assert board_pictures.strip("GroupLinkage").count("<circle") == (pairs["attack"] == "GroupLinkage").sum()
