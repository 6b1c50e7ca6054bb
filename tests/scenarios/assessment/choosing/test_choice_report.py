"""The report of a choice."""

from dataclasses import replace
from pathlib import Path

import pytest

from defenses import Guarantee
from leaderboard.pages.report import report_to_json
from leaderboard.statistics.exposure import Exposure, WorstAttack
from metrics import Estimate
from scenarios.assessment.choosing.choice import Choice, Finalist
from scenarios.assessment.choosing.choice_report import (
    Effect,
    Source,
    choice_sections,
    class_warnings,
    commands,
    nearest_words,
    people_warnings,
    verdict,
)
from scenarios.running.plan import NamedMethod
from scenarios.tables.review.rows_of_people import RowsOfPeople


def exposure(parameters, utility, upper):
    worst = WorstAttack("membership", "Homer", {}, upper / 2, upper, 1)
    return Exposure("mine", "", "Mondrian", parameters, "k=5", Estimate(utility, 0, 1, 5), {}, worst, 0, 0.0, 0.0)


def finalist(k, upper, *, confirmed):
    return Finalist(NamedMethod("Mondrian", None, {"k": k}), exposure({"k": k}, 0.5, upper), upper, confirmed)


@pytest.mark.parametrize("several", [None, RowsOfPeople("id", 240, 60, 4)], ids=["one row", "four rows"])
def test_it_says_whether_rows_or_people_are_counted_and_the_epsilon_of_a_person(several):
    of_people = people_warnings(several, {"PrivateMarginals epsilon=2": Guarantee(epsilon=2.0)})
    sections = choice_sections(CHOICE, 0.1, 400, Source("table.csv", None), of_people=of_people)
    said = report_to_json(sections)
    assert "each with 400 released people" in said
    assert ("people are drawn with all their rows (id: 240 rows of 60 people, up to 4 rows a person)" in said) == bool(
        several
    )
    whole = "epsilon=2: epsilon = 2 is the guarantee for one row; a person has up to 4 rows, so epsilon is 8"
    assert (whole in said) == bool(several)


CHOICE = Choice(
    (finalist(20, 0.08, confirmed=True), finalist(5, 0.3, confirmed=False)),
    (exposure({"k": 5}, 0.7, 0.3), exposure({"k": 20}, 0.5, 0.08), exposure({"k": 2}, 0.4, 0.9)),
    6,
)


def test_a_confirmed_setting_is_named():
    assert verdict(CHOICE, 0.1) == "1 of 2 finalists keeps within .1 in these plays; the most useful is Mondrian k=20"


def test_sure_is_only_what_holds_however_plays_vary():
    sure = replace(finalist(20, 0.08, confirmed=True), sure=True)
    assert verdict(Choice((sure,), (), 120), 0.1).startswith("1 of 1 finalist keeps within .1 for sure; ")
    both = Choice((sure, finalist(50, 0.09, confirmed=True)), (), 120)
    assert verdict(both, 0.1).startswith("2 of 2 finalists keep within .1 in these plays; ")
    [best] = choice_sections(both, 0.1, 40, Source("people.csv", None))[0].tables
    assert [row[1] for row in best.rows] == ["for sure", "in these plays"]
    assert "if plays vary as they did here" in best.note
    # Two settings: .9 to the power of 36 is at most .05 / 2.
    assert "to be sure takes at least 36 plays" in best.note


def test_a_useless_setting_is_called_so():
    useless = Finalist(NamedMethod("Constant", None, {}), exposure({}, 0.01, 0.02), 0.02, confirmed=True)
    assert verdict(Choice((useless,), (), 4), 0.1).endswith("Constant, but it keeps nearly nothing (utility .01)")


@pytest.mark.parametrize("early", [False, True])
def test_more_time_is_named_where_it_may_help(early):
    unsure = Choice((finalist(5, 0.3, confirmed=False),), (), 2, early)
    assert ("--budget" in verdict(unsure, 0.1)) == early
    assert verdict(Choice((), (), 0), 0.1) == "none meets the bound .1"
    assert "; the nearest is Mondrian k=5, at most .3" in verdict(unsure, 0.1)
    assert "--budget gives more" in verdict(Choice((), (), 0, ended_early=True), 0.1)


