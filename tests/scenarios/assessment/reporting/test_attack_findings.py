"""Findings of attacks: how often a release is called within or above a threshold by mistake, and who else to ask."""

from types import SimpleNamespace

import numpy as np
import pytest

from metrics.score import Score
from scenarios.assessment.evaluation.evaluation_setting import MeasuredAttack
from scenarios.assessment.evaluation.posed_questions import ReleaseEvaluation
from scenarios.assessment.reporting.findings import (
    ABOVE,
    COUNTED,
    FEW,
    LITTLE,
    UNSURE,
    WITHIN,
    Finding,
    attack_findings,
    passes,
    unmeasured_goals,
)
from scenarios.assessment.reporting.release_reading import more_people
from scenarios.assessment.reporting.release_report import finding_row

THRESHOLD, PEOPLE, ATTACKS = 0.2, 300, 18
MISTAKES = 14
"""Most tables of 200 that are judged by mistake."""


def attack(rate, *, goal="membership", chance=0.5, trials=PEOPLE, controls=None):
    score = Score(goal, rate, chance, trials, controls)
    return MeasuredAttack(attack=f"Attack{rate}", goal=goal, knows="everything", score=score)


def evaluation(outcomes, rows=5000, origin="unknown"):
    return ReleaseEvaluation(
        name="released.csv",
        sha256="",
        rows=rows,
        origin=origin,
        utility=0.5,
        released_utility=0.5,
        partial=False,
        components={},
        information_loss=None,
        k=None,
        l={},
        risks={},
        outcomes=tuple(outcomes),
        notes=(),
    )


def findings(*outcomes, number=1):
    return list(attack_findings(evaluation(outcomes), THRESHOLD, number))


