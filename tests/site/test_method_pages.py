"""Pages of methods: board, links between defenses and attacks, conformance, scenarios."""

import catalog
import pytest
from method_pages import MethodPages


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return MethodPages(tmp_path_factory.mktemp("en"))


def page(pages, kind, name):
    (entry,) = [one for one in catalog.entries()[kind] if one.name == name]
    return "\n".join(pages._page(entry))


@pytest.mark.thorough
def test_defenses_link_their_attacks_and_attacks_the_defenses(pages):
    defense, attack = page(pages, "defenses", "Mondrian"), page(pages, "attacks", "GroupLinkage")
    assert ":doc:`GroupLinkage </methods/attacks/GroupLinkage>`" in defense
    assert ":doc:`Mondrian </methods/defenses/Mondrian>`" in attack
    assert "k=100" in defense
    assert defense.count("<svg") == attack.count("<svg") == 1


def test_pages_show_formula_conformance_and_scenarios(pages):
    text = page(pages, "defenses", "RetentionReplacement")
    assert ".. math::" in text
    assert "its channel gives the truth a positive likelihood" in text
    assert ":doc:`arena </methods/scenarios/arena>`" in text


@pytest.mark.thorough
def test_a_method_that_the_board_leaves_out_says_why(pages):
    assert "these data have none" in page(pages, "defenses", "Pseudonymization")


def test_scenarios_link_what_they_play_and_show_the_file(pages):
    text = page(pages, "scenarios", "bank")
    assert ":doc:`CandidateFile </methods/games/CandidateFile>`" in text
    assert "$ tokumei run bank" in text
    assert 'name = "bank"' in text


def test_data_sets_state_licence_and_columns(pages):
    text = page(pages, "datasets", "bank")
    assert "45,211 records" in text
    assert "CC BY 4.0" in text
    assert "- job" in text


def test_every_name_has_one_page_and_each_index_links_it(pages):
    for kind, entries in catalog.entries().items():
        assert len({entry.page for entry in entries}) == len(entries)
        if kind in {"defenses", "attacks"}:
            index = "\n".join(pages._index(kind, entries))
            assert all(f"</{entry.page}>`" in index for entry in entries)
