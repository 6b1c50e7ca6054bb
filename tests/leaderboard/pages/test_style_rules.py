"""Style sheets as attributes: the cascade of a page's own rules, in the light theme."""

from xml.etree import ElementTree

import pytest

from leaderboard.pages.pictures import inherited, light_rules, resolved, style

SHEET = """
:root { --ink: #111; --c: grey; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; } .axis line { stroke: white; } }
/* .axis line { stroke: red; } */
.axis line { stroke: var(--ink); stroke-width: 1 }
line { stroke: blue; }
.point circle:not(.dot) { fill: var(--c); }
.point:hover circle { fill: red; }
.c1 { --c: light-dark(#abc, #123); }
@page { margin: 1cm; }
.title, .name.best { font-size: 13px; }
g > text { fill: red; }
"""


def styled(text):
    rules, variables = light_rules(SHEET)
    element = ElementTree.fromstring(text)
    style(element, (), rules, variables)
    return element


def test_the_more_specific_rule_holds_and_variables_are_resolved():
    line = styled('<g class="axis"><g><line/></g></g>').find(".//line")
    assert line.attrib == {"stroke": "#111", "stroke-width": "1"}
    assert styled("<line/>").get("stroke") == "blue"


def test_variables_are_inherited_and_classes_may_be_absent():
    drawn = styled('<g class="point c1"><circle/><circle class="dot"/></g>')
    assert [circle.get("fill") for circle in drawn] == ["#abc", None]
    assert styled('<g class="point"><circle/></g>')[0].get("fill") == "grey"
    rules, variables = light_rules(SHEET)
    assert inherited([drawn], rules, variables)["--c"].startswith("light-dark")


def test_all_classes_of_a_selector_must_be_there():
    assert styled('<text class="name best"/>').get("font-size") == "13px"
    assert styled('<text class="name"/>').get("font-size") is None
    assert styled('<g><text class="title"/></g>')[0].attrib == {"class": "title", "font-size": "13px"}


@pytest.mark.parametrize("sheet", ["", "@media x", "@media x {", "a{", "}{", "@", "/*"])
def test_broken_sheets_give_no_rules(sheet):
    assert light_rules(sheet) == ([], {})


def test_a_variable_that_refers_to_itself_ends():
    assert resolved("var(--a)", {"--a": "var(--b)", "--b": "var(--a)"}).startswith("var(")
    assert resolved("var(--gone)", {}) == "currentColor"
