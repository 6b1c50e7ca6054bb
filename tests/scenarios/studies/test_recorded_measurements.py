"""Experiments in the store: measured once, resumed, shown again, compared and gated."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from bank_tools import few_customers, small_bank
from run_tools import invoke

from defenses import RetentionReplacement
from leaderboard import Store
from scenarios import EpsilonAudit, FederatedCurves, LinkedSurveys, PramHistogram, Survey
from scenarios.checks.audits import tables as audited_tables
from scenarios.studies import epsilon_audit as epsilon_measures
from scenarios.studies.experiment import ExperimentPlan
from scenarios.studies.recorded_measurements import RecordedMeasurements

MINE = '''
import numpy as np

from leaderboard import Section, Table
from scenarios import Experiment
from scenarios.studies.experiment import by_play, measured_anew
from scenarios.tables.seeds import generator

BROKEN, WORSE, CLAIM, MADE = [], [0.0], [9.0], []


class Tiny(Experiment):
    """Means of a few numbers."""

    def __init__(self, *, levels=(1.0, 2.0)):
        self.levels = levels

    def run(self, plays, seed, say, measured=measured_anew):
        rows = []
        for level in self.levels:
            def measure():
                MADE.append(level)
                if level in BROKEN:
                    raise RuntimeError("no luck")
                rng = generator(seed, "tiny", repr(level))
                return (rng.normal(level + WORSE[0], 0.01, plays), float("inf"))

            def losses(value):
                plain = by_play(error=value[0].tolist(), success=[0.5] * plays)
                if value[0].max() > CLAIM[0]:
                    plain[0]["refuted_by"] = value[0].max() - CLAIM[0]
                return plain

            values, none = measured("mean", {"level": level}, measure, losses)
            assert none == float("inf")
            rows.append([level, float(values.mean())])
        return (Section("Means", ("Some text.",), (Table("means", ("level", "mean"), rows, 3),)),)
'''
SCENARIO = """
[scenario]
name = "tiny"
title = "Tiny"
plays = 12

