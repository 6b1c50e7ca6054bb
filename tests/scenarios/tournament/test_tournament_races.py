"""Races for the deadline and the quota: under one lock, exactly those files are accepted that the rules allow."""

import threading
from contextlib import contextmanager
from datetime import timedelta

from tournament_tools import DAY, START, opened

from scenarios.tournament.folder import Tournament
from scenarios.tournament.submitting import quota_left, submit_content
from scenarios.tournament.verifying import verify

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
        assert 0 <= quota_left(tournament, team) < len(content(team, 0))
