"""Whatever stops a tournament's commands: what was accepted is there, nothing half-written counts, all can go on."""

import errno
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pytest
from tournament_tools import DAY, HOUR, START, Played, opened, score

from scenarios.tournament.host.archives import verify
from scenarios.tournament.host.boards import standings_csv
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.log import Log
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.standings import standings
from scenarios.tournament.rules.submitting import submit_content


def do(folder, what, path, say):
    """A command in a process that may be killed; it says the number of each entry that accepts a file."""
    cup = Tournament(folder)
    if what == "submit":
        lines = path.read_text().splitlines(keepends=True)
        for number in range(30):
            data = "".join(lines[: 2 + number % (len(lines) - 2)]).encode()
            say(submit_content(cup, "kyoto", path.name, data, START + HOUR, measure=False).entry.number)
    elif what == "advance":
        advance(cup, START + DAY)
    else:
        score(cup, 1.0, 1)


def run_and_kill(folder, what, path, delay):
    """Start a command, kill it after a delay; what it had said by then, without a line cut off."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            do(folder, what, path, lambda number: os.write(write, f"{number}\n".encode()))
        finally:
            os._exit(0)
    os.close(write)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(read) as file:
        return [int(line) for line in file.read().split("\n")[:-1]]


def killed(tmp_path, times, seed):
    """Kill submit, advance and score at random moments; every receipt given must be in force."""
    rng = random.Random(seed)
    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"), originals=20, candidates=40)
    path, folder = cup.file("kyoto", cup.frame("kyoto")), cup.tournament.folder
    cup.hand_in("osaka", cup.frame("osaka"))
    accepted = []
    for _ in range(times[0]):
        accepted += run_and_kill(folder, "submit", path, rng.uniform(0, 0.3))
        tournament = Tournament(folder)
        verify(tournament)
        entries = tournament.log.entries()
        assert set(accepted) <= {entry.number for entry in entries if entry.kind == "submitted"}
        if accepted:
            # One more may be in force whose receipt was not written any more.
            assert tournament.state(entries).tables["kyoto"].number in (accepted[-1], entries[-1].number)
    cup.hand_in("kyoto", cup.frame("kyoto").iloc[:15])
    for _ in range(times[1]):
        run_and_kill(folder, "advance", path, rng.uniform(0, 0.1))
        verify(Tournament(folder))
    if cup.tournament.state(cup.tournament.log.entries()).phase is Phase.ANONYMIZE:
        cup.publish()
    published = {entry.name: entry.read_bytes() for entry in cup.tournament.public.iterdir()}
    for _ in range(times[2]):
        run_and_kill(folder, "score", path, rng.uniform(0, 0.5))
        verify(Tournament(folder))
    board = standings_csv(standings(cup.tournament.settings.teams, score(cup.tournament, 1.0, 1)))
    return published, board


def uninterrupted(tmp_path):
    cup = opened(tmp_path / "whole", teams=("kyoto", "osaka"), originals=20, candidates=40)
    cup.hand_in("osaka", cup.frame("osaka"))
    cup.hand_in("kyoto", cup.frame("kyoto").iloc[:15])
    cup.publish()
    return cup, standings_csv(standings(cup.tournament.settings.teams, score(cup.tournament, 1.0, 1)))


@pytest.mark.parametrize("times", [(2, 2, 1), pytest.param((80, 60, 60), marks=pytest.mark.long)])
def test_killed_at_any_moment_it_goes_on(tmp_path, times):
    published, board = killed(tmp_path, times, seed=sum(times))
    whole, expected = uninterrupted(tmp_path)
    assert board == expected
    assert published == {entry.name: entry.read_bytes() for entry in whole.tournament.public.iterdir()}


def hand_in_many(folder, team, count):
    cup = Played(Tournament(Path(folder)))
    frame = cup.frame(team)
    for number in range(count):
        cup.hand_in(team, frame.iloc[: 20 - number])


@pytest.mark.thorough
def test_many_may_hand_in_at_the_same_moment(tmp_path):
    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka", "nara"), originals=20, candidates=40)
    context = multiprocessing.get_context("fork")
    hands = [
        context.Process(target=hand_in_many, args=(cup.tournament.folder, team, 5))
        for team in ("kyoto", "osaka", "nara")
    ]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
        assert hand.exitcode == 0
    assert "15 accepted files" in verify(cup.tournament)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("failing", ["write", "pwrite", "fsync", "replace"])
def test_a_full_disk_accepts_nothing_and_loses_nothing(tmp_path, monkeypatch, failing):
    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"), originals=20, candidates=40)
    first = cup.hand_in("kyoto", cup.frame("kyoto"))
    path = cup.file("kyoto", cup.frame("kyoto").iloc[:10])

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    from scenarios.tournament.rules.submitting import submit

    if failing == "write":
        # What is submitted can be read; what is archived cannot be written.
        real = os.fdopen
        monkeypatch.setattr(os, "fdopen", lambda handle, mode: full() if mode == "wb" else real(handle, mode))
    else:
        monkeypatch.setattr(os, failing, full)
    with pytest.raises(OSError, match=f"No space left on device: '{cup.tournament.host}/"):
        submit(cup.tournament, "kyoto", path, START + HOUR, measure=False)
    monkeypatch.undo()
    table = cup.tournament.state(cup.tournament.log.entries()).tables["kyoto"]
    assert table.content == first.submission.content
    assert "1 accepted files" in verify(cup.tournament)
    again = submit(cup.tournament, "kyoto", path, START + HOUR, measure=False)
    assert cup.tournament.state(cup.tournament.log.entries()).tables["kyoto"].content == again.submission.content


class TestLog:
    @pytest.fixture
    def log(self, tmp_path):
        log = Log(tmp_path / "log.jsonl")
        for number in range(4):
            log.append("submitted", {"number": number}, START)
        return log

    def test_it_reads_back(self, log):
        entries = log.entries()
        assert [entry.details["number"] for entry in entries] == [0, 1, 2, 3]
        assert [entry.previous for entry in entries[1:]] == [entry.hash for entry in entries[:-1]]

    def test_a_line_cut_off_is_no_entry_and_is_written_over(self, log):
        whole = log.path.read_bytes()
        log.path.write_bytes(whole[:-7])
        assert len(log.entries()) == 3
        log.append("advanced", {}, START)
        assert [entry.kind for entry in log.entries()] == ["submitted"] * 3 + ["advanced"]

    @pytest.mark.parametrize("change", ["edit", "drop", "swap", "insert", "garbage"])
    def test_any_change_is_seen(self, log, change):
        lines = log.path.read_bytes().splitlines(keepends=True)
        changed = {
            "edit": [lines[0].replace(b'"number": 0}', b'"number": 9}'), *lines[1:]],
            "drop": [lines[0], *lines[2:]],
            "swap": [lines[1], lines[0], *lines[2:]],
            "insert": [lines[0], lines[0], *lines[1:]],
            "garbage": [lines[0], b"{]\n", *lines[1:]],
        }[change]
        assert changed != lines
        log.path.write_bytes(b"".join(changed))
        with pytest.raises(ValueError, match="was changed after it was written"):
            log.entries()


def test_verify_sees_a_file_that_was_changed_or_taken_away(tmp_path):
    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"), originals=20, candidates=40)
    content = cup.hand_in("kyoto", cup.frame("kyoto")).submission.content
    path = cup.tournament.submissions / content
    data = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(data + b"\n")
    with pytest.raises(ValueError, match="was changed"):
        verify(cup.tournament)
    path.unlink()
    with pytest.raises(ValueError, match="no such file"):
        verify(cup.tournament)


def test_a_phase_that_was_published_half_way_is_published_again(tmp_path, monkeypatch):
    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"), originals=20, candidates=40)
    cup.hand_in("kyoto", cup.frame("kyoto"))
    monkeypatch.setattr(Log, "append", lambda *arguments: (_ for _ in ()).throw(OSError("power cut")))
    with pytest.raises(OSError, match="power cut"):
        cup.publish()
    monkeypatch.undo()
    half = {entry.name: entry.read_bytes() for entry in cup.tournament.public.iterdir()}
    assert cup.publish() is Phase.ATTACK
    assert half == {entry.name: entry.read_bytes() for entry in cup.tournament.public.iterdir()}
