"""The board and the matrix: ranking, intervals and formats."""

import csv
import io
import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from leaderboard import (
    Result,
    board_records,
    board_sections,
    label,
    matrix,
    matrix_records,
    matrix_sections,
    pooled_utility,
    rank,
    report_to_markdown,
    report_to_terminal,
)
from leaderboard.pages.board_tables import rank_texts
from leaderboard.pages.number_text import number
from leaderboard.pages.tables import fold
from metrics import Score


def by_goal(*scores: Score) -> dict[str, Score]:
    return {score.goal: score for score in scores}


def release(defense: str, play: int, marginals: float | None, **changes: Any) -> Result:
    row = Result(
        key=f"{defense} {play} {changes}",
        scenario="bank",
        defense=defense,
        guarantee="none",
        play=play,
        values={"marginals": marginals, "k": 3.0 + play},
        seconds=1.0,
    )
    return replace(row, **changes)


def trial(defense: str, attack: str, play: int, rate: float | None, member: float | None, **changes: Any) -> Result:
    row = Result(
        key=f"{defense} {attack} {play} {changes}",
        scenario="bank",
        game={"decoys": "hard"},
        defense=defense,
        guarantee="none",
        attack=attack,
        play=play,
        scores=by_goal(Score("reidentification", rate, 0.2, 1), Score("membership", member, 0.5, 1)),
        values={"top3": rate, "precision": rate},
        seconds=2.0,
    )
    return replace(row, **changes)


def example() -> list[Result]:
    """Two plays; Alpha leaks rows, Beta membership, Gamma nothing and is useless, Delta is dominated by Beta."""
    return [
        *(release("Alpha", play, utility) for play, utility in enumerate([0.9, 1.0])),
        *(release("Beta", play, utility) for play, utility in enumerate([0.7, 0.9])),
        *(release("Gamma", play, 0.0) for play in range(2)),
        *(release("Delta", play, 0.6) for play in range(2)),
        *(trial("Alpha", "Greedy", play, rate, 0.6) for play, rate in enumerate([0.5, 0.7])),
        *(trial("Alpha", "Optimal", play, rate, 0.6) for play, rate in enumerate([0.7, 0.9])),
        *(trial("Beta", "Greedy", play, 0.2, member) for play, member in enumerate([0.6, 0.8])),
        *(trial("Beta", "Optimal", play, 0.3, 0.5) for play in range(2)),
        *(trial("Gamma", "Greedy", play, None, 0.4) for play in range(2)),
        *(trial("Gamma", "Optimal", play, None, 0.4) for play in range(2)),
        *(trial("Delta", "Greedy", play, 0.6, 0.5) for play in range(2)),
        *(trial("Delta", "Optimal", play, 0.2, 0.5) for play in range(2)),
    ]


def test_a_small_board_agrees_with_the_one_computed_by_hand() -> None:
    rows = rank(example())
    assert [(row.rank, row.defense) for row in rows] == [(1, "Beta"), (2, "Delta"), (3, "Alpha"), (4, "Gamma")]
    beta, delta, alpha, gamma = rows
    # Alpha: rows (.7 + .9) / 2 = .8 against chance .2: advantage .75; utility .95; score .95 x .25.
    assert (alpha.worst_attack, alpha.goal, alpha.pareto) == ("Optimal", "reidentification", True)
    assert alpha.success == pytest.approx(0.8)
    assert alpha.advantage == pytest.approx(0.75)
    assert alpha.score == pytest.approx(0.2375)
    # Student's interval of two plays: .8 +- t(1) x .1, clipped; two attacks with two goals each share the 5 %.
    assert alpha.success_low == pytest.approx(max(0, 0.8 - student.ppf(1 - 0.025 / 4, 1) * 0.1))
    assert alpha.success_high == 1.0
    # Beta: members .7 against .5: advantage .4, rows .3 against .2 only .125; score .8 x .6.
    assert (beta.worst_attack, beta.goal, beta.chance, beta.pareto) == ("Greedy", "membership", 0.5, True)
    assert beta.advantage == pytest.approx(0.4)
    assert beta.score == pytest.approx(0.48)
    # Delta: rows .6 against .2: .5; score .6 x .5; Beta is more useful and safer.
    assert delta.score == pytest.approx(0.3)
    assert not delta.pareto
    # Gamma: no row of known origin, so membership alone counts; worse than chance is no merit.
    assert (gamma.worst_attack, gamma.goal, gamma.score, gamma.pareto) == ("Greedy", "membership", 0.0, True)
    assert gamma.advantage == pytest.approx(-0.2)
    assert gamma.exposure == 0.0
    assert {(row.plays, row.attacks, row.failures, row.complete) for row in rows} == {(2, 2, 0, True)}
    assert {row.seconds for row in rows} == {2 * 1.0 + 4 * 2.0}
    assert alpha.measured == {"k": 3.0}


