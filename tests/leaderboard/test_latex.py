"""LaTeX tables: everything that LaTeX would read as a command is escaped, and signs can be set."""

import re

import pytest
from comparison_tools import played

from leaderboard import Section, Table, latex_board, rank, report_to_latex
from leaderboard.latex import latex_table, latex_text

# Marks with which LaTeX does something else than print them.
SPECIAL = re.compile(r"(?<!\\)[&%$#_{}~^]")


def printed(text):
    """Text without commands and mathematics that we wrote ourselves."""
    return re.sub(r"\\text[a-z]+\{\}|\\ldots\{\}|\$[^$]*\$|\\[&%$#_{}]", "", text)


@pytest.mark.parametrize("text", ["a_b & 50 % of $5 #1 {x|y} ~ ^ < >", "\\input{/etc/passwd}", "ε=1, δ=1e-06 ★ ± ≤ –…"])
def test_no_text_is_a_command(text):
    escaped = latex_text(text)
    assert not SPECIAL.search(printed(escaped))
    assert "\\" not in printed(escaped)
    assert escaped.isascii()


def test_only_signs_of_numbers_become_minus_signs():
    assert latex_text("-.5 [-.1, -2] k-anonymity 2030-06-10 1e-06") == (
        "$-$.5 [$-$.1, $-$2] k-anonymity 2030-06-10 1e-06"
    )


@pytest.mark.parametrize("cell", ["[20,29]", "*"])
def test_a_first_cell_is_no_argument_of_the_line_break_above(cell):
    lines = latex_table("Cells", ["cell"], [["1"], [cell]], None).splitlines()
    assert f"    {{}}{cell} \\\\" in lines


def test_a_board_is_a_table_with_caption_units_and_label():
    text = latex_board(rank(played(0)))
    assert "\\caption{bank, decoys=hard. Utility, success, chance, advantage and score: shares of 1. 20" in text
    assert "95 \\% intervals across plays.}" in text
    assert "\\label{tab:bank-decoys-hard}" in text
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    assert [line.count(" & ") for line in body.splitlines() if line.endswith(r"\\")] == [8] * 4


def test_a_report_with_an_empty_table_is_written():
    text = report_to_latex([Section("Costs", tables=(Table("Bits", ("what", "bits"), [], note="In bits."),))])
    assert "\\caption{Costs: Bits. In bits.}" in text
    assert text.count("\\\\") == 1
