"""LaTeX tables: everything that LaTeX would read as a command is escaped, and signs can be set."""

import re
import shutil
import subprocess

import pytest
from comparison_tools import played

from leaderboard import (
    Result,
    Section,
    Table,
    changes_to_latex,
    compare,
    latex_board,
    latex_matrix,
    matrix,
    rank,
    report_to_latex,
)
from leaderboard.latex import latex_table, latex_text
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


TABLES = {
    "matrix": lambda: latex_matrix(matrix(long_results())),
    "ranking": lambda: latex_board(rank(long_results())),
    "more attacks than defenses": lambda: latex_matrix(matrix(long_results(LONG_DEFENSES[:2]))),
    "changes": lambda: changes_to_latex(compare(long_results(), long_results(gain=0.1))[:40]),
    "narrow": lambda: latex_table("Risk", ["defense", "ε"], [["[0,9] & more", "-.5"]], ["left", "right"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_fits_a_line_of_an_article_in_legible_type(name, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    (tmp_path / "table.tex").write_text(TABLES[name](), encoding="utf-8")
    natural = r"\renewcommand{\resizebox}[3]{\sbox0{#3}\typeout{natural width: \the\wd0}\scaled{#1}{#2}{#3}}"
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,graphicx}\let\scaled\resizebox"
        f"{natural}\\begin{{document}}\\input{{table}}\\end{{document}}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Overfull \\hbox" not in done.stdout
    # A line has 345 points. Type of 8 points, scaled down to it, stays above 7 points.
    assert float(re.search(r"natural width: ([\d.]+)pt", done.stdout)[1]) < 345 * 8 / 7


def test_more_attacks_than_defenses_become_rows():
    text = latex_matrix(matrix(long_results(LONG_DEFENSES[:2])))
    heads = text[text.index("\\toprule") : text.index("\\midrule")]
    assert "attack & Mondrian k=2 & Mondrian k=5" in heads
    assert "FellegiSunter & .08/.08 & .15/.15" in text


def test_the_head_of_a_table_names_the_packages_that_it_needs():
    assert latex_table("Cells", ["cell"], [["1"]], None).splitlines()[0] == r"% \usepackage{booktabs,graphicx}"
