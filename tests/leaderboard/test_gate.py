"""The gate of a run: utility and success against bounds, and what a run remembers of itself."""

import pytest
from click.testing import CliRunner
from comparison_tools import played

from leaderboard import Store, gate_reasons, rank, recorded_runs
from scenarios.cli import cli


def test_what_is_not_held_is_named():
    rows = rank(played(0, weakened=0.2))
    assert gate_reasons(rows, min_utility=None, max_success=None) == []
    assert gate_reasons(rows, min_utility=0.5, max_success=0.9) == []
    reasons = gate_reasons(rows, min_utility=0.99, max_success=0.6)
    assert len(reasons) == len(rows) + 1
    assert sum("utility" in reason for reason in reasons) == len(rows)
    (leak,) = [reason for reason in reasons if "success" in reason]
    assert "Alpha" in leak
    assert "above .600" in leak


def test_what_was_not_measured_holds_nothing():
    only_releases = [result for result in played(0) if result.attack is None]
    (first, *_) = gate_reasons(rank(only_releases), min_utility=0.1, max_success=0.9)
    assert "success – is above .900" in first


@pytest.mark.parametrize("bound", ["nan", "-0.1", "1.1", "inf"])
@pytest.mark.parametrize("option", ["--min-utility", "--max-success"])
def test_bounds_that_would_let_everything_pass_are_refused(option, bound):
    refused = CliRunner().invoke(cli, ["run", "bank", "--db", "sqlite://", option, bound])
    assert (refused.exit_code, "between 0 and 1" in refused.stderr) == (2, True)
    with pytest.raises(ValueError, match="between 0 and 1"):
        gate_reasons([], **{"min_utility": None, "max_success": None, option[2:].replace("-", "_"): float(bound)})


@pytest.mark.parametrize(("bounds", "code"), [((), 0), (("--min-utility", 0.9), 0), (("--max-success", 0.5), 1)])
def test_a_run_is_gated_and_remembered(tmp_path, bounds, code):
    db = tmp_path / "gate.db"
    arguments = [
        "run",
        "bank",
        "-d",
        "Identity",
        "-a",
        "NearestNeighbour",
        "--plays",
        "1",
        "-j",
        "1",
        "--db",
        db,
        *bounds,
    ]
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.stderr
    assert ("gate: bank" in done.stderr) == (code == 1)
    with Store(db) as store:
        (run,) = recorded_runs(store)
    assert run.about["scenarios"] == ["bank"]
    assert {"version", "revision", "machine", "packages"} <= set(run.about)
