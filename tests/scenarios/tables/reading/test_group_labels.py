"""Labels of hierarchies name groups in files, unless a reader could misunderstand them."""

import pytest

from defenses.base.hierarchy import TableHierarchy
from scenarios.tables.reading.written_cells import GroupLabels

ROWS = [["a1", "a", "x", "*"], ["a2", "a", "x", "*"], ["b1", "b", "x", "*"], ["c1", "c", "c", "*"]]
OTHER_CELLS = ["a1", "*", "{a1|b1}", "{a1|a2|}", "{|a1|a2}", "{a1|a1|a2}", "{a1||a2}", "{}", "a2|a1"]


def labels(rows=ROWS, *, text=True, reserved=()):
    return GroupLabels.of("zip", rows, TableHierarchy(rows, text=text), text=text, reserved=reserved)


def test_a_cell_that_is_a_group_gets_the_label_of_the_finest_level():
    form = labels()
    assert form.write("{a1|a2}") == "a"
    assert form.write("{a1|a2|b1}") == "x"
    assert form.notes == ()
    same = labels([["a", "both", "again", "*"], ["b", "both", "again", "*"], ["c", "one", "one", "*"]])
    assert same.write("{a|b}") == "both"
    assert same.read("again") == "{a|b}"


def test_the_order_of_a_set_does_not_matter():
    assert labels().write("{b1|a2|a1}") == "x"


@pytest.mark.parametrize("cell", OTHER_CELLS)
def test_other_cells_stay(cell):
    assert labels().write(cell) == cell
    assert labels().read(cell) == cell


def test_a_group_of_one_value_is_written_as_the_value_and_read_by_its_label_too():
    form = labels()
    assert form.write("c1") == "c1"
    assert form.read("c") == form.read("c1") == "c1"


def test_a_label_of_everything_reads_as_suppressed():
    form = labels([["a", "any"], ["b", "any"]])
    assert form.read("any") == "*"
    assert form.write("*") == "*"
    assert form.notes == ()


def test_special_characters_of_values_are_escaped_in_cells_only():
    form = labels([["a|1", "01***", "*"], ["{a", "01***", "*"], ["z", "zz", "*"]])
    assert form.write(r"{a\|1|\{a}") == form.write(r"{\{a|a\|1}") == "01***"
    assert form.read("01***") == r"{a\|1|\{a}"


@pytest.mark.parametrize("label", ["[a", "{a|b}", "*1", "a\\b", "", " ", "NA"])
def test_a_label_that_would_be_read_as_something_else_is_not_used(label):
    form = labels([["a", label, "*"], ["b", label, "*"], ["c", "d", "*"]], reserved={"NA"})
    assert form.write("{a|b}") == "{a|b}"
    assert label not in form.cells
    assert len(form.notes) == 1


def test_a_label_that_is_also_a_value_is_not_used():
    form = labels([["a", "a", "*"], ["b", "a", "*"], ["c", "c", "*"]])
    assert form.write("{a|b}") == "{a|b}"
    assert form.read("a") == "a"
    assert [*map(str, form.notes)] == [
        "zip: releases do not use the hierarchy's label 'a', which is also a value or stands for a missing one",
    ]
    assert labels([["a", "d", "*"], ["b", "d", "*"], ["c", "c", "*"]], reserved={"d"}).write("{a|b}") == "{a|b}"


def test_a_label_of_two_groups_is_not_used():
    form = labels(
        [["a", "rest", "rest", "*"], ["b", "rest", "rest", "*"], ["c", "c", "rest", "*"], ["d", "d", "d", "*"]]
    )
    assert form.write("{a|b}") == "{a|b}"
    assert "'rest', which names two groups or more" in str(form.notes[0])


def test_many_unused_labels_are_one_note():
    rows = [[f"{letter}{n}", f"*{letter}", "*"] for letter in "abcdef" for n in range(2)]
    assert [*map(str, labels(rows).notes)] == [
        "zip: releases do not use the hierarchy's label '*a', '*b', '*c' and 3 more, "
        "which each would be read as something else",
    ]


def test_labels_of_numbers():
    rows = [[str(age), f"{age // 10 * 10}s", str(age // 20), "*"] for age in range(20, 60)]
    form = labels(rows, text=False)
    assert form.write("[20,29]") == "20s"
    assert form.read("20s") == "[20,29]"
    assert form.write("[20,39]") == "[20,39]"
    assert form.read("1") == "1"
    assert "'1', '2'" in str(form.notes[0])
    gap = labels([["1", "odd", "*"], ["2", "even", "*"], ["3", "odd", "*"]], text=False)
    assert gap.write("{1|3}") == "odd"
    assert gap.read("even") == "2"
