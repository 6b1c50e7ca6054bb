"""The experiment `EpsilonAudit`, and the shipped scenarios of queries and reports."""

import math
from functools import partial

import pytest

from defenses.dp import Laplace
from scenarios import EpsilonAudit, read_plan
from scenarios.checks.audits.names import mechanisms
from scenarios.studies import epsilon_audit as epsilon_measures
from scenarios.studies.epsilon_audit import GROUPS, audit_mechanism, grouped, mechanism_section
from scenarios.studies.experiment import read_experiment


def quiet(text):
    pass


def test_every_mechanism_has_a_chart():
    names = [name for group in grouped().values() for name in group]
    assert sorted(names) == sorted(mechanisms())
    assert "Others" not in grouped()
    # One line of a chart is the claim.
    assert max(len(names) for names in GROUPS.values()) <= 5


def test_shipped_scenario():
    plan = read_experiment("epsilon-audit")
    assert plan.name == "epsilon-audit"
    assert isinstance(plan.experiment, EpsilonAudit)


@pytest.mark.parametrize(("name", "goal"), [("reports", "value"), ("distinguishing", "distinguishing")])
def test_shipped_boards(name, goal):
    plan = read_plan(name)
    assert {goal for game in plan.games for goal in game.takes} == {goal}
    assert all(entry.method.goal == goal for entry in plan.attacks)


FEW = ("Laplace", "DiscreteGaussian", "Exponential", "SubsetSelection")


@pytest.mark.usefixtures("tables_are_read_once")
@pytest.mark.parametrize("names", [FEW, pytest.param(tuple(mechanisms()), marks=pytest.mark.long)])
def test_report_holds_every_mechanism_and_no_broken_one(names, monkeypatch):
    monkeypatch.setattr(epsilon_measures, "mechanisms", lambda: {name: mechanisms()[name] for name in sorted(names)})
    # Eight releases refute no claim, however many questions a curator answers.
    monkeypatch.setattr(epsilon_measures, "Curator", partial(epsilon_measures.Curator, queries=1))
    experiment = EpsilonAudit(epsilon=[4.0, 2.0], runs=1000, releases=8)
    *sections, curators = experiment.run(2, 1, quiet)
    assert len(sections) == len(grouped())
    for section, names in zip(sections, grouped().values(), strict=True):
        (table,), (chart,) = section.tables, section.lines
        assert [row[0] for row in table.rows] == list(names)
        assert all(row[-1] == "holds" and 0 <= row[1] <= 2 and 0 <= row[2] <= 4 for row in table.rows)
        assert [line.name for line in chart.series] == ["the claim", *names]
        assert chart.series[0].x == chart.series[0].y == [2.0, 4.0]
        # The table's numbers are the chart's.
        assert [list(line.y) for line in chart.series[1:]] == [row[1:3] for row in table.rows]
    assert {row[-1] for row in curators.tables[0].rows} == {"holds"}


class HalfTheNoise(Laplace):
    """Claims half of what it spends."""

    @property
    def guarantee(self):
        return Laplace(epsilon=self.epsilon / 2).guarantee


@pytest.mark.thorough
def test_a_broken_mechanism_is_shown_as_broken(monkeypatch):
    monkeypatch.setattr(epsilon_measures, "mechanisms", lambda: {"Laplace": HalfTheNoise})
    audits = audit_mechanism("Laplace", [2.0], 0.01, runs=20_000, plays=1, seed=1)
    section = mechanism_section("", [audits], 20_000, 0.01)
    assert section.tables[0].rows[0][-1] == "BROKEN"


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"epsilon": []}, "epsilon"),
        ({"epsilon": 1.0}, "epsilon"),
        ({"epsilon": [0.0]}, "epsilon"),
        ({"epsilon": [math.nan]}, "epsilon"),
        ({"epsilon": ["1"]}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"runs": 7}, "runs"),
        ({"releases": 0}, "releases"),
    ],
)
def test_bad_parameters(parameters, name):
    with pytest.raises(ValueError, match=name):
        EpsilonAudit(**parameters)
