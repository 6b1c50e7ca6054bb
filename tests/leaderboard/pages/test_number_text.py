"""Numbers as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard import Section, Table, render_report, report_to_terminal
from leaderboard.pages.number_text import counted, exact, measure, number


@pytest.mark.parametrize(
    ("value", "text"),
    [(512_000, "512,000"), (0.143, ".143"), (-0.5, "-.5"), (-0.0, "0"), (1e-6, "1e-06"), (10.0, "10")],
)
def test_a_number_has_as_many_decimals_as_it_needs(value, text):
    assert exact(value) == text


@given(st.floats(-1e9, 1e9), st.integers(0, 4))
def test_numbers_are_read_back_and_never_begin_with_a_zero(value, digits):
    text = number(value, digits)
    assert float(text.replace(",", "")) == pytest.approx(value, abs=0.51 * 10.0**-digits)
    assert not text.removeprefix("-").startswith("0.")
    assert text not in {"-0", "-.0", "-.00", "-.000", "-.0000"}
    assert float(exact(value).replace(",", "")) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(("value", "text"), [(1499.0, "1,499"), (0.7642, ".764"), (5, "5"), (None, "–")])
def test_a_measure_that_is_a_count_has_no_decimals(value, text):
    assert measure(value) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 plays"), (1, "1 play"), ("1", "1 play"), (1200, "1,200 plays")])
def test_a_noun_is_in_the_plural_unless_the_number_is_1(count, text):
    assert counted(count, "play") == text


def test_tables_write_counts_alike_on_page_and_terminal():
    rows = [("a", 512_000, 1499.0, 0.143)]
    section = Section("Part", tables=(Table("Counts", ("name", "people", "records", "risk"), rows, digits=None),))
    for text in (render_report("Report", {}, (section,)), report_to_terminal((section,))):
        for cell in ("512,000", "1,499", ".143"):
            assert cell in text
        assert "0.143" not in text
        assert "1499" not in text
