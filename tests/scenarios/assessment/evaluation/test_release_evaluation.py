"""Finished releases are evaluated with the questions of the game: the safe ones are safe, the others are not."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from finished_tools import few_attacks, finished, released_by, setting_of, write_people

from attacks import Predicates
from defenses import Constant, Identity, IndependentMarginals, Mondrian
from leaderboard.results.result import canonical
from metrics.score import Score
from scenarios.assessment.evaluation.control_people import read_control
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting, MeasuredAttack
from scenarios.assessment.evaluation.posed_questions import GivenSinglingOut, bound, evaluate
from scenarios.assessment.evaluation.ranking import read_evaluation, written_evaluation
from scenarios.commands.cli import cli
from scenarios.tables.dataset import load_table
from scenarios.tables.roles import read_roles


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    write_people(folder, 150, 200)
    return folder


@pytest.fixture(scope="module")
def setting(folder):
    return setting_of(folder)


def evaluated(setting, frame, folder):
    return evaluate(setting, finished(setting, frame))


@pytest.fixture(scope="module")
def of_copy(setting, folder):
    """The evaluation of a copy of the records."""
    return evaluated(setting, released_by(setting, Identity()), folder)


@pytest.fixture(scope="module")
def of_classes(setting, folder):
    """The evaluation of classes of five people."""
    return evaluated(setting, released_by(setting, Mondrian(k=5)), folder)


@pytest.mark.thorough
def test_a_copy_gives_everything_away(of_copy):
    assert (of_copy.origin, of_copy.utility, of_copy.k) == ("copies", 1.0, 1)
    assert of_copy.score < 0.03
    goals = {goal: of_copy.worst(goal)[1].value for goal in ("reidentification", "membership", "singling_out")}
    assert min(goals.values()) > 0.9
    assert of_copy.worst("attribute")[1].low > 0


@pytest.mark.thorough
def test_constants_give_nothing_away_and_are_of_no_use(setting, folder, monkeypatch):
    few_attacks(monkeypatch)
    result = evaluated(setting, released_by(setting, Constant()), folder)
    assert result.utility == 0
    assert result.worst("reidentification") is None
    assert result.worst()[1].low <= 0
    assert result.k == 150


@pytest.mark.thorough
def test_the_control_group_is_the_chance_level_of_synthetic_rows(setting, folder):
    """Independent columns of 150 people give next to nothing away: no joint 95 % interval lies above .1."""
    frame = released_by(setting, IndependentMarginals()).sample(300, replace=True, random_state=0)
    result = evaluated(setting, frame, folder)
    assert result.rows == 300
    assert all(estimate.low < 0.1 for outcome, estimate in result.advantages if outcome.goal != "singling_out")
    assert any("synthetic" in note for note in result.notes)


@pytest.mark.thorough
def test_without_control_less_is_measured_and_that_is_said(folder, monkeypatch):
    few_attacks(monkeypatch)
    setting = setting_of(folder, control=False)
    result = evaluated(setting, released_by(setting, Identity()), folder)
    assert {outcome.goal for outcome, _ in result.advantages} == {"reidentification", "attribute", "singling_out"}
    assert any("membership and linkability are not measured" in note for note in result.notes)
    single = [outcome for outcome in result.outcomes if outcome.goal == "singling_out"]
    assert {outcome.score.chance for outcome in single} == {bound(150)}
    constant = evaluated(setting, released_by(setting, Constant()), folder)
    assert constant.worst("attribute")[1].low <= 0


@pytest.mark.thorough
def test_inferring_from_a_leaking_table_beats_what_the_other_records_predict(folder, monkeypatch):
    few_attacks(monkeypatch)
    setting = setting_of(folder, control=False)
    result = evaluated(setting, released_by(setting, Mondrian(k=2)), folder)
    assert result.worst("attribute")[1].low > 0


@pytest.mark.thorough
@pytest.mark.parametrize("control", [60, 100])
def test_a_small_control_group_measures_singling_out_by_scale(setting, folder, of_copy, control, monkeypatch):
    few_attacks(monkeypatch)
    few = replace(setting, control=setting.control.take(np.arange(control)))
    result = evaluated(few, released_by(few, Identity()), folder)
    single = {outcome.attack: outcome for outcome in result.outcomes if outcome.goal == "singling_out"}
    whole = {outcome.attack: outcome for outcome in of_copy.outcomes if outcome.goal == "singling_out"}
    for name, outcome in single.items():
        assert outcome.score.control_trials == outcome.score.trials * control // 150
        assert outcome.score.chance < bound(150)
        # The interval is wider than with as many control people, and holds the risk of a copy.
        assert outcome.advantage().low < outcome.advantage().value <= outcome.advantage().high
        assert whole[name].score.control_trials == whole[name].score.trials
    assert single["MultivariateSinglingOut"].advantage().low > 0.3


def test_scaled_chance_is_never_above_the_bound(setting):
    """Predicates that hold for one in n people: those of a control group of a third isolate nearly as often."""
    people = setting.records
    question = GivenSinglingOut()
    drawn = SimpleNamespace(records=people, others=people.take(np.arange(50)))
    claims = Predicates([lambda frame: np.arange(len(frame)) == 0] * 30)
    score = question.score(drawn, None, claims, None)["singling_out"]
    assert (score.rate, score.chance, score.control_trials) == (1.0, bound(150), None)
    whole = SimpleNamespace(records=people, others=people)
    score = question.score(whole, None, claims, None)["singling_out"]
    assert (score.rate, score.chance, score.control_trials) == (1.0, 1.0, 30)


def test_chance_of_fewer_people_times_their_number_is_not_below_that_of_many():
    """On independent tables the scaled rate is at least the rate of a whole table; errors of .01, so never by luck."""
    rng = np.random.default_rng(0)
    for share in (0.0005, 0.002, 0.01):
        whole, part = ((rng.binomial(size, share, 4000) == 1).mean() for size in (300, 60))
        assert min(bound(300), part * 300 / 60) > whole - 0.03


@pytest.mark.thorough
def test_one_control_person_is_enough_to_run(setting, folder):
    one = replace(setting, control=setting.control.take([0]))
    result = evaluated(one, released_by(one, Mondrian(k=5)), folder)
    skipped = {outcome.attack: outcome.reason for outcome in result.outcomes if outcome.score is None}
    assert "no people of its own" in skipped["DistanceToClosestRecord"]


@pytest.mark.thorough
def test_parts_of_the_columns_and_rows_are_evaluated(setting, folder, monkeypatch):
    few_attacks(monkeypatch)
    frame = released_by(setting, Mondrian(k=5))
    result = evaluated(setting, frame[["illness", "city"]].iloc[:40], folder)
    assert result.rows == 40
    assert 0 <= result.utility < 1
    only = evaluated(setting, frame[["income"]], folder)
    assert only.l == {}
    reasons = {outcome.attack: outcome.reason for outcome in only.outcomes if outcome.reason}
    assert reasons["MajorityInClass"] == "the release and the candidates have no column in common"
    assert reasons["NearestRowLinkability"] == "there is one shared column"


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [1, 2])
def test_a_few_rows_are_evaluated(setting, folder, rows):
    result = evaluated(setting, released_by(setting, Mondrian(k=5)).iloc[:rows], folder)
    assert result.rows == rows


@pytest.mark.thorough
def test_a_table_of_stars_is_evaluated(setting, folder):
    frame = pd.DataFrame("*", index=range(150), columns=list(setting.domains))
    result = evaluated(setting, frame, folder)
    assert result.utility < 0.05
    assert result.worst()[1].low <= 0


@pytest.mark.thorough
def test_an_unsorted_rows_file_gives_equal_numbers_twice(setting, folder, monkeypatch):
    few_attacks(monkeypatch)
    frame = released_by(setting, Mondrian(k=3))
    assert evaluated(setting, frame, folder) == evaluated(setting_of(folder), frame, folder)


@pytest.mark.thorough
def test_utility_is_that_of_the_command(setting, folder, of_classes):
    frame = released_by(setting, Mondrian(k=5))
    (folder / "mondrian.csv").write_text(frame.to_csv(index=False))
    names = [str(folder / name) for name in ("people.csv", "mondrian.csv", "roles.toml", "others.csv")]
    arguments = ["utility", *names[:2], "--roles", names[2], "--held-out", names[3], "--format", "json"]
    shown = json.loads(CliRunner().invoke(cli, arguments).stdout)
    assert shown["utility"] == of_classes.utility
    assert shown["normalized_certainty_penalty"] == of_classes.information_loss
    assert {name: shown[name] for name in of_classes.components} == of_classes.components


@pytest.mark.thorough
def test_every_sensitive_column_is_inferred(folder, monkeypatch):
    few_attacks(monkeypatch)
    text = (folder / "roles.toml").read_text()
    (folder / "two.toml").write_text(
        text.replace('["illness"]', '["illness", "income"]').replace('unprotected = ["income"]', "")
    )
    roles = read_roles(folder / "two.toml")
    dataset = load_table(folder / "people.csv", folder / "two.toml")
    setting = EvaluationSetting(dataset, roles, *read_control(folder / "others.csv", dataset, roles))
    result = evaluated(setting, released_by(setting, Mondrian(k=5)), folder)
    assert {outcome.column for outcome in result.outcomes if outcome.goal == "attribute"} == {"illness", "income"}


def test_an_evaluation_survives_its_text(of_classes):
    assert read_evaluation(written_evaluation(of_classes)) == of_classes
    for text in ("{}", "[]", "{", canonical({"outcomes": [1], "notes": []})):
        with pytest.raises(ValueError, match="damaged"):
            read_evaluation(text)


def test_an_advantage_has_the_error_of_its_control_group():
    exact = MeasuredAttack(attack="A", goal="g", knows="nothing", score=Score("g", 0.6, 0.2, 100))
    control = replace(exact, score=Score("g", 0.6, 0.2, 100, 100))
    for outcome in (exact, control):
        assert outcome.advantage().value == pytest.approx(0.5)
    assert control.advantage().low < exact.advantage().low < 0.5 < exact.advantage().high < control.advantage().high
    assert exact.advantage(0.999).low < exact.advantage().low


@pytest.mark.thorough
def test_a_table_without_quasi_identifiers_has_no_classes(folder, tmp_path, monkeypatch):
    few_attacks(monkeypatch)
    (tmp_path / "bare.toml").write_text('identifiers = ["name"]\nquasi_identifiers = []\nunprotected = ["age", "city"]')
    roles = read_roles(tmp_path / "bare.toml")
    setting = EvaluationSetting(load_table(folder / "people.csv", tmp_path / "bare.toml"), roles)
    result = evaluated(setting, released_by(setting, Identity()), folder)
    assert (result.k, result.l, result.risks, result.information_loss) == (None, {}, {}, None)
    assert result.worst("reidentification")[1].value > 0.9


@pytest.mark.thorough
def test_columns_without_a_role_are_used_by_attackers_and_left_out_of_utility(folder, tmp_path):
    """The release shows all incomes beside constants: the roles forgot them, and they name everybody."""
    text = (folder / "roles.toml").read_text().replace('unprotected = ["income"]', "")
    (tmp_path / "forgotten.toml").write_text(text)
    roles = read_roles(tmp_path / "forgotten.toml")
    dataset = load_table(folder / "people.csv", tmp_path / "forgotten.toml")
    setting = EvaluationSetting(dataset, roles, *read_control(folder / "others.csv", dataset, roles))
    frame = released_by(setting_of(folder), Constant()).assign(income=setting.records.frame["income"])
    result = evaluated(setting, frame, folder)
    assert result.utility == 0
    assert result.worst("reidentification")[1].low > 0.5
    assert any(note.startswith("income: no role declared, but released") for note in result.notes)


def test_control_people_may_hold_any_value_of_a_column_without_a_role(folder, tmp_path):
    """The categories of a column that goes out nowhere need not be complete."""
    text = (folder / "roles.toml").read_text()
    for name in ("people.csv", "others.csv"):
        pd.read_csv(folder / name).assign(note=f"says {name}").to_csv(tmp_path / name, index=False)
    (tmp_path / "roles.toml").write_text(
        text + '\n[columns.note]\ntype = "category"\ncategories = ["says people.csv"]\n'
    )
    dataset, roles = load_table(tmp_path / "people.csv", tmp_path / "roles.toml"), read_roles(tmp_path / "roles.toml")
    control, _ = read_control(tmp_path / "others.csv", dataset, roles)
    assert set(control.frame["note"]) == {"says others.csv"}


@pytest.mark.thorough
def test_control_people_who_equal_records_are_counted(setting, folder, monkeypatch):
    few_attacks(monkeypatch)
    mixed = pd.concat([setting.control.frame.iloc[:20], setting.records.frame.iloc[:7]], ignore_index=True)
    suspicious = replace(setting, control=setting.control.with_frame(mixed))
    result = evaluated(suspicious, released_by(setting, Mondrian(k=5)), folder)
    assert any(note.startswith("7 of 27 control people equal a record") for note in result.notes)


@pytest.mark.thorough
def test_large_tables_have_fewer_targets_and_say_so(setting, folder, monkeypatch):
    few_attacks(monkeypatch)
    for module in ("evaluation_setting", "posed_questions"):
        monkeypatch.setattr(f"scenarios.assessment.evaluation.{module}.PAIRS", 150)
        monkeypatch.setattr(f"scenarios.assessment.evaluation.{module}.FEWEST", 10)
    result = evaluated(setting, released_by(setting, Mondrian(k=5)), folder)
    assert any(note.startswith("attacks are about 5 of 150 people") for note in result.notes)
    assert {outcome.score.trials for outcome in result.outcomes if outcome.goal == "membership"} == {5}
