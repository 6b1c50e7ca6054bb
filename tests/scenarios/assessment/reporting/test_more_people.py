"""What a report advises where a finding is not sure."""

from dataclasses import replace

import pytest
from finished_tools import finished, released_by, setting_of, write_people

from defenses import Mondrian
from metrics.score import Score
from scenarios.assessment.evaluation.evaluation_setting import MeasuredAttack
from scenarios.assessment.evaluation.posed_questions import evaluate
from scenarios.assessment.reporting.findings import UNSURE, attack_findings
from scenarios.assessment.reporting.release_reading import more_people

ILLNESS_BY_CITY = {"{Kōbe}": "flu", "*": "cold", "Ōsaka": "none", "Kyōto": "flu", "Nara|Uji": "cold"}


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    write_people(folder)
    setting = setting_of(folder)
    return setting, evaluate(setting, finished(setting, released_by(setting, Mondrian(k=5))))


def advice(evaluated, score, threshold=0.2, column="", **options):
    """Advice on a release on which one attack was measured."""
    setting, evaluation = evaluated
    setting = replace(setting, **options)
    outcome = MeasuredAttack(attack="Mine", goal=score.goal, knows="everything", column=column, score=score)
    evaluation = replace(evaluation, outcomes=(outcome,))
    found = [*attack_findings(evaluation, threshold)]
    assert [one.status for one in found] == [UNSURE]
    return [*more_people(setting, evaluation, found, threshold)]


@pytest.mark.thorough
def test_a_value_that_nearly_everybody_has_takes_finer_bins_and_not_more_people(evaluated):
    [words] = advice(evaluated, Score("attribute", 0.95, 0.94, 60, 60), column="age")
    assert "94% of guesses are right without the release" in words
    assert "age holds numbers: declare `cuts` where its values are" in words


def test_a_word_that_nearly_everybody_can_guess_names_the_column_that_tells_it(evaluated):
    """Advice on numbers would not help; the column is named by which others know the value."""
    setting, evaluation = evaluated
    records = setting.records
    frame = records.frame.assign(illness=records.frame["city"].map(ILLNESS_BY_CITY))
    known = replace(setting, dataset=replace(setting.dataset, records=setting.dataset.records.with_frame(frame)))
    [words] = advice((known, evaluation), Score("attribute", 0.95, 0.94, 60, 60), column="illness")
    assert "cuts" not in words
    assert "city alone tells illness of " in words
    assert "decide whether others know city; if not, it is no quasi-identifier. Else " in words
    assert "stronger setting" in words
    constant = replace(setting, dataset=replace(known.dataset, records=records.with_frame(frame.assign(illness="flu"))))
    [words] = advice((constant, evaluation), Score("attribute", 0.95, 0.94, 60, 60), column="illness")
    assert "Most people have the same value of illness." in words


def test_people_who_are_not_there_are_not_asked_for(evaluated):
    """There are 240 people: 120 in the table, of whom half would have to be held back, too."""
    [words] = advice(evaluated, Score("membership", 0.5, 0.5, 30, 30), 0.27, targets=30)
    assert "control people, and all are 240; take a stronger setting, or accept the measured risk by name" in words
    [words] = advice(evaluated, Score("membership", 0.55, 0.5, 60, 60))
    assert "more than this table allows; take a stronger setting" in words


def test_singling_out_says_what_narrows_it(evaluated):
    [words] = advice(evaluated, Score("singling_out", 0.2, 0.05, 60, 60))
    assert "more people do not narrow it, a stronger setting or fewer columns may" in words