def test_an_attack_that_cannot_be_told_from_guessing_is_not_the_worst() -> None:
    plays = range(20)
    results = [
        *(release("Alpha", play, 0.5) for play in plays),
        # Members .51 are .02 above chance, which 2,000 persons cannot tell; rows .02 are .015 above, which they can.
        *(
            trial(
                "Alpha",
                "Greedy",
                play,
                0,
                0,
                scores=by_goal(
                    Score("reidentification", 0.01 + play % 2 / 50, 0.005, 100), Score("membership", 0.51, 0.5, 100)
                ),
            )
            for play in plays
        ),
    ]
    (row,) = rank(results)
    assert row.goal == "reidentification"
    assert row.success == pytest.approx(0.02)


def test_equal_scores_share_a_rank_and_the_next_is_skipped() -> None:
    rows = rank(
        [
            *(release(name, 0, utility) for name, utility in [("A", 0.5), ("B", 0.5), ("C", 0.4)]),
            *(trial(name, "Greedy", 0, 0.2, None) for name in "ABC"),
        ]
    )
    assert [(row.rank, row.defense, row.pareto) for row in rows] == [(1, "A", True), (1, "B", True), (3, "C", False)]


def test_missing_scores_rank_last_and_are_on_no_front() -> None:
    results = [
        *example(),
        release("Aaa", 0, None, status="error", reason="ValueError: k exceeds the table", values={}),
        release("Useless", 0, None),
        trial("Useless", "Greedy", 0, 0.1, 0.5),
        release("Unattacked", 0, 1.0),
        release("Skipped", 0, 1.0),
        trial("Skipped", "Greedy", 0, None, None, status="skipped", reason="no channel", values={}),
    ]
    rows = rank(results)
    assert [row.defense for row in rows[4:]] == ["Aaa", "Skipped", "Unattacked", "Useless"]
    assert all(row.score is None and row.rank is None and not row.pareto for row in rows[4:])
    assert (rows[4].failures, rows[4].reason, rows[4].complete) == (1, "ValueError: k exceeds the table", False)
    assert "NaN" not in board_records(rows).json()


def test_failed_trials_leave_a_row_that_says_it_is_incomplete() -> None:
    results = [
        replace(row, status="timeout", reason="60 s", values={})
        if (row.defense, row.attack, row.play) == ("Alpha", "Optimal", 0)
        else row
        for row in example()
    ]
    alpha = next(row for row in rank(results) if row.defense == "Alpha")
    assert (alpha.plays, alpha.attacks, alpha.failures, alpha.complete, alpha.reason) == (1, 2, 1, False, "60 s")
    assert alpha.success == pytest.approx(0.9)
    pair = next(pair for pair in matrix(results) if (pair.defense, pair.attack) == ("Alpha", "Optimal"))
    assert (pair.status, pair.reason, pair.plays) == ("timeout", "60 s", 1)
    assert "Alpha !" in report_to_terminal(board_sections(rank(results)))


def test_an_attack_that_has_not_been_played_yet_makes_a_row_incomplete() -> None:
    results = [row for row in example() if (row.defense, row.attack) != ("Alpha", "Optimal")]
    rows = {row.defense: row for row in rank(results)}
    assert (rows["Alpha"].plays, rows["Alpha"].attacks, rows["Alpha"].complete) == (0, 1, False)
    assert rows["Beta"].complete