def statuses(advantages, shared, tables=200, seed=0):
    """Status of the finding on each of many tables, whose attacks have these advantages.

    With `shared`, all attacks are right or wrong about the same people, as attacks on one release are in part.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(tables):
        luck = rng.random((1 if shared else len(advantages), PEOPLE))
        right = (luck < (1 + np.array(advantages)[:, None]) / 2).mean(axis=1)
        found.append(findings(*(attack(rate) for rate in right))[0].status)
    return found


@pytest.mark.thorough
@pytest.mark.long_beyond(2)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "advantages", [[THRESHOLD + 1e-9, *[0.0] * (ATTACKS - 1)], [THRESHOLD + 1e-9] * ATTACKS], ids=["one", "all"]
)
def test_a_risk_above_the_threshold_is_rarely_called_within(advantages, shared):
    # The first within by mistake with probability .025 at most: more than 14 of 200 with probability 2 * 10^-4.
    assert statuses(advantages, shared).count(WITHIN) <= MISTAKES


@pytest.mark.thorough
@pytest.mark.parametrize("shared", [False, True])
def test_a_risk_within_the_threshold_is_rarely_called_above(shared):
    # Above by mistake with probability .025 at most: more than 14 of 200 are so with probability 2 * 10^-4.
    assert statuses([THRESHOLD] * ATTACKS, shared).count(ABOVE) <= MISTAKES


@pytest.mark.thorough
def test_the_check_would_notice_bounds_that_are_no_bounds(monkeypatch):
    monkeypatch.setattr(ReleaseEvaluation, "highest", lambda self, goal, number: self.worst(goal)[1].value)
    monkeypatch.setattr(ReleaseEvaluation, "lowest", lambda self, outcome, number: outcome.advantage().value)
    assert statuses([THRESHOLD + 1e-9, *[0.0] * (ATTACKS - 1)], shared=True).count(WITHIN) > MISTAKES
    assert statuses([THRESHOLD] * ATTACKS, shared=False).count(ABOVE) > MISTAKES


@pytest.mark.thorough
def test_the_check_would_notice_lower_bounds_that_hold_singly(monkeypatch):
    monkeypatch.setattr(ReleaseEvaluation, "lowest", lambda self, outcome, number: outcome.advantage(0.9).low)
    assert statuses([THRESHOLD] * ATTACKS, shared=False).count(ABOVE) > MISTAKES


@pytest.mark.thorough
def test_small_risks_are_usually_called_within():
    # The bound of an attack at chance exceeds .2 if it errs by 1.5 standard errors, in 7 % of tables.
    assert statuses([0.0] * ATTACKS, shared=True).count(WITHIN) > 175


def test_each_further_release_is_judged_more_strictly():
    [first], [second], [tenth] = (findings(attack(0.53), number=number) for number in (1, 2, 10))
    assert first.high < second.high < tenth.high
    assert (first.status, tenth.status) == (WITHIN, UNSURE)
    lows = [findings(attack(0.8), number=number)[0].low for number in (1, 2, 10)]
    assert lows == sorted(lows, reverse=True)
    assert lows[0] > lows[2]


def test_few_predicates_that_hit_by_chance_say_little():
    few = findings(attack(0.4, goal="singling_out", chance=0.37, trials=5))
    assert (few[0].status, few[0].how.endswith("too few to judge")) == (FEW, True)
    assert not passes(few, [])
    assert passes([*few, *findings(attack(0.5))], [])
    # Ten of ten are no chance hits, and a few bad predicates do not hide behind many good ones.
    assert findings(attack(1.0, goal="singling_out", chance=0.37, trials=10))[0].status == ABOVE
    both = attack(0.1, goal="singling_out", chance=0.37), attack(0.4, goal="singling_out", chance=0.37, trials=5)
    assert findings(*both)[0].status == WITHIN


@pytest.mark.parametrize("trials", [1, 2, 6, 9])
def test_a_few_trials_that_are_all_right_are_no_risk_and_no_headline(trials):
    few = attack(1.0, goal="singling_out", chance=0.37, trials=trials)
    [alone] = findings(few)
    assert (alone.status, finding_row(alone)[1:4]) == (FEW, (None, "–", FEW))
    beside = attack(0.1, goal="singling_out", chance=0.37)
    [together] = findings(few, beside)
    assert (together.value, together.status) == (0.0, WITHIN)
    assert evaluation([few]).worst() is None
    measured = SimpleNamespace(evaluation=evaluation([few]), findings=(alone,))
    assert unmeasured_goals(measured)[0] == "singling out (too few trials to judge)"
    [words] = more_people(setting(700, 300), evaluation([few]), [alone], THRESHOLD)
    assert words.startswith("A predicate that matches exactly one person (singling out): not measured. A risk takes 30")


def setting(control, targets):
    others = None if control is None else range(control)
    return SimpleNamespace(targets=targets, size=5000, control=others, control_size=control or 0)


@pytest.mark.parametrize(
    ("control", "targets", "outcome", "words"),
    [
        (2000, 300, attack(0.56), "membership inference): --targets 577 would show it"),
        (700, 300, attack(0.56), "about 1,154 control people would show it"),
        (None, 300, attack(0.56, goal="attribute", controls=PEOPLE), "would show it"),
        (2000, 300, attack(0.6), "an attack measured .2 or nearly so"),
        (2000, 300, attack(0.599), "more than this table allows"),
        (2000, 300, attack(0.45, goal="singling_out", chance=0.37), "more people do not narrow it"),
    ],
)
def test_it_says_who_would_have_to_be_asked(control, targets, outcome, words):
    found = evaluation([outcome])
    [sentence] = more_people(setting(control, targets), found, list(attack_findings(found, THRESHOLD)), THRESHOLD)
    assert words in sentence


def test_what_it_says_is_enough():
    asked = 577
    assert findings(attack(0.56, trials=asked))[0].status == WITHIN
    assert findings(attack(0.56, trials=asked - 1))[0].status == UNSURE


def test_nothing_is_said_of_what_is_sure():
    found = evaluation([attack(0.5), attack(0.9, goal="linkability")])
    assert not list(more_people(setting(700, 300), found, list(attack_findings(found, THRESHOLD)), THRESHOLD))


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ([attack(0.5)], "singling out"),
        ([attack(None, goal="singling_out", chance=0.37, trials=0)], "singling out (no released row stands out)"),
        ([attack(0.5, goal="singling_out", chance=0.37)], "linkability"),
    ],
)
def test_it_says_why_nobody_was_singled_out(outcomes, words):
    measured = SimpleNamespace(evaluation=evaluation(outcomes), findings=())
    assert unmeasured_goals(measured)[0] == words


def test_an_end_beyond_the_threshold_is_shown_beyond_it():
    row = finding_row(Finding("Who", 0.09, 0.0049, 0.2001, UNSURE, "attack Homer", ""))
    assert row[2] == "[.00, .21]"
    assert finding_row(Finding("Who", 0.1, 0.07, 0.29, UNSURE, "attack Homer", ""))[2] == "[.07, .29]"
    assert finding_row(Finding("Who", 0.2, 0.2, 0.2, WITHIN, COUNTED, ""))[:3] == ("Who", 0.2, "–")
    assert finding_row(Finding("Who", 1.0, 1.0, 1.0, LITTLE, COUNTED, ""))[:3] == ("Who", None, "–")


@pytest.mark.parametrize(("rate", "status"), [(0.02, LITTLE), (0.21, LITTLE), (0.9, ABOVE)])
def test_unreliable_records_show_that_rows_can_be_linked_and_never_that_they_cannot(rate, status):
    measured = evaluation([attack(rate, goal="reidentification", chance=0.001)], origin="unreliable")
    [found] = attack_findings(measured, THRESHOLD)
    assert found.status == status
    says = unmeasured_goals(SimpleNamespace(evaluation=measured, findings=[found]))
    assert ("linkage of rows (many given records fit no better than random ones)" in says) == (status == LITTLE)
