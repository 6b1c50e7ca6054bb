"""LaTeX tables: everything that LaTeX would read as a command is escaped, and signs can be set."""

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache

import pytest
from comparison_tools import played

from leaderboard import (
    Result,
    Section,
    Table,
    board_sections,
    change_table,
    compare,
    latex_matrix,
    matrix,
    rank,
    report_to_latex,
)
from leaderboard.pages.board_tables import HEADERS
from leaderboard.pages.latex import latex_table, latex_text, layout, row_ranges
from metrics import Score

# Long names and parameters of shipped methods, as a paper has them.
LONG_DEFENSES = (
    ("Mondrian", {"k": 2}, "k=2"),
    ("Mondrian", {"k": 5}, "k=5"),
    ("Microaggregation", {"k": 10}, "k=10"),
    ("AdditiveNoise", {"scale": 0.5, "columns": ["age", "balance", "day"]}, "none"),
    ("GlobalRecoding", {"levels": 2}, "none"),
    ("RetentionReplacement", {"epsilon": 1.0}, "epsilon=1, delta=1e-06"),
    ("Pipeline", {"steps": [{"use": "GlobalRecoding", "levels": 2}, {"use": "RecordSwapping", "rate": 0.1}]}, "none"),
    ("AdaptiveIterativeMechanism", {"epsilon": 1.0}, "epsilon=1, delta=1e-06"),
    ("TopBottomCoding", {}, "none"),
    ("StratifiedSampling", {"by": "grade"}, "none"),
)
LONG_ATTACKS = (
    *("AssignmentLinkage", "FellegiSunter", "LikelihoodAssignment", "NearestNeighbour", "rarity:RarityLinkage"),
    *("ExpectationMaximizationLinkage", "DistanceToClosestRecord", "LocalLikelihoodMembership"),
)

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


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("cell", ["[20,29]", "*"])
def test_a_first_cell_is_no_argument_of_the_line_break_above(cell):
    lines = latex_table("Cells", ["cell"], [["1"], [cell]], None).splitlines()
    assert f"    {{}}{cell} \\\\" in lines


def test_a_board_is_a_table_with_caption_units_and_label():
    text = report_to_latex(board_sections(rank(played(0))))
    assert "\\caption{bank, decoys=hard. Utility, success, chance, advantage and score: shares of 1. 20" in text
    assert "95 \\% intervals across plays, if plays vary as they did here.}" in text
    assert "\\label{tab:bank-decoys-hard}" in text
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    columns = len(HEADERS)
    assert [line.count(" & ") + 1 for line in body.splitlines() if line.endswith(r"\\")] == [columns] * 4


def test_a_report_with_an_empty_table_is_written():
    text = report_to_latex([Section("Costs", tables=(Table("Bits", ("what", "bits"), [], note="In bits."),))])
    assert "\\caption{Costs: Bits. In bits.}" in text
    assert text.count("\\\\") == 1


def long_results(defenses=LONG_DEFENSES, attacks=LONG_ATTACKS, gain=0.0):
    """Three plays of defenses and attacks with long names, in two goals."""
    results = []
    for number, (defense, parameters, guarantee) in enumerate(defenses):
        for play in range(3):
            about = {"scenario": "bank", "defense": defense, "parameters": parameters, "guarantee": guarantee}
            values = {"marginals": 0.3 + 0.05 * number + 0.01 * play}
            results.append(Result(key=f"{number} {play}", play=play, values=values, **about))
            for other, attack in enumerate(attacks):
                rate = min(1.0, 0.07 * number + 0.05 * other + 0.03 * play + gain)
                scores = {goal: Score(goal, rate, 0.005, 100) for goal in ("reidentification", "membership")}
                trial = {"key": f"{number} {play} {other}", "game": {"decoys": "hard"}, "attack": attack}
                results.append(Result(**trial, play=play, scores=scores, **about))
    return results


def changes():
    """A section of forty changes."""
    return Section("", tables=(change_table(compare(long_results(), long_results(gain=0.1))[:40], "Changes"),))


TABLES = {
    "matrix": lambda: latex_matrix(matrix(long_results())),
    "ranking": lambda: report_to_latex(board_sections(rank(long_results()))),
    "more attacks than defenses": lambda: latex_matrix(matrix(long_results(LONG_DEFENSES[:2]))),
    "changes": lambda: report_to_latex([changes()]),
    "narrow": lambda: latex_table("Risk", ["defense", "ε"], [["[0,9] & more", "-.5"]], ["left", "right"]),
}