[experiment]
use = "mine_tiny:Tiny"
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine_tiny.py").write_text(MINE)
    (tmp_path / "tiny.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("mine_tiny", None)
    import mine_tiny

    yield mine_tiny
    sys.modules.pop("mine_tiny", None)


@pytest.mark.thorough
def test_a_second_run_measures_only_what_is_missing(mine):
    first = invoke("run", "tiny.toml", "--format", "json")
    assert first.exit_code == 0, first.output
    assert mine.MADE == [1.0, 2.0]
    assert "2 measurements made, 0 known" in first.stderr
    again = invoke("run", "tiny.toml", "--format", "json")
    assert again.stdout == first.stdout
    assert mine.MADE == [1.0, 2.0]
    assert "0 measurements made, 2 known" in again.stderr
    shown = invoke("board", "tiny", "--format", "json")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout == first.stdout
    assert invoke("board", "--format", "json").stdout == first.stdout
    assert invoke("board", "tiny", "--html", "page.html").exit_code == 0
    # Other plays, another seed and --fresh measure anew.
    for arguments, made in ((("--plays", 3), 4), (("--seed", 2), 6), (("--fresh",), 8)):
        assert invoke("run", "tiny.toml", *arguments).exit_code == 0
        assert len(mine.MADE) == made


def test_a_failed_measurement_is_stored_and_tried_again(mine):
    mine.BROKEN.append(2.0)
    failed = invoke("run", "tiny.toml")
    assert failed.exit_code == 3
    assert "RuntimeError: no luck" in failed.stderr
    assert failed.stdout == ""
    with Store("tokumei.db") as store:
        results = store.results("tiny")
    assert {result.status for result in results} == {"ok", "error"}
    assert len(results) == 13
    empty = invoke("board", "tiny")
    assert empty.exit_code == 4
    mine.BROKEN.clear()
    assert invoke("run", "tiny.toml").exit_code == 0
    assert mine.MADE == [1.0, 2.0, 2.0]


@pytest.mark.thorough
def test_an_interrupt_keeps_what_is_measured(mine, monkeypatch):
    class Interrupted(mine.Tiny):
        def run(self, plays, seed, say, measured):
            def wrapped(*arguments):
                if len(mine.MADE) == 1:
                    raise KeyboardInterrupt
                return measured(*arguments)

            return super().run(plays, seed, say, wrapped)

    monkeypatch.setattr(mine, "Tiny", Interrupted)
    assert invoke("run", "tiny.toml").exit_code == 130
    monkeypatch.undo()
    assert mine.MADE == [1.0]


@pytest.mark.thorough
def test_measures_are_compared_with_their_test(mine):
    assert invoke("run", "tiny.toml", "--db", "before.db").exit_code == 0
    mine.WORSE[0] = 0.5
    assert invoke("run", "tiny.toml", "--db", "after.db").exit_code == 0
    worse = invoke("compare", "before.db", "after.db", "--format", "json")
    assert worse.exit_code == 1
    changes = json.loads(worse.stdout)
    assert {(change["measure"], change["worse"], change["plays"]) for change in changes} == {("error", True, 12)}
    assert all(change["change"] == pytest.approx(0.5) for change in changes)
    better = invoke("compare", "after.db", "before.db")
    assert better.exit_code == 0
    assert "2 better" in better.stdout
    assert invoke("compare", "before.db", "after.db", "--tolerance", 1).exit_code == 0
    # With few plays nothing can alarm, and the command says so.
    for name in ("few", "less"):
        assert invoke("run", "tiny.toml", "--plays", 2, "--db", f"{name}.db").exit_code == 0
        mine.WORSE[0] += 0.5
    unjudged = invoke("compare", "few.db", "less.db")
    assert unjudged.exit_code == 4
    assert "too few plays to judge error, success" in unjudged.output
    assert invoke("run", "tiny.toml", "--plays", 1, "--db", "one.db").exit_code == 0
    assert invoke("compare", "one.db", "one.db").exit_code == 4


@pytest.mark.thorough
def test_a_refuted_claim_or_a_successful_attack_fails_the_gate(mine):
    assert invoke("run", "tiny.toml", "--max-success", 0.6).exit_code == 0
    bound = invoke("run", "tiny.toml", "--max-success", 0.4)
    assert bound.exit_code == 1
    assert "gate: tiny: mean level=1: success .500 is above .400" in bound.stderr
    mine.CLAIM[0] = 1.5
    refuted = invoke("run", "tiny.toml")
    assert refuted.exit_code == 1
    assert "gate: tiny: mean level=2: the measured epsilon refutes the claim by 0.5" in refuted.stderr


@pytest.mark.thorough
def test_boards_and_experiments_share_a_database(mine, monkeypatch):
    few_customers(monkeypatch)
    assert invoke("run", "tiny.toml").exit_code == 0
    played = invoke("run", small_bank(Path(), "Constant"), "-j", 1, "--db", "tokumei.db")
    assert played.exit_code == 0, played.output
    board = invoke("board")
    assert board.exit_code == 0
    assert "Constant" in board.stdout
    assert "level" not in board.stdout
    assert "Means: means" in invoke("board", "tiny").stdout
    both = invoke("board", "tiny", "bank")
    assert both.exit_code == 2
    assert len(both.output.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "option", [("--explain",), ("--backend", "dask"), ("-d", "Mondrian"), ("--min-utility", "0.5")]
)
def test_options_of_boards_are_refused(mine, option):
    result = invoke("run", "tiny.toml", *option)
    assert result.exit_code == 2
    assert "is an experiment" in result.output


SMALL = [
    Survey(columns=["adult.sex"], epsilon=[1.0]),
    FederatedCurves(dataset="bank", clients=(3, 5), records=10, epsilon=(3.0,), rounds=(2, 4)),
    EpsilonAudit(epsilon=[2.0], runs=100, releases=8),
    LinkedSurveys(persons=20, surveys=2, protocols=("SubsetSelection",), epsilon=(4.0,)),
    pytest.param(PramHistogram(k=(2,), audits=8), marks=pytest.mark.long),
]


@pytest.mark.thorough
@pytest.mark.long_beyond(2)
@pytest.mark.usefixtures("tables_are_read_once", "thousand_people")
@pytest.mark.parametrize("experiment", SMALL, ids=lambda experiment: type(experiment).__name__)
def test_stored_values_give_the_same_report(experiment, tmp_path, monkeypatch):
    few = {name: epsilon_measures.mechanisms()[name] for name in ("Laplace", "SubsetSelection")}
    monkeypatch.setattr(epsilon_measures, "mechanisms", lambda: few)
    # Any defense will do: curators answer ten conversations, and a synthesis takes thirty times as long.
    for name in ("Curator", "PrivateMarginals"):
        monkeypatch.setattr(epsilon_measures, name, lambda epsilon, **_: RetentionReplacement(epsilon=epsilon))
    # Its declaration is tested for 200 releases before each audit, whatever is stored.
    monkeypatch.setattr(audited_tables, "check_declaration", lambda defense: None)
    plan = ExperimentPlan("small", "Small", experiment, 2, 1)
    plain = experiment.run(2, 1, lambda line: None)
    reports = []
    with Store(tmp_path / "results.db") as store:
        for _ in range(2):
            recorded = RecordedMeasurements(store, plan)
            reports.append((experiment.run(2, 1, lambda line: None, recorded), recorded.made, recorded.results))
    (first, made, results), (second, made_again, known) = reports
    assert made > 0
    assert made_again == 0
    assert [result.key for result in results] == [result.key for result in known]
    for report in (first, second):
        assert [section.title for section in report] == [section.title for section in plain]
        for section, other in zip(report, plain, strict=True):
            assert [table.rows for table in section.tables] == [table.rows for table in other.tables]
            assert repr(section.bars) == repr(other.bars)
            assert repr(section.lines) == repr(other.lines)
            assert section.text == other.text
    assert any(np.isfinite(list(result.values.values())).all() for result in results if result.values)
