"""The summary of boards on several data sets and goals."""

import csv
import io
import json
from dataclasses import replace

import pytest

import leaderboard as lb
from leaderboard.pages.report import Section, Table
from leaderboard.pages.tables import fold, terminal_width
from leaderboard.statistics.exposure import meets
from metrics import Score

GOALS = ("reidentification", "membership", "linkability")
# Settings of two families: utility, and advantage of the strong attack.
SETTINGS = {("Keeps", 1): (0.9, 0.6), ("Keeps", 2): (0.7, 0.2), ("Keeps", 3): (0.4, 0.0), ("Loses", 1): (0.3, 0.9)}


def results_of(place, plays=4, goals=GOALS):
    results = []
    for (family, strength), (utility, advantage) in SETTINGS.items():
        for play in range(plays):
            common = {"scenario": place, "defense": family, "parameters": {"k": strength, "same": 1}, "play": play}
            values = {"marginals": utility, "queries": utility}
            results.append(lb.Result(key=f"{place}{family}{strength}{play}", values=values, seconds=1.0, **common))
            for goal in goals:
                for attack, share in (("Strong", 1.0), ("Weak", 0.5)):
                    score = Score(goal, 0.5 + 0.5 * advantage * share, 0.5, 100_000)
                    key = f"{place}{family}{strength}{play}{goal}{attack}"
                    results.append(lb.Result(key=key, attack=f"{attack}{goal}", scores={goal: score}, **common))
    return results


@pytest.fixture(scope="module")
def results():
    return results_of("arena on adult") + results_of("arena on bank")


def test_summaries_are_for_several_places_or_goals(results):
    assert lb.needs_summary(results)
    assert lb.needs_summary(results_of("arena"))
    bank = results_of("bank", goals=GOALS[:2])
    assert not lb.needs_summary(bank)
    variants = [
        replace(result, key=f"hard{result.key}", game={"decoys": "hard"})
        for result in bank
        if result.attack is not None
    ]
    assert not lb.needs_summary([*bank, *variants])


def test_utility_left_is_the_best_setting_within_the_bound(results):
    settings = [one for one in lb.exposures(results) if one.scenario == "arena on adult"]
    best = {bound: lb.utility_left(settings, bound) for bound in lb.BOUNDS}
    assert [best[bound]["Keeps"].parameters["k"] for bound in lb.BOUNDS] == [3, 3, 2, 2]
    assert all(best[bound]["Loses"] is None for bound in lb.BOUNDS)


def test_a_setting_with_a_failed_attack_meets_no_bound():
    results = results_of("arena")
    [first] = [one for one in lb.exposures(results) if (one.defense, one.parameters["k"]) == ("Keeps", 3)]
    assert meets(first, 0.1)
    common = {"scenario": "arena", "defense": "Keeps", "parameters": {"k": 3, "same": 1}}
    broken = lb.Result(key="broken", attack="Broken", status="timeout", play=0, **common)
    [second] = [one for one in lb.exposures([*results, broken]) if (one.defense, one.parameters["k"]) == ("Keeps", 3)]
    assert not meets(second, 0.5)


def test_ranks_are_means_over_places_and_goals(results):
    ranks = {rank.family: rank for rank in lb.mean_ranks(results)}
    assert (ranks["Keeps"].value, ranks["Loses"].value) == (1.0, 2.0)
    assert (ranks["Keeps"].low, ranks["Keeps"].high) == (1.0, 1.0)
    assert lb.mean_ranks(results_of("arena", plays=1))[0].low is None


def test_equal_families_share_the_mean_rank_and_absent_ones_are_last():
    results = results_of("arena")
    twin = [replace(result, key=f"twin{result.key}", defense="Twin") for result in results if result.defense == "Keeps"]
    only_here = [
        replace(result, key=f"other{result.key}", scenario="other") for result in results if result.defense == "Keeps"
    ]
    ranks = {rank.family: rank.value for rank in lb.mean_ranks([*results, *twin])}
    assert ranks == {"Keeps": 1.5, "Twin": 1.5, "Loses": 3.0}
    assert {rank.family: rank.value for rank in lb.mean_ranks([*results, *only_here])} == {"Keeps": 1.0, "Loses": 2.0}


