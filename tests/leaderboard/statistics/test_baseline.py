"""Attacks compared with a baseline: pairs count, and a difference that is chance is not called significant."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from comparison_tools import played
from run_tools import invoke

import leaderboard as lb
from leaderboard import Result, Store, compare_with_baseline, plays_to_judge
from leaderboard.statistics.significance import corrected
from metrics import Score
from scenarios.running.boards.board_result import BoardResult


def trials(gain, *, plays=12, seed=0, noise=0.01, defenses=("Alpha", "Beta")):
    """Two attacks on the same people: plays differ much, the attacks by `gain` and a little noise."""
    rng = np.random.default_rng(seed)
    results = []
    for play in range(plays):
        people = rng.uniform(0.3, 0.6)
        for defense in defenses:
            for attack, more in (("Base", 0.0), ("Better", gain)):
                rate = float(people + more + rng.normal(0, noise))
                scores = {"reidentification": Score("reidentification", rate, 0.005, 100)}
                key = f"{defense} {attack} {play}"
                about = {"scenario": "bank", "defense": defense, "attack": attack, "play": play}
                results.append(Result(key=key, scores=scores, **about))
    return results


def test_a_small_difference_is_found_since_the_people_are_the_same():
    (row,) = compare_with_baseline(trials(0.02), "Base")
    assert (row.attack, row.goal, row.defenses, row.plays, row.trials) == ("Better", "reidentification", 2, 12, 24)
    assert row.low < 0.02 < row.high
    assert row.difference == pytest.approx(row.success - row.baseline_success)
    assert row.significant
    # Without pairs, the people of the plays hide it.
    values = [result.scores["reidentification"].rate for result in trials(0.02)]
    assert np.std(values, ddof=1) / np.sqrt(12) > 0.02


@pytest.mark.thorough
def test_equal_attacks_are_significantly_different_in_few_of_many_boards():
    # Of 200 boards at 5 %, more than 20 are so with probability .001.
    found = sum(row.significant for seed in range(200) for row in compare_with_baseline(trials(0.0, seed=seed), "Base"))
    assert found <= 20


@pytest.mark.thorough
def test_the_interval_covers_the_difference_in_19_of_20_boards():
    # Of 200 intervals at 95 %, fewer than 180 cover with probability .001.
    rows = [row for seed in range(200) for row in compare_with_baseline(trials(0.05, seed=seed), "Base")]
    assert sum(row.low < 0.05 < row.high for row in rows) >= 180


def test_holm_counts_every_row():
    rows = compare_with_baseline(played(0), "Greedy")
    assert [(row.attack, row.goal) for row in rows] == [("Optimal", "reidentification"), ("Optimal", "membership")]
    barely = [replace(row, p=0.04) for row in rows]
    assert corrected([row.p for row in barely], [row.smallest_p for row in barely], 0.05) == [False] * 2


def test_only_trials_that_both_ended_count():
    results = trials(0.1)
    results[1] = replace(results[1], status="timeout", scores={})
    (row,) = compare_with_baseline(results, "Base")
    assert (row.plays, row.trials) == (12, 23)
    lone = [one for one in results if one.attack == "Base" or one.play == 3]
    assert compare_with_baseline(lone, "Base") == []


def test_too_few_plays_are_said():
    rows = compare_with_baseline(trials(0.1, plays=2), "Base")
    assert [(row.significant, row.judged) for row in rows] == [(False, False)]
    assert plays_to_judge(rows) == 3
    (section,) = lb.baseline_sections(rows)
    assert "Too few: 3 plays would do." in section.tables[0].note


def test_a_p_at_its_floor_is_explained():
    rows = compare_with_baseline(trials(0.1, plays=3, noise=1e-6), "Base")
    assert [row.p for row in rows] == [2 / 4**3]
    (section,) = lb.baseline_sections(rows)
    assert section.tables[0].note.endswith(" .031 is the smallest p that 3 plays can give (2/4ⁿ for n plays).")
    (section,) = lb.baseline_sections(compare_with_baseline(trials(0.02, plays=3, noise=0.02), "Base"))
    assert "smallest p" not in section.tables[0].note


def test_a_small_p_is_not_rounded_to_0():
    rows = compare_with_baseline(trials(0.2, plays=14, noise=1e-6), "Base")
    (line,) = csv.DictReader(io.StringIO(lb.baseline_records(rows).csv()))
    (record,) = json.loads(lb.baseline_records(rows).json())
    assert float(line["p"]) == record["p"] == pytest.approx(2 / 4**14, rel=1e-5)
    assert "7.5e-09 is the smallest p that 14 plays can give" in lb.baseline_sections(rows)[0].tables[0].note


def test_the_baseline_may_be_named_as_boards_show_it():
    own = [replace(one, attack="mine:Base" if one.attack == "Base" else one.attack) for one in trials(0.1)]
    assert compare_with_baseline(own, "Base") == compare_with_baseline(own, "mine:Base")
    two = [replace(one, attack_parameters={"k": k}, key=f"{one.key} {k}") for one in own for k in (2, 3)]
    with pytest.raises(ValueError, match="'Base' names several attacks; name one of mine:Base k=2, mine:Base k=3"):
        compare_with_baseline(two, "Base")
    assert {row.baseline_parameters["k"] for row in compare_with_baseline(two, "Base k=2")} == {2}
    with pytest.raises(ValueError, match="there is no attack 'Bse'; did you mean 'mine:Base'"):
        compare_with_baseline(own, "Bse")


def test_a_built_in_stays_nameable_beside_a_class_of_the_same_name():
    own = [replace(one, attack="mine:Base", key=f"{one.key} own") for one in trials(0.1) if one.attack == "Base"]
    assert {row.baseline for row in compare_with_baseline([*trials(0.1), *own], "Base")} == {"Base"}
    assert {row.baseline for row in compare_with_baseline([*trials(0.1), *own], "mine:Base")} == {"mine:Base"}


@pytest.fixture
def db(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store.add(trials(0.1))
    return tmp_path / "a.db"


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("table", "Better"),
        ("markdown", "| Better"),
        ("latex", "Better & rows"),
        ("csv", ",Better,"),
        ("json", "Better"),
    ],
)
def test_the_command_writes_every_format(db, form, words):
    done = invoke("board", "bank", "--db", db, "--baseline", "Base", "--format", form)
    assert done.exit_code == 0, done.output
    assert words in done.stdout


@pytest.mark.thorough
def test_csv_json_and_python_have_the_same_numbers(db, tmp_path):
    page = tmp_path / "page.html"
    done = invoke("board", "--db", db, "--baseline", "Base", "--format", "csv", "--html", page)
    (line,) = csv.DictReader(io.StringIO(done.stdout))
    assert tuple(line) == lb.BASELINE_COLUMNS
    assert (line["judged"], line["significant"]) == ("true", "true")
    (record,) = json.loads(invoke("board", "--db", db, "--baseline", "Base", "--format", "json").stdout)
    (row,) = BoardResult(trials(0.1)).against("Base").to_dict("records")
    assert float(line["difference"]) == record["difference"] == pytest.approx(row["difference"], abs=1e-6)
    assert "success compared with Base" in page.read_text(encoding="utf-8")


def test_other_views_are_refused_beside_it(db):
    for option in (["--matrix"], ["--summary"], ["--full"], ["--history", "Alpha"]):
        done = invoke("board", "--db", db, "--baseline", "Base", *option)
        assert (done.exit_code, "it takes no" in done.stderr) == (2, True)
    assert invoke("board", "--db", db, "--baseline", "None").exit_code == 2


def test_a_baseline_without_company_is_nothing_to_compare(tmp_path):
    with Store(tmp_path / "b.db") as store:
        store.add([one for one in trials(0.1) if one.attack == "Base"])
    done = invoke("board", "--db", tmp_path / "b.db", "--baseline", "Base")
    assert (done.exit_code, "no other attack shares a goal" in done.stderr) == (4, True)


@pytest.mark.thorough
def test_each_defense_alone_is_compared_and_all_rows_are_corrected_for(db):
    results = [replace(one, parameters={"k": 2}) for one in trials(0.1)]
    rows = compare_with_baseline(results, "Base", by_defense=True)
    assert [(row.defense, row.parameters, row.defenses, row.trials) for row in rows] == [
        ("Alpha", {"k": 2}, 1, 12),
        ("Beta", {"k": 2}, 1, 12),
    ]
    alone = compare_with_baseline([one for one in results if one.defense == "Beta"], "Base")
    assert rows[1].p == alone[0].p
    assert "correction for 2 tests" in lb.baseline_sections(rows)[0].tables[0].note
    done = invoke("board", "--db", db, "--baseline", "Base", "--by-defense", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    assert tuple(lines[0]) == (*lb.BASELINE_COLUMNS, *lb.DEFENSE_COLUMNS)
    assert [line["defense"] for line in lines] == ["Alpha", "Beta"]
    assert "Beta" in invoke("board", "--db", db, "--baseline", "Base", "--by-defense").stdout
    views = [("--by-defense",), ()]
    texts = [invoke("board", "--db", db, "--baseline", "Base", *view, "--format", "latex").stdout for view in views]
    labels = re.findall(r"\\label\{.*\}", "".join(texts))
    assert len(set(labels)) == len(labels) == 2
    assert list(BoardResult(results).against("Base", by_defense=True)["defense"]) == ["Alpha", "Beta"]
    done = invoke("board", "--db", db, "--by-defense")
    assert (done.exit_code, "goes with --baseline" in done.stderr) == (2, True)
