"""Linkage of names with typing errors."""

import pytest
from name_tools import mistyped_release, right

from attacks import AssignmentLinkage, ExpectationMaximizationLinkage, FellegiSunter, NearestNeighbour
from attacks.base import sides
from scenarios.tables.seeds import generator


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("attack", [NearestNeighbour, ExpectationMaximizationLinkage, AssignmentLinkage, FellegiSunter])
def test_names_are_linked_despite_typing_errors_in_half_of_all_texts(attack, monkeypatch):
    found = right(attack(), *mistyped_release(150, generator(1), share=0.5), generator(0))
    assert found >= 0.93
    monkeypatch.setattr(sides, "with_text_errors", lambda columns: columns)
    assert found >= right(attack(), *mistyped_release(150, generator(1), share=0.5), generator(0)) + 0.05