def test_useful_attacks_are_those_that_would_be_missed(results):
    attacks = {one.attack: one for one in lb.usefulness(lb.matrix(results))}
    # Three goals have equal attacks, so that no single one would be missed.
    assert attacks["Strongmembership"].missed == 0
    assert attacks["Strongmembership"].worst == 1.0
    one_goal = {one.attack: one for one in lb.usefulness(lb.matrix(results_of("arena", goals=GOALS[:1])))}
    # The strong attack's advantages .6, .2, 0 and .9 fall by half without it.
    assert one_goal["Strongreidentification"].missed == pytest.approx((0.3 + 0.1 + 0 + 0.45) / 4)
    # Against the third setting, both have no advantage and share the first place.
    assert one_goal["Weakreidentification"].worst == 0.25


def test_every_format_says_the_same(results):
    sections = lb.summarize(results)
    assert [section.title for section in sections] == [
        "Utility left at risk: arena on adult",
        "Utility left at risk: arena on bank",
        "Attacks",
    ]
    assert len(sections[0].tables) == 1 + len(GOALS)
    assert len(lb.summarize(results, by_goal=False)[0].tables) == 1
    first = sections[0].tables[0]
    assert first.rows[0] == ("Keeps", ".40 k=3", ".40 k=3", ".70 k=2", ".70 k=2", "1.0 [1.0, 1.0]")
    assert first.rows[1][:5] == ("Loses", "–", "–", "–", "–")
    assert ".70 k=2" in lb.report_to_terminal(sections)
    assert "| .70 k=2" in lb.report_to_markdown(sections)
    assert "& .70 k=2" in lb.report_to_latex(sections)
    assert "\\toprule" in lb.report_to_latex(sections)
    lines = list(csv.DictReader(io.StringIO(lb.report_to_csv(sections))))
    assert {"value": ".70 k=2", "column": "at most .25"}.items() <= {
        **next(line for line in lines if line["value"] == ".70 k=2")
    }.items()
    assert json.loads(lb.report_to_json(sections))[0]["rows"][0][3] == ".70 k=2"


def test_boards_and_matrices_are_latex_tables(results):
    board, matrix = lb.report_to_latex(lb.board_sections(lb.rank(results))), lb.latex_matrix(lb.matrix(results))
    assert board.count("\\begin{table}") == matrix.count("\\begin{table}") == 2
    assert "Strong" in board
    assert "Weakmembership" in matrix


@pytest.mark.parametrize("width", [45, 120])
def test_tables_with_japanese_names_fit_the_terminal_and_are_aligned(width):
    name = "京都大学情報学研究科匿名化研究室"
    rows = [("kyoto", name, "has handed in nothing", "|"), ("osaka", "大阪 (osaka)", "", "|")]
    table = Table("Teams", ("team", "title", "remark", "end"), rows)
    lines = lb.report_to_terminal([Section("Cup", tables=(table,))], width=width).splitlines()
    assert max(map(terminal_width, lines)) <= width
    assert len({terminal_width(line.partition("|")[0]) for line in lines if "|" in line}) == 1
    assert set(name) <= set("".join(lines))
    assert any(name in line for line in lines) == (width == 120)


def test_text_is_folded_by_its_width_on_a_terminal():
    assert fold("匿名 加工 の チーム", 10).split("\n") == ["匿名 加工", "の チーム"]
    assert fold("team of kyoto", 10).split("\n") == ["team of", "kyoto"]


@pytest.mark.parametrize("width", [80, 120])
def test_tables_and_notes_fit_the_terminal(width):
    cell = ".18 epsilon=20 protocol=OptimizedUnaryEncoding"
    note = (
        "Best utility among settings whose worst advantage is at most the bound, at the upper end of its interval. " * 2
    )
    columns = ("family", *(f"at most .{bound}" for bound in ("05", "10", "25", "50")), "mean rank")
    table = Table(
        "all goals", columns, [("OptimalRetentionFromNoisyHistogram", *[cell] * 4, "12.2 [9.9, 14.6]")], 2, note
    )
    text = lb.report_to_terminal([Section("Utility", tables=(table,))], width=width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("epsilon=20") == 4
    assert " ".join(text.split()).endswith(" ".join(note.split()))