def test_a_release_belongs_to_every_kind_of_decoys_and_each_kind_has_its_own_front() -> None:
    results = [*example(), *(trial("Delta", "Greedy", play, 0.2, 0.5, game={"decoys": "random"}) for play in range(2))]
    rows = rank(results)
    assert [(row.variant, row.defense) for row in rows[:4]] == [("decoys=hard", row.defense) for row in rows[:4]]
    random_rows = {row.defense: row for row in rows[4:]}
    assert set(random_rows) == {"Alpha", "Beta", "Gamma", "Delta"}
    assert (random_rows["Delta"].rank, random_rows["Delta"].pareto) == (1, True)
    assert random_rows["Delta"].utility == pytest.approx(0.6)
    assert random_rows["Alpha"].score is None


def test_the_classifier_is_pooled_over_plays() -> None:
    plays = [
        {"marginals": 0.6, "classifier_auc": 0.9, "classifier_auc_original": 0.6},
        {"marginals": 0.8, "classifier_auc": 0.5, "classifier_auc_original": 0.8},
    ]
    utility = pooled_utility(plays)
    assert utility is not None
    # (.7 - .5) / (.7 - .5) = 1, where the mean of clipped ratios would be (1 + 0) / 2.
    assert utility.components == pytest.approx({"marginals": 0.7, "classifier": 1.0})
    assert utility.headline.value == pytest.approx(0.85)


@pytest.mark.parametrize(
    ("release_auc", "original_auc", "expected"),
    [(0.5, 0.8, 0.0), (0.4, 0.8, 0.0), (0.9, 0.8, 1.0), (0.65, 0.8, 0.5), (0.8, 0.5, None), (None, 0.8, None)],
)
def test_the_classifier_is_clipped_and_left_out_where_it_says_nothing(
    release_auc: float | None, original_auc: float, expected: float | None
) -> None:
    utility = pooled_utility(
        [{"marginals": 0.2, "classifier_auc": release_auc, "classifier_auc_original": original_auc}]
    )
    assert utility is not None
    assert utility.components.get("classifier") == pytest.approx(expected)


def test_the_jackknife_of_plain_means_is_students_interval() -> None:
    values = [0.3, 0.5, 0.4, 0.6]
    utility = pooled_utility([{"marginals": value, "queries": value} for value in values])
    assert utility is not None
    half = student.ppf(0.975, 3) * np.std(values, ddof=1) / 2
    assert utility.headline.value == pytest.approx(0.45)
    assert (utility.headline.low, utility.headline.high) == pytest.approx((0.45 - half, 0.45 + half))
    assert utility.headline.n == 4


def test_the_jackknife_recomputes_the_pooled_classifier() -> None:
    release_auc, original_auc = np.array([0.6, 0.62, 0.7]), np.array([0.8, 0.75, 0.85])
    utility = pooled_utility(
        [
            {"classifier_auc": own, "classifier_auc_original": original}
            for own, original in zip(release_auc.tolist(), original_auc.tolist(), strict=True)
        ]
    )
    assert utility is not None
    left = [(np.delete(release_auc, i).mean() - 0.5) / (np.delete(original_auc, i).mean() - 0.5) for i in range(3)]
    half = student.ppf(0.975, 2) * np.sqrt(2 / 3 * np.square(left - np.mean(left)).sum())
    assert utility.headline.high - utility.headline.value == pytest.approx(half)


def test_a_single_play_says_nothing_of_the_interval_and_equal_plays_have_none() -> None:
    one, many = pooled_utility([{"marginals": 1.0}]), pooled_utility([{"marginals": 0.3}] * 20)
    assert one is not None
    assert many is not None
    assert (one.headline.low, one.headline.high) == (0.0, 1.0)
    assert (many.headline.low, many.headline.high) == pytest.approx((0.3, 0.3))


def test_no_measured_component_is_no_utility() -> None:
    assert pooled_utility([]) is None
    assert pooled_utility([{}, {"marginals": None, "k": 5.0}]) is None
    part = pooled_utility([{"marginals": 0.5}, {"marginals": None}, {"marginals": 0.7, "queries": 0.8}])
    assert part is not None
    assert part.components == pytest.approx({"marginals": 0.6, "queries": 0.8})
    assert part.headline.n == 2


