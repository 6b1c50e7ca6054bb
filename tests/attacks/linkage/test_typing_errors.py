"""Linkage of names with typing errors."""

import unicodedata

import numpy as np
import pandas as pd
import pytest
from name_tools import febrl_release, mistyped_release, released_texts, right

from attacks import AssignmentLinkage, BlockedLinkage, ExpectationMaximizationLinkage, FellegiSunter, NearestNeighbour
from attacks.base import sides
from scenarios.tables.seeds import generator


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("attack", [NearestNeighbour, ExpectationMaximizationLinkage, AssignmentLinkage, FellegiSunter])
def test_names_are_linked_despite_typing_errors_in_half_of_all_texts(attack, monkeypatch):
    found = right(attack(), *mistyped_release(150, generator(1), share=0.5), generator(0))
    assert found >= 0.93
    monkeypatch.setattr(sides, "with_text_errors", lambda columns: columns)
    assert found >= right(attack(), *mistyped_release(150, generator(1), share=0.5), generator(0)) + 0.05


FEBRL = {
    ("given_name", "surname", "suburb"): 0.95,
    ("given_name", "surname", "address_1"): 0.94,
    (): 0.999,
}


@pytest.mark.thorough
@pytest.mark.parametrize("columns", [["given_name", "surname", "suburb"], ["given_name", "surname", "address_1"]])
def test_a_part_of_febrl_is_linked_by_names(columns):
    """With texts taken as equal or different they find .88 and .86 (nearest neighbour), .94 to .96 and .92."""
    for attack, least in (
        (NearestNeighbour(), 0.92),
        (ExpectationMaximizationLinkage(), 0.97),
        (FellegiSunter(), 0.97),
    ):
        assert right(attack, *febrl_release(columns, 600, generator(1)), generator(0)) >= least


@pytest.mark.long
@pytest.mark.parametrize("columns", FEBRL)
def test_febrl_is_linked(columns):
    """The 5,000 people of FEBRL 4: splink finds .942 and .933 by three columns, and by equal texts alone .875, .838."""
    assert right(BlockedLinkage(), *febrl_release(columns, 5000, generator(1)), generator(0)) >= FEBRL[columns]


RESPELLED = {
    "one form": lambda name: unicodedata.normalize("NFD", name),
    "case": str.upper,
    "full width": lambda name: name.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    "two blanks": lambda name: name.replace(" ", "  "),
    "no width": lambda name: f"{name[:2]}\u200b{name[2:]}",
    "quotes": lambda name: f"\u201c{name}\u201d",
}


@pytest.mark.parametrize("kind", RESPELLED)
@pytest.mark.parametrize("most", [10, 15])
@pytest.mark.parametrize("attack", [FellegiSunter, ExpectationMaximizationLinkage, NearestNeighbour])
def test_other_spellings_of_most_names_do_not_hide_them(attack, most, kind):
    """Each person is one of two of a name, and one of 15 of a year."""
    names = [
        f"{first} {last}"
        for first in ("Ren\u00e9", "J\u00fcrg", "Zo\u00eb")
        for last in ("\u00c5berg", "N\u00fa\u00f1ez", "Gro\u00df", "P\u00e9ret", "\u00d6stman")
    ]
    people = pd.DataFrame({"name": names * 2, "year": [1950.0] * 15 + [1960.0] * 15})
    order = np.random.default_rng(0).permutation(30)
    released = people.iloc[order].reset_index(drop=True)
    told = {name: RESPELLED[kind](name) for name in names[:most]}
    released["name"] = released["name"].replace(told)
    assert right(attack(), *released_texts(released, people), order, generator(0)) == 1