def test_the_nearest_setting_is_named_if_none_meets_the_bound():
    useless = exposure({"k": 90}, 0.01, 0.02)
    measured = Choice((), (*CHOICE.measured, useless), 0)
    nearest = "; the nearest useful one is Mondrian k=20, at most .08 while choosing"
    assert verdict(measured, 0.01) == f"none meets the bound .01{nearest}"
    assert verdict(measured, 0.01, ("grouping",)).startswith("none of grouping meets the bound .01; ")
    assert verdict(Choice((), (useless,), 0), 0.01) == "none meets the bound .01"


def test_a_setting_that_was_no_finalist_may_be_nearer():
    """The finalist of .3 on fresh plays was at most .08 while choosing, which fresh plays replace."""
    unsure = Choice((finalist(20, 0.3, confirmed=False),), (*CHOICE.measured, exposure({"k": 50}, 0.3, 0.142)), 1)
    assert verdict(unsure, 0.1) == (
        "none meets the bound .1 in these plays; the nearest on fresh plays is Mondrian k=20, at most .30; while "
        "choosing, in fewer plays or attacks, it was Mondrian k=50, at most .14"
    )
    farther = Choice((finalist(20, 0.1, confirmed=False),), unsure.measured, 1)
    assert (
        verdict(farther, 0.05) == "none meets the bound .05 in these plays; the nearest is Mondrian k=20, at most .10"
    )
    choice, *_, shown = choice_sections(unsure, 0.1, 40, Source("people.csv", None))
    [best], [table] = choice.tables, shown.tables
    assert best.title == "Finalists, none within .1 in these plays"
    assert best.note.startswith("All numbers are of 1 fresh play, each with")
    assert "; 1 of this front lies within .1. " in table.note


def test_a_finalist_that_keeps_nothing_is_not_the_nearest():
    useless = Finalist(NamedMethod("Constant", None, {}), exposure({}, 0.01, 0.12), 0.12, confirmed=False)
    both = Choice((useless, finalist(20, 0.14, confirmed=False)), (), 1)
    assert verdict(both, 0.1) == "none meets the bound .1 in these plays; the nearest is Mondrian k=20, at most .14"
    assert verdict(Choice((useless,), (), 1), 0.1).endswith("the nearest is Constant, at most .12")


def test_synthetic_settings_are_called_so():
    synthesizer = Finalist(NamedMethod("PrivateMarginals", None, {}), exposure({}, 0.5, 0.08), 0.08, confirmed=True)
    choice, commands = choice_sections(Choice((synthesizer,), (), 4), 0.1, 40, Source("people.csv", None))
    [best] = choice.tables
    # Nobody can be told to whom a synthetic row belongs.
    assert not any("--truth" in cell for cell in commands.tables[0].rows[0])
    assert dict(zip(best.columns, best.rows[0], strict=True))["rows"] == "synthetic"


def test_sections_hold_what_is_to_be_decided_by():
    source = Source("my people.csv", Path("roles.toml"))
    effects = {"Mondrian k=20": Effect({"age": "unchanged"}, hidden=("age: numbers differ",), utility=0.75)}
    choice, commands, cost, front = choice_sections(CHOICE, 0.1, 40, source, effects=effects)
    [best], [commands] = choice.tables, commands.tables
    assert [row[1] for row in best.rows] == ["in these plays", "not shown"]
    assert [row[-1] for row in best.rows] == [0.08, 0.3]
    assert [row[2] for row in best.rows] == ["of people"] * 2
    assert [row[best.columns.index("utility of the whole table")] for row in best.rows] == [0.75, None]
    assert [row[1] for row in commands.rows] == [
        "tokumei defend Mondrian -p k=20 'my people.csv' --roles roles.toml -o released-1.csv --truth who-1.csv",
        "tokumei defend Mondrian -p k=5 'my people.csv' --roles roles.toml -o released-2.csv --truth who-2.csv",
    ]
    files = (
        "tokumei report 'my people.csv' released-{0}.csv --roles roles.toml --control others.csv --truth who-{0}.csv"
    )
    options = " --threshold 0.1 --defense Mondrian"
    assert [row[2] for row in commands.rows] == [
        f"{files.format(1)}{options} -p k=20 -o report-1.html",
        f"{files.format(2)}{options} -p k=5 --releases 2 -o report-2.html",
    ]
    assert cost.text == ("Mondrian k=20: age: numbers differ.",)
    assert cost.tables[0].rows == [["age", "unchanged"]]
    # k = 2 is beaten by k = 5.
    assert [row[0] for row in front.tables[0].rows] == ["Mondrian k=20", "Mondrian k=5"]
    assert [line.name for line in front.lines[0].series] == ["front while choosing", "finalists on fresh plays"]