def test_csv_has_exactly_the_columns_that_scripts_expect() -> None:
    lines = list(csv.DictReader(io.StringIO(board_records(rank(example())).csv())))
    assert " ".join(lines[0]) == (
        "scenario variant defense parameters guarantee utility utility_low utility_high worst_attack success "
        "success_low success_high chance advantage score pareto plays advantage_unbiased"
    )
    assert lines[0]["worst_attack"] == "Greedy"
    assert float(lines[0]["score"]) == 0.48
    assert [line["pareto"] for line in lines] == ["true", "false", "true", "true"]
    assert board_records([]).csv().count("\n") == 1


def own_goal(play: int, rate: float, control: float, people: int, controls: int | None = None) -> Result:
    scores = by_goal(Score("attribute", rate, control, people, controls))
    return trial("Alpha", "Bayes", play, None, None, game={}, scores=scores, values={})


def test_a_game_names_goals_and_utility_of_its_own() -> None:
    plays = range(4)
    results = [
        *(release("Alpha", play, None, values={"utility_answers": 0.5 + play / 10, "k": 1.0}) for play in plays),
        *(own_goal(play, 0.6, 0.2, 100) for play in plays),
    ]
    (row,) = rank(results)
    assert (row.goal, row.components) == ("attribute", {"answers": pytest.approx(0.65)})
    assert (row.success, row.chance, row.advantage) == pytest.approx((0.6, 0.2, 0.5))
    assert row.score == pytest.approx(0.65 * 0.5)
    assert "Bayes (values)" in report_to_terminal(board_sections([row]))
    (pair,) = matrix(results)
    assert (pair.success("reidentification"), pair.success("membership")) == (None, None)
    assert "success in values" in report_to_terminal(matrix_sections([pair]))
    (line,) = csv.DictReader(io.StringIO(matrix_records([pair]).csv()))
    others = json.loads(line["other_goals"])
    assert (others["attribute"], others["attribute_chance"]) == (0.6, 0.2)
    assert others["attribute_low"] < 0.6 < others["attribute_high"]


def test_what_else_a_game_reports_is_averaged_and_small_rates_need_many_negatives() -> None:
    def played(non_members: int) -> list[Result]:
        values = {"membership_auc": 0.7, "tpr_at_1_percent_fpr": 0.2, "tpr_at_tenth_percent_fpr": 0.1}
        scores = by_goal(Score("membership", 0.6, 0.5, 300))
        values["non_members"] = non_members
        return [trial("Alpha", "Ratio", play, None, None, game={}, scores=scores, values=values) for play in range(4)]

    # 4 plays x 300 others: 12 false positives are to be expected at 1 %, one at a tenth of a percent.
    (pair,) = matrix(played(300))
    assert pair.measures == pytest.approx({"membership_auc": 0.7, "tpr_at_1_percent_fpr": 0.2, "non_members": 300})
    assert "tpr_at_1_percent_fpr" not in matrix(played(200))[0].measures


def test_a_chance_that_is_itself_estimated_is_as_uncertain_as_its_control() -> None:
    # .25 of 400 against a known .2 is beyond doubt, against .2 of 400 it is not (both intervals at 95 %).
    known, estimated = (
        matrix([own_goal(play, 0.25, 0.2, 100, controls) for play in range(4)])[0].success("attribute")
        for controls in (None, 100)
    )
    assert known is not None
    assert estimated is not None
    assert known.above_chance
    assert not estimated.above_chance
    assert replace(estimated, rates=(0.4,) * 4).above_chance


def test_matrix_csv_has_one_line_a_pair() -> None:
    lines = list(csv.DictReader(io.StringIO(matrix_records(matrix(example())).csv())))
    assert " ".join(lines[0]) == (
        "scenario variant defense parameters attack attack_parameters reidentification reidentification_low "
        "reidentification_high chance membership membership_low membership_high membership_chance advantage top3 "
        "precision plays status other_goals"
    )
    assert len(lines) == 8
    gamma = next(line for line in lines if line["defense"] == "Gamma")
    assert (gamma["reidentification"], gamma["chance"], gamma["membership"]) == ("", "", "0.4")


