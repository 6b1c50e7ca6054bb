"""The gate of a run: utility and success against bounds, and what a run remembers of itself."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bank_tools import few_customers, small_bank
from click.testing import CliRunner
from comparison_tools import played
from run_tools import invoke

from leaderboard import GateBounds, Result, Store, gate_checks, recorded_runs, unmeasured_goals
from leaderboard.pages.check_reports import junit_xml
from leaderboard.statistics.gate import few_plays_note, not_sure_note, probability_by_guessing
from leaderboard.statistics.pairs import Success
from metrics import Score
from scenarios.commands.cli import cli
from scenarios.commands.common import as_check

pytestmark = pytest.mark.waits


def gate_reasons(results, **bounds):
    return [check.reason for check in gate_checks(results, GateBounds(**bounds)) if not check.passed]


def test_what_is_not_held_is_named():
    results = played(0, weakened=0.2)
    defenses = 4
    assert gate_reasons(results, min_utility=None, max_success=None) == []
    assert gate_reasons(results, min_utility=0.5, max_success=0.9) == []
    reasons = gate_reasons(results, min_utility=0.99, max_success=0.6)
    assert len(reasons) == defenses + 1
    assert sum("utility" in reason for reason in reasons) == defenses
    (leak,) = [reason for reason in reasons if "success" in reason]
    assert "Alpha" in leak
    assert "above .600" in leak


def test_the_advantage_is_bounded_over_all_goals_or_in_one():
    # Rows are found with probability 1/2, by Alpha's attackers with .7; members with .7, which is an advantage of .4.
    results = played(0, weakened=0.2)
    assert gate_reasons(results, max_advantage={None: 0.8}) == []
    (leak,) = gate_reasons(results, max_advantage={None: 0.6})
    assert "Alpha: advantage of" in leak
    assert "on rows" in leak
    assert "is above .600" in leak
    (rows,) = gate_reasons(results, max_advantage={"reidentification": 0.6, "membership": 0.5})
    # With one goal fewer, the interval allows for fewer attacks and is narrower.
    assert rows.partition("(up to")[0] == leak.partition("(up to")[0]
    members = gate_reasons(results, max_advantage={"membership": 0.3})
    assert len(members) == 4
    assert all("on members" in reason for reason in members)


def test_the_upper_end_of_the_advantage_counts():
    scores = {"membership": Score("membership", rate=0.55, chance=0.5, trials=100)}
    trial = {"scenario": "bank", "defense": "Alpha", "attack": "Greedy", "scores": scores}
    few, many = ([Result(key=f"{p:064}", play=p, **trial) for p in range(plays)] for plays in (1, 100))
    (reason,) = gate_reasons(few, max_advantage={None: 0.15})
    assert "advantage of Greedy on members .100 (up to" in reason
    assert gate_reasons(many, max_advantage={None: 0.15}) == []


def singled_out(attack, trials, rate, plays=14, **known):
    """Plays of an attack that describes people, with a control group of equal size, or with a known chance level."""
    chance, control = known.get("chance", 0.0), None if known else trials
    scores = {"singling_out": Score("singling_out", rate, chance, trials, control)}
    common = {"scenario": "bank", "defense": "Alpha", "attack": attack, "scores": scores}
    return [Result(key=f"{attack}{play}", play=play, **common) for play in range(plays)]


@pytest.mark.parametrize("goal", [None, "singling_out"])
def test_an_attack_that_is_always_right_counts_with_few_trials(goal):
    blunt, sharp = singled_out("Blunt", 100, 0.0), singled_out("Sharp", 2, 1.0)
    assert gate_reasons(blunt, max_advantage={goal: 0.05}) == []
    for results in (blunt + sharp, sharp):
        (reason,) = gate_reasons(results, max_advantage={goal: 0.9})
        assert "advantage of Sharp on singling out 1.000 (up to 1.000 after 28 trials) is above .900" in reason


@pytest.mark.parametrize("known", [{}, {"chance": 0.01}])
def test_lucky_guesses_in_few_trials_fail_no_gate(known):
    # Two of 28: by chance with probability .25 beside a control group, with .03 at a chance level of .01.
    lucky = singled_out("Lucky", 2, 1 / 14, **known)
    other = singled_out("Blunt", 100, 0.0)
    assert gate_reasons(lucky + other, max_advantage={None: 0.05}) == []


def test_guessing_is_rarely_taken_for_more_with_few_trials():
    # Exact tests have a false alarm with probability .05 at most: of 500, more than 45 have probability 1e-4.
    rng = np.random.default_rng(0)
    for control in (None, 25):
        guessed = [
            Success(
                "values",
                (rng.binomial(25, 0.2) / 25,),
                25,
                0.2 if control is None else rng.binomial(25, 0.2) / 25,
                control,
            )
            for _ in range(500)
        ]
        assert sum(probability_by_guessing(success) <= 0.05 for success in guessed) <= 45


def test_what_was_not_measured_holds_nothing():
    only_releases = [result for result in played(0) if result.attack is None]
    (first, *_) = gate_reasons(only_releases, min_utility=0.1, max_success=0.9)
    assert "success – is above .900" in first
    (first, *_) = gate_reasons(only_releases, max_advantage={None: 0.9})
    assert "advantage was not measured" in first
    broken = [replace(result, status="error", scores={}) for result in singled_out("Sharp", 2, 1.0)]
    assert "advantage was not measured" in gate_reasons(broken, max_advantage={None: 0.9})[0]


def test_a_bound_on_a_goal_that_nobody_pursued_concerns_no_defense():
    bounds = GateBounds(max_advantage={"attribute": 0.1, "membership": 0.9})
    assert unmeasured_goals(played(0), bounds) == ["attribute"]
    assert {check.bound for check in gate_checks(played(0), bounds)} == {"advantage on members at most .9"}


def test_a_defense_on_which_one_goal_was_not_measured_fails_its_bound():
    results = played(0)
    for result in results:
        if result.defense == "Alpha" and result.attack:
            result.scores.pop("membership")
    (reason,) = gate_reasons(results, max_advantage={"membership": 0.9})
    assert "Alpha: advantage was not measured" in reason


@pytest.mark.parametrize("bound", ["nan", "-0.1", "1.1", "inf"])
@pytest.mark.parametrize("option", ["--min-utility", "--max-success", "--max-advantage"])
def test_bounds_that_would_let_everything_pass_are_refused(option, bound):
    refused = CliRunner().invoke(cli, ["run", "bank", "--db", "sqlite://", option, bound])
    assert (refused.exit_code, "between 0 and 1" in refused.stderr) == (2, True)
    value = {None: float(bound)} if option == "--max-advantage" else float(bound)
    with pytest.raises(ValueError, match="between 0 and 1"):
        GateBounds(**{option[2:].replace("-", "_"): value})


@pytest.fixture(scope="module")
def played_bank(tmp_path_factory):
    """A database with one play of a scenario, which runs that are gated find complete."""
    db = tmp_path_factory.mktemp("played") / "gate.db"
    run_bank(db)
    return db


def run_bank(db, *bounds):
    scenario = small_bank(db.parent, "Identity")
    with pytest.MonkeyPatch.context() as patch:
        few_customers(patch)
        return invoke("run", scenario, "-j", 1, "--db", db, *bounds)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("bounds", "code"),
    [
        ((), 0),
        (("--min-utility", 0.9), 0),
        (("--max-success", 0.5), 1),
        (("--max-advantage", 0.5), 1),
        (("--max-advantage", "values=0.5"), 4),
    ],
)
def test_a_run_is_gated_and_remembered(tmp_path, played_bank, bounds, code):
    db = Path(shutil.copy(played_bank, tmp_path))
    done = run_bank(db, *bounds)
    assert done.exit_code == code, done.stderr
    assert ("gate: bank" in done.stderr) == (code == 1)
    assert ("gate: no attack on values was measured" in done.stderr) == (code == 4)
    with Store(db) as store:
        _, run = recorded_runs(store)
    assert run.about["scenarios"] == ["bank"]
    assert {"version", "revision", "machine", "packages"} <= set(run.about)


@pytest.mark.parametrize(("plays", "sure"), [(1, False), (14, False), (28, False), (29, True)])
def test_a_passed_bound_is_met_in_these_plays_or_for_sure(plays, sure):
    scores = {"membership": Score("membership", 0.5, 0.5, 10_000)}
    common = {"scenario": "bank", "defense": "Constant", "attack": "Homer", "scores": scores}
    results = [Result(key=f"{play:064}", play=play, **common) for play in range(plays)]
    [check] = gate_checks(results, GateBounds(max_advantage={None: 0.1}))
    assert (check.passed, check.sure, check.clean_plays) == (True, sure, 29)
    words = "for sure" if sure else f"in these {plays} plays, if plays vary as they did here"
    assert check.finding.endswith(words if plays > 1 else "in 1 play, which does not show how plays vary")
    assert bool(not_sure_note([check])) is not sure
    assert check.finding in junit_xml([as_check(check)])
    # Two settings are both sure with 95 %.
    results += [replace(one, key=f"A{one.key}", defense="Shuffle") for one in results]
    assert not any(check.sure for check in gate_checks(results, GateBounds(max_advantage={None: 0.1})))


def test_only_passed_bounds_of_the_advantage_can_be_sure():
    bounds = GateBounds(min_utility=0.0, max_success=1.0, max_advantage={None: 0.0})
    scores = {"membership": Score("membership", 0.9, 0.5, 100)}
    common = {"scenario": "bank", "defense": "Mondrian"}
    results = [
        Result(key="1", play=0, values={"marginals": 0.5}, **common),
        Result(key="2", play=0, attack="Homer", scores=scores, **common),
    ]
    assert [(check.passed, check.sure) for check in gate_checks(results, bounds)] == [
        (True, None),
        (True, None),
        (False, None),
    ]


@pytest.mark.parametrize(
    ("successful", "said"), [(0, ""), (1, "1 play misses a defense"), (4, "4 plays miss a defense"), (5, "")]
)
def test_plays_that_failed_show_nothing_of_a_defense(successful, said):
    status = ["ok"] * successful + ["error"] * (6 - successful)
    results = [
        Result(key=f"{play}", scenario="bank", defense="Mondrian", play=play, status=one)
        for play, one in enumerate(status)
    ]
    note = few_plays_note(results)
    assert note.startswith(said)
    assert bool(note) == bool(said)