def typeset(table, folder, options="", preamble=""):
    """What pdflatex says of a paper with a table."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    (folder / "table.tex").write_text(table, encoding="utf-8")
    (folder / "paper.tex").write_text(
        f"\\documentclass[{options}]{{article}}\\usepackage{{booktabs,graphicx}}{preamble}"
        "\\begin{document}Text.\\input{table}\\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_fits_a_line_of_an_article_in_legible_type(name, tmp_path):
    natural = r"\renewcommand{\resizebox}[3]{\sbox0{#3}\typeout{natural width: \the\wd0}\scaled{#1}{#2}{#3}}"
    said = typeset(TABLES[name](), tmp_path, preamble=rf"\let\scaled\resizebox{natural}")
    assert "Overfull \\hbox" not in said
    # A line has 345 points. Type of 8 points, scaled down to it, stays above 7 points.
    assert float(re.search(r"natural width: ([\d.]+)pt", said)[1]) < 345 * 8 / 7


MANY = [(f"{name}{number}", *rest) for number in range(4) for name, *rest in LONG_DEFENSES]
LONG_TABLES = {
    "matrix": lambda: latex_matrix(matrix(long_results(MANY))),
    "ranking": lambda: report_to_latex(board_sections(rank(long_results(MANY, LONG_ATTACKS[:2])))),
    "one line each": lambda: latex_table("Risk", ["defense"], [[name] for name, *_ in MANY], None, "A note. " * 20),
}


@cache
def long_table(name):
    """LaTeX of a long table."""
    return LONG_TABLES[name]()


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("name", "options"), list(zip(LONG_TABLES, ["", "a4paper,11pt", "12pt"], strict=True)))
def test_a_long_table_goes_on_on_the_next_page(name, options, tmp_path):
    text = long_table(name)
    said = typeset(text, tmp_path, options)
    assert "too large" not in said
    assert "Overfull" not in said
    assert text.count("\\begin{table}") == text.count("\\toprule") >= text.count("(continued)") + 1 >= 2
    assert text.count("\\label") == text.count("\\begin{table}") - text.count("(continued)")
    if shutil.which("pdftotext") is not None:
        pages = subprocess.run(
            ["pdftotext", "-layout", "paper.pdf", "-"], cwd=tmp_path, capture_output=True, check=True
        )
        shown = re.sub(r"\s", "", pages.stdout.decode())
        assert all(f"{name}{number}"[:8] in shown for number in range(4) for name, *_ in LONG_DEFENSES)
        last = [line for line in text.splitlines() if line.endswith(r"\\")][-1]
        assert re.findall(r"[A-Z][a-z]+", last)[0] in shown


def test_a_page_that_is_not_full_is_no_part():
    table = latex_table("Risk", ["defense"], [["Mondrian"]] * 20, None)
    assert table.count("\\begin{table}") == 1
    assert "continued" not in table


def test_parts_of_a_table_keep_every_row_and_are_about_equally_high():
    fitted = layout(["defense"], [[name] for name, *_ in MANY], ["left"])
    parts = row_ranges(fitted, "Risk")
    assert [row for part in parts for row in part] == list(range(len(MANY)))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_the_most_dangerous_attack_of_each_defense_is_bold():
    text = latex_matrix(matrix(long_results(LONG_DEFENSES[:3], LONG_ATTACKS[:3])))
    assert text.count("\\textbf") == 3
    lines = [line for line in text.splitlines() if "\\textbf" in line]
    # The last attack has the largest success.
    assert all(line.count("&") == 3 and line.rpartition("&")[2].strip().startswith("\\textbf") for line in lines)
    assert "Bold: the attack with the largest advantage over guessing on the defense" in text


def test_cells_that_show_the_same_numbers_are_bold_together():
    rates = dict(zip(LONG_ATTACKS[:3], (0.866, 0.874, 0.864), strict=True))
    results = [
        replace(one, scores={"membership": Score("membership", rates[one.attack], 0.5, 1000)} if one.attack else {})
        for one in long_results(LONG_DEFENSES[:1], LONG_ATTACKS[:3])
    ]
    text = latex_matrix(matrix(results))
    assert text.count(r"\textbf{.87") == text.count(r"\textbf{") == 2
    assert "computed from the numbers shown; several if they tie" in text


def test_attacks_that_are_as_good_as_guessing_are_not_bold():
    guesses = {"membership": Score("membership", 0.5, 0.5, 100)}
    results = [replace(one, scores=guesses if one.attack else {}) for one in long_results(LONG_DEFENSES[:1])]
    assert "\\textbf" not in latex_matrix(matrix(results))


def one_goal(results):
    return [
        replace(one, scores={"membership": one.scores["membership"]} if one.scores else {}, key=one.key)
        for one in results
    ]


def test_intervals_are_shown_where_there_is_room_and_else_the_caption_says_where_they_are():
    few = latex_matrix(matrix(one_goal(long_results(LONG_DEFENSES[:4], LONG_ATTACKS[:3]))))
    assert re.search(r"\.08 \[|\.08\\\\\{\}\[", few)
    assert "[low, high]: 95 \\% intervals across plays, if plays vary as they did here" in few
    many = latex_matrix(matrix(one_goal(long_results())))
    assert "The CSV form of the matrix has the 95 \\% intervals" in many


@pytest.mark.thorough
def test_goals_that_would_break_a_number_have_tables_of_their_own():
    text = latex_matrix(matrix(long_results()))
    assert not re.search(r"\d/\\\\", text)
    assert re.findall(r"success in ([a-z /]+)\.", text) == ["rows", "members"]


def test_a_heading_is_turned_only_without_room():
    cells = [["A", "k=5", ".1", "yes"], ["B", "none", ".2", "no"]]
    rows = [[*row, *(f".{number}" for number in range(6))] for row in cells]
    headers = ["defense", "guarantee", "utility", "significant", *(f"a number of {n}" for n in range(6))]
    text = latex_table("T", headers, rows, ["left", "left", "right", "left", *["right"] * 6])
    assert "& guarantee &" in text
    assert "& significant &" in text
    assert r"\rotatebox{90}{a number of 5}" in text


def test_more_attacks_than_defenses_become_rows():
    text = latex_matrix(matrix(long_results(LONG_DEFENSES[:2])))
    heads = text[text.index("\\toprule") : text.index("\\midrule")]
    assert "attack & Mondrian k=2 & Mondrian k=5" in heads
    assert "FellegiSunter & .08/.08 & .15/.15" in text


def test_the_head_of_a_table_names_the_packages_that_it_needs():
    assert latex_table("Cells", ["cell"], [["1"]], None).splitlines()[0] == r"% \usepackage{booktabs,graphicx}"