def test_parameters_are_exact_and_sorted_in_csv_and_json() -> None:
    tiny = {"epsilon": 1, "delta": 1e-9}
    rows = rank([release("Noise", 0, 1 / 3, parameters=tiny), trial("Noise", "Greedy", 0, 0.3, None, parameters=tiny)])
    line = next(csv.DictReader(io.StringIO(board_records(rows).csv())))
    assert line["parameters"] == '{"delta":1e-09,"epsilon":1}'
    assert line["utility"] == "0.333333"
    assert json.loads(board_records(rows).json())[0]["parameters"] == tiny


@pytest.mark.thorough
def test_the_order_of_insertion_changes_no_byte() -> None:
    generator = random.Random(7)
    results = [
        row
        for name in ("Alpha", "Beta", "Gamma")
        for play in range(30)
        for row in (
            release(name, play, generator.random()),
            trial(name, "Greedy", play, generator.random(), generator.random()),
            trial(name, "Optimal", play, generator.random(), generator.random(), game={"decoys": "random"}),
        )
    ]
    shuffled = generator.sample(results, len(results))
    assert shuffled != results
    for records in (board_records(rank(some)) for some in (results, shuffled)):
        first = board_records(rank(results))
        assert (records.csv(), records.json()) == (first.csv(), first.json())
    for records in (matrix_records(matrix(some)) for some in (results, shuffled)):
        first = matrix_records(matrix(results))
        assert (records.csv(), records.json()) == (first.csv(), first.json())
    assert board_sections(rank(results)) == board_sections(rank(shuffled))
    assert matrix_sections(matrix(results)) == matrix_sections(matrix(shuffled))


def test_no_results_give_an_empty_board() -> None:
    assert rank([]) == []
    assert matrix([]) == []
    assert board_sections([]) == matrix_sections([]) == []
    assert report_to_terminal([]) == report_to_markdown([]) == ""
    assert json.loads(board_records([]).json()) == []
    assert matrix_records([]).csv().startswith("scenario,variant,defense,")


@pytest.mark.parametrize("width", [105, 120])
def test_the_terminal_table_keeps_within_the_terminal(width: int) -> None:
    name, attack = "RetentionReplacement", "ExpectationMaximizationLinkage"
    parameters = {"retention": 0.7, "columns": ["age", "job", "marital"]}
    results = [
        *(release(name, play, 0.5 + play / 10, parameters=parameters, guarantee="k=5, l=3") for play in range(3)),
        *(trial(name, attack, play, 0.5 + play / 10, None, parameters=parameters) for play in range(3)),
    ]
    text = report_to_terminal(board_sections(rank(results)), width)
    assert max(map(len, text.splitlines())) <= width
    assert "★ 1" in text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.423, ".42"), (1.0, "1.00"), (-0.031, "-.03"), (-0.001, ".00"), (0.0, ".00")]
)
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert number(value) == text


def test_names_fold_at_spaces_first_and_at_capitals_only_where_they_must() -> None:
    assert fold("LikelihoodAssignment (rows)", 22) == "LikelihoodAssignment\n(rows)"
    assert fold("ExpectationMaximizationLinkage (rows)", 20) == "Expectation\nMaximizationLinkage\n(rows)"
    assert fold("", 10) == ""


def test_labels_show_parameters_and_nested_methods() -> None:
    assert label("Mondrian", {"k": 5, "columns": None}) == "Mondrian k=5"
    steps = [{"use": "GlobalRecoding", "levels": {"age": 2}}, {"use": "Shuffle"}]
    assert label("Pipeline", {"steps": steps}) == "Pipeline (GlobalRecoding levels={age: 2}) + Shuffle"
    assert label("Sampling", {"rate": 0.5, "columns": ["a", "b"]}) == "Sampling rate=0.5 columns=a,b"


@pytest.mark.thorough
def test_ranks_of_many_equal_scores_are_all_different() -> None:
    names = [f"D{index:03}" for index in range(600)]
    results = [one for name in names for one in (release(name, 0, 0.5), trial(name, "A", 0, 0.5, 0.5))]
    texts = rank_texts(rank(results))
    assert texts[:9] == ["1a", "1b", "1c", "1d", "1e", "1f", "1g", "1h", "1j"]
    assert texts[22:24] == ["1z", "1aa"]
    assert len(set(texts)) == 600
