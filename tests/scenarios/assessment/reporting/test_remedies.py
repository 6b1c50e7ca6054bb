"""Remedies: what identifies, and changes of a release whose effect is estimated by recoding it."""

import re

import numpy as np
import pandas as pd
import pytest
from finished_tools import finished, setting_of, write_people
from run_tools import invoke

from metrics import CategoricalDomain, NumericDomain
from scenarios.assessment.evaluation.posed_questions import evaluate
from scenarios.assessment.evaluation.row_origin import recognized_origin
from scenarios.assessment.reporting.findings import ABOVE, SMALLEST, WITHIN, Finding, class_findings, class_title
from scenarios.assessment.reporting.remedies import Advisor, entropy, recodings, together

DOMAINS = {
    "height": NumericDomain(0, 250, cuts=(150, 170)),
    "age": NumericDomain(0, 99, integer=True, cuts=(40,)),
    "job": CategoricalDomain(("cook", "nurse", "pilot", "smith")),
}
FRAME = pd.DataFrame(
    {
        "height": [142.3, *np.linspace(151, 189, 98).round(1), 203.1],
        "age": [20, 30, 50, 60] * 25,
        "job": ["cook"] * 60 + ["nurse"] * 37 + ["pilot", "smith", "smith"],
    }
)


def words(frame=FRAME):
    return {one.words: one for one in recodings(frame, DOMAINS, 5)}


def test_columns_are_left_out_put_in_public_bins_and_ends_and_rare_values_joined():
    found = words()
    assert set(found) == {
        "leave out height",
        "write height in its 3 public bins",
        "write the lowest and the highest 2% of height as two ranges",
        "leave out age",
        "write age in its 2 public bins",
        "leave out job",
        "join the 2 values of job that fewer than 5 rows have",
    }
    bins = found["write height in its 3 public bins"].columns["height"]
    assert bins.tolist()[:2] == ["[0,150)", "[150,170)"]
    ends = found["write the lowest and the highest 2% of height as two ranges"].columns["height"]
    assert [ends[0], ends[50], ends[99]] == ["[0,151.4]", FRAME["height"][50], "[188.6,250]"]
    jobs = found["join the 2 values of job that fewer than 5 rows have"].columns["job"]
    assert jobs.value_counts().to_dict() == {"cook": 60, "nurse": 37, "{pilot|smith}": 3}
    # A column that is left out is lost: a third of all cells.
    assert found["leave out job"].loss == pytest.approx(1 / 3)
    assert found["leave out job"].bits == pytest.approx(entropy(FRAME["job"]))
    joined = together(list(found.values()))
    assert (joined.words, set(joined.columns)) == ("write height, age in their public bins", {"height", "age"})


@pytest.mark.parametrize("value", ["*", None])
def test_a_column_that_tells_nothing_has_no_remedy(value):
    constant = pd.DataFrame({name: pd.Series([value] * 5, dtype=object) for name in DOMAINS})
    assert words(constant) == {}
    assert together([]) is None
    one = FRAME[:1]
    assert words(one) == {}


def advisor(folder, threshold=0.2, **cells):
    write_people(folder)
    setting = setting_of(folder)
    frame = setting.records.frame[list(setting.columns)].assign(**cells)
    table = finished(setting, frame)
    origin = recognized_origin(table.frame, setting.records.frame, table.domains)

    def count(released):
        quasi = setting.records.quasi_identifiers
        return class_findings(released, quasi, {}, threshold, counts=True)

    evaluation = evaluate(setting, table, origin)
    return Advisor(setting, table, origin, evaluation, threshold, count, [("age, city", 7)]), count(table.alike)


@pytest.mark.thorough
def test_the_cheapest_remedy_that_suffices_comes_first_and_its_effect_is_counted(tmp_path):
    """All quasi-identifiers but the age are suppressed, so that leaving the age out leaves one class of all."""
    adviser, findings = advisor(tmp_path, city="*", grade="*")
    [one] = [advice for advice in adviser.advice(findings) if advice.title == SMALLEST]
    assert one.value == 1.0
    assert one.identifies == "age x city (7 rows alone)"
    after = [risk for _, risk in one.remedies]
    assert after
    losses = [remedy.loss for remedy, risk in one.remedies if risk <= 0.2]
    assert losses == sorted(losses)
    assert losses
    [sure] = adviser.advice([Finding(class_title("illness"), 1.0, 1.0, 1.0, ABOVE, "counted", "")])
    words = re.fullmatch(r"the class of age (\d+): (\d+) of (\d+) rows? with illness \w+", sure.identifies)
    age, alike, rows = words.groups()
    assert alike == rows == str((adviser.table.frame["age"] == age).sum())
    kept = adviser.advice([Finding(SMALLEST, 0.1, 0.1, 0.1, WITHIN, "counted", "")])
    assert kept == []


@pytest.mark.thorough
def test_predicates_that_single_somebody_out_are_named_and_the_attack_is_played_again(tmp_path):
    adviser, _ = advisor(tmp_path)
    title = "A predicate that matches exactly one person (singling out)"
    [one] = adviser.advice([Finding(title, 0.5, 0.4, 0.6, ABOVE, "", "")])
    assert "predicate" in one.identifies
    assert any(sign in one.identifies for sign in (" at most ", " at least "))
    assert all(risk < 0.5 for _, risk in one.remedies)
    [again] = adviser.advice([Finding(title, 0.5, 0.4, 0.6, ABOVE, "", "")])
    assert [(remedy.words, risk) for remedy, risk in again.remedies] == [
        (remedy.words, risk) for remedy, risk in one.remedies
    ]


@pytest.mark.thorough
def test_the_report_names_what_identifies_and_remedies_beside_the_findings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path)
    frame = setting_of(tmp_path).records.frame
    names = ["age", "city", "grade", "illness"]
    frame[names].to_csv("released.csv", index=False)
    done = invoke("report", "people.csv", "released.csv", "--roles", "roles.toml", "-o", "r.html")
    assert "estimated by recoding the release" in done.stderr
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "What identifies, and the cheapest remedies" in page
    assert "this section is as confidential as the table" in " ".join(page.split())