def test_without_finalists_there_is_only_the_front():
    sections = choice_sections(Choice((), CHOICE.measured, 0), 0.1, 40, Source("people.csv", None))
    assert [section.title for section in sections] == ["Choice", "Front"]
    assert sections[0].tables == ()


def test_classes_that_say_more_than_the_bound_are_warned_of():
    worse = {"Smallest class of people alike": 0.05, "Class that says most about Illness": 0.48}
    effects = {
        "Mondrian k=20": Effect(classes=worse),
        "Mondrian k=50": Effect(classes={"Smallest class of people alike": 0.02}),
    }
    [warning] = class_warnings(0.1, effects)
    assert warning.startswith("Mondrian k=20: `tokumei report` will find more than .1 in classes of the whole table")
    assert warning.endswith(": class that says most about Illness, .48")
    sections = choice_sections(CHOICE, 0.1, 40, Source("people.csv", None), effects=effects)
    [shown] = [section for section in sections if section.title == "Classes"]
    assert shown.text == (f"{warning}.",)
    assert [row[2] for row in shown.tables[0].rows] == [0.05, 0.48, 0.02]


def test_a_setting_that_a_report_would_refuse_is_not_recommended():
    refused = replace(finalist(20, 0.08, confirmed=True), refused=True)
    choice = Choice((finalist(50, 0.09, confirmed=True), refused), (), 6)
    assert verdict(choice, 0.1) == "1 of 2 finalists keeps within .1 in these plays; the most useful is Mondrian k=50"
    best, commands = choice_sections(choice, 0.1, 40, Source("people.csv", None))
    assert [row[1] for row in best.tables[0].rows] == ["in these plays", "no: classes"]
    assert "no: classes: a class" in best.tables[0].note
    assert [row[0] for row in commands.tables[0].rows] == ["Mondrian k=50"]
    none = verdict(Choice((refused,), (), 6, ended_early=True), 0.1)
    assert "--budget" not in none
    assert none.startswith(
        "none meets the bound .1 in these plays; the nearest is Mondrian k=20, at most .08 in plays, but "
    )


def test_the_nearest_setting_has_its_commands_and_what_it_costs():
    near = NamedMethod("Mondrian", None, {"k": 20})
    choice = Choice((), CHOICE.measured, 0, nearest=near)
    [words] = nearest_words(choice, 0.01)
    assert words.startswith(
        "Mondrian k=20 is the nearest setting that `tokumei report` would not refuse by its classes"
    )
    assert words.endswith("while choosing, where .01 was asked; its commands follow")
    assert [name for name, *_ in commands(choice, 0.01, Source("people.csv", None))] == ["Mondrian k=20"]
    effects = {"Mondrian k=20": Effect(costs={"age": "unchanged"})}
    sections = choice_sections(choice, 0.01, 40, Source("people.csv", None), effects=effects)
    [costs] = [section for section in sections if section.title == "Costs"]
    assert costs.tables[0].columns == ("column", "Mondrian k=20")
    assert nearest_words(replace(choice, finalists=(finalist(50, 0.005, confirmed=True),)), 0.01) == []
