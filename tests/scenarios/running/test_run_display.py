"""What a run shows: live on a terminal, plain lines elsewhere, nothing where it is to be quiet."""

import io
import json
import os
import pty
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from rich.console import Console
from run_tools import COMMAND, environment, run_forked

from leaderboard import Result
from metrics import Score
from scenarios.running import units
from scenarios.running.display import Display, RunDisplay, RunProgress
from scenarios.running.plan import read_plans
from scenarios.running.runner import guarantees
from scenarios.running.workers import worker
from scenarios.running.workers.worker import Worker

pytestmark = pytest.mark.waits

SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
columns = ["age", "marital", "housing", "y"]
game = { use = "CandidateFile", originals = 20, candidates = 40, held_out = 0, auxiliary = 100 }
plays = 2

[[defense]]
use = "Mondrian"
k = 2

[[attack]]
use = "NearestNeighbour"
"""


def result(play=0, attack="NearestNeighbour", rate=0.5, **changes):
    scores = {"reidentification": Score("reidentification", rate, 0.1, 20)}
    known = {"key": str(play), "scenario": "small", "defense": "Mondrian", "parameters": {"k": 2}, "play": play}
    return Result(**{**known, "attack": attack, "scores": scores, **changes})


class Plan:
    name, plays, games, defenses, attacks = "small", 3, [None], [None, None], [None, None]

    @staticmethod
    def pairs():
        return [(0, 0), (0, 1)]


class Catalogue:
    keys = None


class Store:
    """Results that have ended so far."""

    def __init__(self):
        self.ended = []

    def results(self, name, keys):
        return self.ended


def shown(results, *, terminal, quiet=False):
    store = Store()
    display = Display(quiet=quiet)
    text = io.StringIO()
    display.console = Console(
        file=text, force_terminal=terminal, width=100, highlight=False, soft_wrap=True, quiet=quiet, color_system=None
    )
    with RunDisplay(display, Plan, Catalogue, store) as listener:
        listener.started(len(results), 0)
        for one in results:
            listener.last_update = 0.0
            store.ended.append(one)
            listener.ended([one])
        if listener.live is not None:
            listener.live.refresh()
    return text.getvalue()


def test_the_worst_attack_of_each_defense_is_known_at_any_time():
    standing = RunProgress()
    assert standing.worst() == []
    other = {"attack": "FellegiSunter", "rate": 0.9}
    standing.add([result(0), result(1, **other), result(2, rate=0.7), result(3, status="error", scores={})])
    standing.add([result(0, defense="Constant", parameters={}, rate=0.1), result(4, attack=None)])
    worst, constant = standing.worst()
    assert (worst.defense, worst.attack, worst.plays) == ("Mondrian k=2", "FellegiSunter", 1)
    assert worst.advantage == pytest.approx((0.9 - 0.1) / 0.9)
    assert (constant.defense, constant.success, constant.plays) == ("Constant", 0.1, 1)
    standing.add([result(5, attack="FellegiSunter", rate=0.1)])
    assert standing.worst()[0].attack == "NearestNeighbour"
    assert standing.worst()[0].success == pytest.approx(0.6)


def test_lines_off_a_terminal_say_progress_time_left_failures_and_who_is_worst():
    failure = result(1, status="timeout", reason="the trial took longer than 2 s\nFile somewhere", scores={})
    text = shown([result(0), failure, result(2)], terminal=False)
    assert "\x1b" not in text
    assert re.search(r"small: 1 of 3 results, about \d+ s left; worst so far: Mondrian k=2, 50% of rows", text)
    assert "timeout: Mondrian k=2 against NearestNeighbour, play 1: the trial took longer than 2 s\n" in text
    assert "small: 3 of 3 results done after 0 s, 1 of them failed" in text


def test_no_line_of_progress_repeats_what_an_earlier_one_said():
    rates = {"Identity": 1.0, "Mondrian": 0.7, "Constant": 0.1}
    plays = [
        result(play, key=f"{play} {name}", defense=name, parameters={}, rate=rate)
        for play in range(3)
        for name, rate in rates.items()
    ]
    lines = [line.partition("; ")[2] for line in shown(plays, terminal=False).splitlines() if "results" in line]
    news = [line for line in lines if "so far" in line]
    assert [line.split(",")[0] for line in news] == [
        "worst so far: Identity",
        "next so far: Mondrian",
        "next so far: Constant",
    ]
    assert len(set(news)) == len(news)


def test_a_run_of_one_play_is_in_the_singular(monkeypatch):
    monkeypatch.setattr(Plan, "plays", 1)
    monkeypatch.setattr(Plan, "defenses", [None])
    text = shown([result(0)], terminal=False)
    assert "small: 1 defense x 2 attacks x 1 play; 0 of 1 results done" in text


@pytest.mark.parametrize("terminal", [False, True])
def test_the_time_left_is_right_within_a_factor_of_2_after_a_fifth(monkeypatch, terminal):
    clock = [1000.0]
    monkeypatch.setattr("scenarios.running.display.time.monotonic", lambda: clock[0])
    monkeypatch.setattr(Plan, "plays", 10)
    # Ten plays of four defenses, the last of which costs thirty times the others; workers take 10 s to start.
    costs = [1, 1, 1, 30] * 10
    display, text = Display(), io.StringIO()
    display.console = Console(file=text, force_terminal=terminal, width=200, color_system=None)
    estimates = []
    with RunDisplay(display, Plan, Catalogue, Store()) as listener:
        listener.started(len(costs), 0)
        clock[0] += 10
        for number, cost in enumerate(costs):
            clock[0] += cost
            listener.last_update = 0.0
            listener.ended([result(number // 4, key=str(number), defense=f"D{number % 4}", seconds=float(cost))])
            if terminal:
                estimates.append(listener.bar.tasks[0].fields["left"])
        if not terminal:
            estimates = [line for line in text.getvalue().splitlines() if re.search("of 40 results([,;]|$)", line)]
    assert len(estimates) == len(costs)
    assert "left" not in estimates[-1]
    # As far as the first result tells, the others take a second each; the start of the workers does not come again.
    assert "about 39 s left" in estimates[0]
    for done in range(len(costs) // 5, len(costs)):
        left = int(re.search(r"about (\d+) s left", estimates[done - 1])[1])
        assert 0.5 < left / sum(costs[done:]) < 2, (done, left)


def test_a_terminal_shows_a_table_and_a_bar():
    text = shown([result(0), result(1)], terminal=True)
    assert re.search(r"1/2 about \d+ s left|2/2", text)
    assert "worst attack so far" in text
    assert re.search(r"Mondrian k=2 +NearestNeighbour +rows +50% +10\.0% +2", text)
    assert "2/2" in text


@pytest.mark.parametrize(("attacks", "quiet"), [(1, False), (2, False), (2, True)])
def test_a_long_first_play_shows_the_defenses_that_met_all_attacks(monkeypatch, attacks, quiet):
    monkeypatch.setattr("scenarios.running.display.EARLY", 0.0)
    other = result(0, defense="Constant", parameters={}, key="c", rate=0.1)
    trials = [
        result(0, key=str(number), attack=("NearestNeighbour", "GroupLinkage")[number]) for number in range(attacks)
    ]
    release = result(0, key="r", attack=None, scores={}, values={"marginals": 0.5})
    text = shown([other, release, *trials, result(1)], terminal=False, quiet=quiet)
    assert text.count("first board, 1 of 2 defenses in the first play") == (attacks == 2 and not quiet)
    assert "Constant" not in text.partition("first board")[2]


def test_quiet_says_nothing():
    assert shown([result(0), result(1, status="error", reason="no")], terminal=True, quiet=True) == ""


def everything_on(terminal):
    """What is written on a terminal until its other end closes."""
    parts = []
    with suppress(OSError):
        while part := os.read(terminal, 65536):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts)


@pytest.mark.parametrize("quiet", [False, pytest.param(True, marks=pytest.mark.long)])
def test_json_is_alone_on_standard_output(tmp_path, quiet):
    (tmp_path / "small.toml").write_text(SCENARIO)
    owner, terminal = pty.openpty()
    command = [*COMMAND, "run", "small.toml", "--format", "json", *["--quiet"] * quiet]
    options = {"cwd": tmp_path, "env": environment(TERM="xterm"), "text": False, "timeout": 120}
    # A terminal that nobody reads fills up and would block the run.
    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(everything_on, owner)
        try:
            done = run_forked(command, stderr=terminal, **options)
        finally:
            os.close(terminal)
        said = reader.result()
    assert done.returncode == 0
    assert [row["defense"] for row in json.loads(done.stdout)] == ["Mondrian"]
    assert (b"first board" in said) is not quiet
    assert said == b"" if quiet else b"4 of 4 results done" in said


def test_a_warning_is_shown_once_for_each_defense(capsys):
    with RunDisplay(Display(), Plan(), Catalogue(), Store()) as listener:
        listener.started(6, 0)
        listener.ended([result(0, None, scores={}, reason="Mondrian: few people")])
        listener.ended([result(1, reason="Mondrian: few people"), result(2, reason="Mondrian: few people")])
        listener.ended([result(0, parameters={"k": 3}, reason="Mondrian: few people")])
    lines = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert lines == ["warning: Mondrian k=2: few people", "warning: Mondrian k=3: few people"]


@pytest.mark.thorough
def test_a_defense_that_warns_is_played_and_says_so_without_lines_of_code(tmp_path):
    (tmp_path / "warned.toml").write_text(
        SCENARIO.replace('use = "Mondrian"\nk = 2', 'use = "MaximumSpanningTree"\nepsilon = 0.001')
    )
    run = run_forked([*COMMAND, "run", "warned.toml", "-j", "2"], cwd=tmp_path, env=environment())
    assert run.returncode == 0
    warnings = [line for line in run.stderr.splitlines() if "warning" in line.lower()]
    assert len(warnings) == 1
    assert warnings[0].startswith("warning: MaximumSpanningTree epsilon=0.001: epsilon is too small to measure")
    assert ".py" not in run.stderr


@pytest.mark.thorough
def test_the_reason_of_a_failed_measurement_is_no_warning(tmp_path, monkeypatch):
    def failing(utility):
        raise ValueError("no utility")

    path = tmp_path / "warned.toml"
    path.write_text(SCENARIO.replace('use = "Mondrian"\nk = 2', 'use = "MaximumSpanningTree"\nepsilon = 0.001'))
    (plan,) = read_plans(str(path))
    monkeypatch.setattr(worker, "checked_measures", failing)
    played = Worker(plan).play(next(units.Catalogue(plan, guarantees(plan)).units))
    endings = [item for item in played if isinstance(item, worker.Ending)]
    assert endings[0].status == "error"
    assert "no utility" in endings[0].reason
    assert "epsilon" not in endings[0].reason
