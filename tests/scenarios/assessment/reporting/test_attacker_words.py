"""Releases that tell nobody apart, risks of too few trials, and what the verdict says of attackers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from finished_tools import finished, released_by, setting_of, write_people
from run_tools import invoke

from defenses import Constant, Mondrian
from metrics import Scores
from metrics.columns import set_cell
from scenarios.assessment.evaluation.finished_classes import released_classes
from scenarios.assessment.evaluation.posed_questions import EVERYTHING, QUASI, attempted, evaluate
from scenarios.assessment.evaluation.row_origin import given_origin
from scenarios.assessment.reporting.findings import FEW, WITHIN, attack_findings, passes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    write_people(folder)
    return folder


@pytest.fixture(scope="module")
def setting(folder):
    return setting_of(folder)


def equal_rows(setting, **cells):
    return released_by(setting, Mondrian(k=5)).assign(**dict.fromkeys(setting.columns, "*")).assign(**cells)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["suppressed", "constant", "some", "spelled"])
def test_equal_rows_tell_nobody_apart(setting, kind):
    """Whatever attackers hit by luck: advantages of exactly 0, for each goal and each attacker."""
    frames = {
        "suppressed": equal_rows(setting),
        "constant": released_by(setting, Constant()),
        "some": equal_rows(setting, age="[0,99]"),
        "spelled": equal_rows(setting, age=np.resize(["[0,99]", "[0, 99]", "[0,99.0]"], len(setting.records))),
    }
    table = finished(setting, frames[kind])
    origin = given_origin(np.random.default_rng(0).permutation(len(table.frame)))
    result = evaluate(setting, table, origin)
    found = list(attack_findings(result, 0.09))
    if kind == "constant":
        # A plain value may be that of one person; two predicates or so measure nothing.
        found = [one for one in found if one.status != FEW]
    assert len(found) == (4 if kind == "constant" else 5)
    assert {(one.value, one.low, one.high, one.status) for one in found} == {(0.0, 0.0, 0.0, WITHIN)}
    assert "tells nobody apart" in found[0].how


def test_equal_rows_that_hold_only_the_people_of_the_table_are_measured(setting):
    """All people of the table are younger than others: the one row says who cannot be in it."""
    frame = setting.records.frame
    young = setting.control.frame["age"] <= frame["age"].max()
    assert young.all()
    others = setting.control.with_frame(setting.control.frame.assign(age=99))
    older = type(setting)(setting.dataset, setting.roles, others, "", setting.seed, setting.targets)
    rows = equal_rows(setting, age=f"[{frame['age'].min():g},{frame['age'].max():g}]")
    result = evaluate(older, finished(older, rows))
    assert result.worst("membership")[1].low > 0.5


@pytest.mark.parametrize("inferred", [False, True])
def test_a_row_that_leaves_the_whole_declared_domain_is_in_no_class(setting, inferred):
    """Everybody in the table lies within the domain; one that was read from the table says who is in it."""
    frame, domains = released_by(setting, Mondrian(k=5)), setting.domains
    whole = {name: set_cell(domains[name].categories) for name in ("city", "grade")} | {"age": "[18,95]"}
    found = []
    for cells in (whole, dict.fromkeys(whole, "*")):
        table = finished(setting, pd.concat([frame.head(1).assign(**cells), frame.iloc[1:]]))
        domain = replace(domains["age"], inferred=inferred)
        table = replace(table, domains={**domains, "age": domain}, sha256=f"{inferred}{cells['age']}")
        origin = given_origin(np.arange(len(frame)))
        found.append(released_classes(setting, table, origin))
    assert [one.inside[0] for one in found] == [inferred, False]
    assert (found[0].report == found[1].report) is not inferred


@pytest.mark.thorough
def test_equal_claims_about_everybody_are_luck(setting):
    score = evaluate(setting, finished(setting, released_by(setting, Mondrian(k=5)))).outcomes[0].score

    class Same:
        goal = score.goal

    assert attempted(Same(), EVERYTHING, lambda: Scores.of(score, alike=1.0)).advantage().high == 0.0
    assert attempted(Same(), EVERYTHING, lambda: Scores.of(score)).advantage().high > 0.0


def report(folder, *options):
    files = (folder / "people.csv", folder / "released.csv", "--roles", folder / "roles.toml")
    return invoke("report", *files, "-o", folder / "report.html", "--force", *options)


@pytest.mark.thorough
def test_the_verdict_says_what_attackers_know(folder, setting):
    released_by(setting, Mondrian(k=5)).to_csv(folder / "released.csv", index=False)
    said = report(folder, "--control", folder / "others.csv").output
    [verdict] = [line for line in said.splitlines() if line.startswith("The risk is")]
    quasi, sensitive = setting.records.quasi_identifiers, setting.records.sensitive
    without = f"Whoever knows {', '.join(quasi[:-1])} and {quasi[-1]} of a person, but not {' and '.join(sensitive)}: "
    assert without in verdict
    included = verdict.partition(f"of a person and the sensitive {' and '.join(sensitive)}: ")[2].partition(". ")[0]
    assert "who is in the release" in included
    assert "who is in the release" in verdict.partition(without)[2].partition(". ")[0]
    page = " ".join((folder / "report.html").read_text().replace("&#39;", "'").split())
    assert " ".join(verdict.split()) in page


@pytest.mark.thorough
def test_the_figures_with_and_without_the_sensitive_column_are_those_of_such_attackers(setting):
    result = evaluate(setting, finished(setting, released_by(setting, Mondrian(k=2))))
    known = result.by_knowledge("membership")
    assert set(known) == {EVERYTHING, QUASI}
    for knows, value in known.items():
        own = [at.value for one, at in result.advantages if (one.goal, one.knows) == ("membership", knows)]
        assert value == max(own)


@pytest.mark.thorough
def test_a_small_control_group_measures_nothing_and_says_what_would(folder, setting):
    released_by(setting, Mondrian(k=5)).to_csv(folder / "released.csv", index=False)
    pd.read_csv(folder / "others.csv").head(40).to_csv(folder / "few.csv", index=False)
    said = report(folder, "--control", folder / "few.csv", "--targets", "5")
    assert "membership (too few trials to judge)" in said.output
    assert "A risk takes 30 trials, or 10 that are right more often than guessing for sure" in said.output
    assert "take at least 60 control people (--control)" in said.output
    found = attack_findings(evaluate(setting, finished(setting, released_by(setting, Mondrian(k=5)))), 0.09)
    assert FEW not in {one.status for one in found if one.title.startswith("Who")}
    assert not passes([], [])
