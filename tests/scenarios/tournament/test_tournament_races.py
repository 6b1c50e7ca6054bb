"""Races for the deadline and the quota: under one lock, exactly those files are accepted that the rules allow."""

import json
import threading
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from tournament_tools import DAY, START, opened

from scenarios.tournament.host.archives import verify
from scenarios.tournament.host.decisions import post
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.log import CHECKPOINT_EVERY
from scenarios.tournament.rules.submitting import accepted_outcome, submit_content

TEAMS = ("kyoto", "osaka", "nara")
HANDS = 8


@contextmanager
def suppress_refusals():
    """Let only those refusals pass that are about deadlines and quotas."""
    try:
        yield
    except ValueError as error:
        if not any(words in str(error) for words in ("ended at", "exceed what is left")):
            raise


def together(calls):
    """Make all calls at once in several threads; whether each was accepted."""
    accepted = [False] * len(calls)
    waiting, lock = list(enumerate(calls)), threading.Lock()
    start = threading.Barrier(HANDS)

    def work():
        start.wait()
        while True:
            with lock:
                if not waiting:
                    return
                number, call = waiting.pop(0)
            # Any other error ends the thread, and the files that it would have submitted are missing.
            with suppress_refusals():
                call()
                accepted[number] = True

    threads = [threading.Thread(target=work) for _ in range(HANDS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return accepted


def calls_of(cup, count, moment, contents):
    """Submissions of all teams in turn, each by a command of its own."""

    def call(number):
        def submit():
            team = TEAMS[number % len(TEAMS)]
            own = Tournament(cup.tournament.folder)
            name = f"{team}_anonymized.csv"
            submit_content(own, team, name, contents(team, number), moment(number), measure=False)

        return submit

    return [call(number) for number in range(count)]


def handed_in(cup, team, now):
    """Receipt of a table, whose utility is not measured."""
    data = cup.frame(team).to_csv(index=False).encode()
    return submit_content(cup.tournament, team, f"{team}_anonymized.csv", data, now, measure=False)


@pytest.mark.long
def test_a_thousand_files_in_the_last_second(tmp_path):
    """Those that arrived before the deadline are accepted, and no other, in whatever order they are handled."""
    cup = opened(tmp_path / "cup", TEAMS, originals=5, candidates=10)
    tables = {team: cup.frame(team).to_csv(index=False).encode() for team in TEAMS}
    end = START + DAY

    def moment(number):
        return end + timedelta(milliseconds=(number * 7919) % 100 - 50)

    accepted = together(calls_of(cup, 100, moment, lambda team, number: tables[team]))
    assert accepted == [moment(number) < end for number in range(100)]
    assert sum(accepted) == 50
    assert "50 accepted files" in verify(cup.tournament)
    times = [datetime.fromisoformat(one.time) for one in cup.tournament.log.entries()]
    assert times == sorted(times)


@pytest.mark.thorough
def test_a_quota_is_never_exceeded(tmp_path):
    cup = opened(tmp_path / "cup", TEAMS, originals=20, candidates=40, quota=1 << 20)
    frames = {team: cup.frame(team) for team in TEAMS}
    size = len(frames["kyoto"].to_csv(index=False))
    path = cup.tournament.folder / "tournament.toml"
    path.write_text(path.read_text().replace(f"quota = {1 << 20}", f"quota = {3 * size + 500}"))

    def content(team, number):
        # Rotated rows: different files of equal size.
        frame = frames[team]
        order = [(row + number // len(TEAMS)) % 20 for row in range(20)]
        return frame.iloc[order].to_csv(index=False).encode()

    accepted = together(calls_of(cup, 30, lambda number: START, content))
    tournament = Tournament(cup.tournament.folder)
    for position, team in enumerate(TEAMS):
        kept = sum(accepted[position::3])
        assert kept == (3 * size + 500) // len(content(team, 0))
        assert 0 <= tournament.state(tournament.log.entries()).left(team) < len(content(team, 0))


def test_times_never_decrease_and_arrivals_decide(tmp_path):
    """A file that waited for others while it was validated counts by its arrival, though the line above it is later."""
    cup = opened(tmp_path / "cup", TEAMS, originals=5, candidates=10)
    end = START + DAY
    post(cup.tournament, "the time is over", end + timedelta(seconds=3))
    receipt = handed_in(cup, "kyoto", end - timedelta(milliseconds=1))
    assert receipt.entry.time == (end + timedelta(seconds=3)).isoformat()
    assert receipt.entry.arrived == (end - timedelta(seconds=1)).isoformat()
    assert accepted_outcome("x", receipt)["receipt"]["time"] == receipt.entry.arrived
    with pytest.raises(ValueError, match="ended at"):
        handed_in(cup, "osaka", end)
    assert "1 accepted file" in verify(cup.tournament)


@pytest.mark.thorough
def test_a_clock_that_is_set_back_decides_and_the_log_says_so(tmp_path):
    """Deadlines hold by the clock as it reads; times in the log stand still until the clock has caught up."""
    cup = opened(tmp_path / "cup", TEAMS, originals=5, candidates=10)
    end = START + DAY
    post(cup.tournament, "an hour fast", end + timedelta(minutes=50))
    with pytest.raises(ValueError, match="ended at"):
        handed_in(cup, "kyoto", end + timedelta(minutes=51))
    corrected = end - timedelta(minutes=9)
    assert handed_in(cup, "kyoto", corrected).entry.arrived == corrected.isoformat()
    with pytest.raises(ValueError, match="runs until"):
        advance(cup.tournament, corrected)
    with pytest.raises(ValueError, match="ended at"):
        handed_in(cup, "osaka", end)
    # Another process knows the last time, too, by lines or by a checkpoint.
    own = Tournament(cup.tournament.folder)
    post(own, "the clock was corrected", end + timedelta(minutes=1))
    times = [one.time for one in own.log.entries()]
    assert times == sorted(times)
    assert times[-1] == (end + timedelta(minutes=50)).isoformat()
    advance(own, end + timedelta(hours=1))
    assert own.log.entries()[-1].time == own.log.entries()[-1].arrived == (end + timedelta(hours=1)).isoformat()
    verify(own)


def test_a_checkpoint_without_a_time_is_not_trusted(tmp_path):
    """Checkpoints of earlier versions have no time; the lines say it."""
    cup = opened(tmp_path / "cup", TEAMS, originals=5, candidates=10)
    for number in range(CHECKPOINT_EVERY):
        post(cup.tournament, f"message {number}", START + DAY)
    path = cup.tournament.log.path.with_name("log.jsonl.checkpoint")
    content = json.loads(path.read_text())
    assert content.pop("time") == (START + DAY).isoformat()
    path.write_text(json.dumps(content))
    own = Tournament(cup.tournament.folder)
    assert own.log.head().time == (START + DAY).isoformat()
