"""Scoring by itself: after each file, in worker processes; failures stop nothing, restarts lose nothing."""

import csv
import io
import os
import signal
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from run_tools import PATIENCE, invoke, wait_until
from tournament_tools import DAY, HOUR, START, opened, score

from attacks import FellegiSunter, NearestNeighbour
from leaderboard.results.store import Store
from scenarios.running.workers.isolation import Death, IsolatedWorker, Limits, TaskStep, unprepared
from scenarios.tournament.host import scoring_queue
from scenarios.tournament.host.scoring_queue import ScoringQueue
from scenarios.tournament.rules import scoring
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.scoring import score_shares, scoring_plan
from scenarios.tournament.rules.settings import Phase

pytestmark = pytest.mark.waits


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch):
    """The queue looks at once when it is woken, and its processes let no other test go first."""
    monkeypatch.setattr(scoring_queue, "PAUSE", 0.0)
    monkeypatch.setattr(scoring_queue, "yield_processor", unprepared)


@pytest.fixture
def cup(tmp_path):
    """A small tournament that has just been opened."""
    return opened(tmp_path / "cup", originals=10, candidates=20)


@pytest.fixture
def published(cup):
    """A tournament whose tables of kyoto and osaka are published."""
    for team in ("kyoto", "osaka"):
        cup.hand_in(team, cup.frame(team))
    cup.publish()
    return cup


def queue_of(cup, **options):
    return ScoringQueue(cup.tournament.folder, jobs=1, **options)


def public(cup):
    return (cup.tournament.public / "standings.csv").read_text()


@pytest.mark.thorough
def test_boards_follow_what_is_submitted_and_are_those_of_the_command(published, monkeypatch):
    # They are written in another process, so that a server in this one goes on.
    monkeypatch.setattr(scoring_queue, "update_boards", None)
    updates = []
    queue = queue_of(published, on_update=lambda: updates.append(1))
    queue.start()
    try:
        assert queue.wait(PATIENCE)
        first = public(published)
        assert updates
        published.attack("nara", "kyoto", range(10), published.truth("kyoto"))
        assert queue.wait(PATIENCE)
        assert public(published) != first
        state = queue.progress()
        assert (state.waiting, state.failed, state.error) == (0, (), "")
        by_queue = {path.name: path.read_bytes() for path in published.tournament.public.iterdir()}
    finally:
        queue.stop()
    assert invoke("tournament", "score", published.tournament.folder, "-j", 1).exit_code == 0
    assert by_queue == {path.name: path.read_bytes() for path in published.tournament.public.iterdir()}


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_no_board_is_written_before_the_first_result(published, monkeypatch):
    """An empty board said that everybody had handed in nothing; a later one says that scoring goes on."""
    looks, updated = [], []
    monkeypatch.setattr(ScoringQueue, "_work", lambda *given: None)
    queue = queue_of(published, on_update=lambda: updated.append(1))

    def here(function, *given):
        looks.append(function)
        return function(*given)

    monkeypatch.setattr(queue._planner, "call", here)
    tournament = published.tournament
    queue.start()
    try:
        for asked in range(1, 4):
            queue.wake()
            wait_until(lambda asked=asked: len(looks) >= asked)
        assert not updated
        assert not (tournament.public / "standings.csv").exists()
        wanted = scoring_plan(tournament, (1.0,)).wanted[1.0]
        with Store(tournament.host / "results.db") as store:
            store.add([replace(one, status="timeout") for one in wanted if one.defense == "kyoto"])
        queue.wake()
        wait_until(lambda: updated)
    finally:
        queue.stop()
    host = list(csv.DictReader(io.StringIO((tournament.host / "standings.csv").read_text())))
    assert {line["status"] for line in host} == {"partial"}
    assert {line["team"]: line["remark"] for line in host} == {
        "kyoto": "table could not be scored",
        "osaka": "table not scored yet",
        "nara": "handed in nothing",
    }


@pytest.mark.thorough
def test_before_tables_are_published_nothing_is_scored(cup):
    cup.hand_in("kyoto", cup.frame("kyoto"))
    queue = queue_of(cup)
    queue.start()
    try:
        assert queue.wait(PATIENCE)
        assert not list(cup.tournament.public.iterdir())
        cup.publish()
        assert queue.wait(PATIENCE)
        assert "kyoto" in public(cup)
    finally:
        queue.stop()


@pytest.mark.thorough
def test_cheap_work_comes_before_dear_and_old_before_new(published, monkeypatch):
    # Two baseline attacks suffice to tell a new table from new attacks on an old one.
    monkeypatch.setattr(scoring, "baselines", lambda: (FellegiSunter(), NearestNeighbour()))
    folder = published.tournament
    plan = scoring_plan(folder, (0.5, 1.0))
    assert [one.team for one in plan.waiting] == ["kyoto", "osaka"]
    score_shares(folder, (0.5, 1.0), 1)
    assert not scoring_plan(folder, (0.5, 1.0)).waiting
    published.attack("nara", "osaka", [0], [0])
    published.attack("nara", "kyoto", [0], [0])
    assert [one.team for one in scoring_plan(folder, (0.5, 1.0)).waiting] == ["osaka", "kyoto"]
    late = published.file("nara", published.frame("nara")).read_bytes()
    from scenarios.tournament.host.decisions import admit

    admit(folder, "nara", "nara_anonymized.csv", late, "ill", START + DAY + HOUR)
    published.attack("osaka", "kyoto", [0], [0])
    waiting = scoring_plan(folder, (0.5, 1.0)).waiting
    assert [one.team for one in waiting] == ["osaka", "kyoto", "nara"]
    assert [len(one.missing) for one in waiting] == [2, 4, 6]


def fails_on_osaka(path, team, sha256):
    raise RuntimeError(f"cannot read {team}")


class TestFailures:
    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_a_table_that_fails_is_recorded_and_stops_nothing(self, published, monkeypatch):
        whole = {one.key: one for one in score(published.tournament, 1.0, 1)}
        (published.tournament.host / "results.db").unlink()
        scoring._prepared.cache_clear()
        real = scoring.published
        with monkeypatch.context() as patch:
            patch.setattr(scoring, "published", lambda *of: fails_on_osaka(*of) if of[1] == "osaka" else real(*of))
            done = invoke("tournament", "score", published.tournament.folder, "-j", 1)
        assert done.exit_code == 0, done.output
        assert "RuntimeError: cannot read osaka" in done.output
        results = {one.key: one for one in score(published.tournament, 1.0, 1)}
        assert {one.status for one in results.values() if one.defense == "osaka"} == {"error"}
        assert all(whole[key].scores == one.scores for key, one in results.items() if one.defense == "kyoto")
        host = (published.tournament.host / "report.html").read_text()
        assert "RuntimeError: cannot read osaka" in host
        report = (published.tournament.team_folder("osaka") / "report.md").read_text()
        assert "your table: error (RuntimeError)" in report
        assert "cannot read" not in report
        assert "Scoring failed" not in (published.tournament.team_folder("kyoto") / "report.md").read_text()
        assert "RuntimeError" not in public(published)
        again = invoke("tournament", "score", published.tournament.folder, "-j", 1, "--retry")
        assert (again.exit_code, "RuntimeError" in again.output) == (0, False)
        assert {one.key: one.scores for one in score(published.tournament, 1.0, 1)} == {
            key: one.scores for key, one in whole.items()
        }

    @pytest.mark.thorough
    @pytest.mark.usefixtures("one_baseline")
    def test_an_attack_that_fails_is_its_own_teams(self, published, monkeypatch):
        published.attack("nara", "kyoto", [0], [0])
        real = scoring.read_answers
        monkeypatch.setattr(scoring, "read_answers", lambda name, *of: 1 / 0 if name == "nara" else real(name, *of))
        results = score(published.tournament, 1.0, 1)
        assert [(one.attack, one.status) for one in results if one.status != "ok"] == [("nara", "error")]


def crash(task):
    yield TaskStep("first")
    yield task
    yield TaskStep("second")
    if task == "exit":
        os._exit(7)
    if task == "hang":
        time.sleep(10 * PATIENCE)
    if task == "eat":
        np.ones(1 << 30)
    yield task


class TestIsolation:
    @pytest.mark.thorough
    def test_what_dies_is_named_and_the_next_task_is_done(self):
        worker = IsolatedWorker(crash, Limits(time=PATIENCE, memory=1 << 28))
        try:
            assert list(worker.results("fine")) == ["fine", "fine"]
            assert list(worker.results("exit")) == [
                "exit",
                Death("second", "error", "its process ended with exit code 7"),
            ]
            assert list(worker.results("fine")) == ["fine", "fine"]
            hanging = worker.results("hang")
            assert next(hanging) == "hang"
            # From here on, so that no start of a process on a busy machine is taken for a hang.
            worker._limits = Limits(time=2.0)
            assert list(hanging) == [Death("second", "timeout", "took longer than 2 s")]
            worker._limits = Limits(time=PATIENCE, memory=1 << 28)
            (begun, death) = worker.results("eat")
            assert (begun, death.step, death.status) == ("eat", "second", "error")
            assert list(worker.results("fine")) == ["fine", "fine"]
        finally:
            worker.close()

    @pytest.mark.thorough
    def test_a_process_that_dies_between_two_tasks_fails_none(self):
        worker = IsolatedWorker(crash)
        try:
            assert list(worker.results("fine")) == ["fine", "fine"]
            os.kill(worker._child._process.pid, signal.SIGKILL)
            worker._child._process.join()
            assert list(worker.results("fine")) == ["fine", "fine"]
        finally:
            worker.close()

    def test_an_end_leaves_nothing_to_garbage_collection(self):
        """Python drops an interrupt that comes while a finalizer closes handles."""
        worker = IsolatedWorker(crash)
        assert list(worker.results("fine")) == ["fine", "fine"]
        process, connection = worker._child._process, worker._child.connection
        worker.close()
        assert connection.closed
        with pytest.raises(ValueError, match="process object is closed"):
            process.join()

    @pytest.mark.thorough
    def test_a_task_that_nobody_waits_for_is_not_mixed_with_the_next_one(self):
        """A full disk, for example, stops whoever stores the items of a task."""
        worker = IsolatedWorker(crash)
        try:
            abandoned = worker.results("first")
            assert next(abandoned) == "first"
            abandoned.close()
            assert list(worker.results("second")) == ["second", "second"]
        finally:
            worker.close()

    @pytest.mark.thorough
    def test_a_closed_worker_says_nothing_of_its_end(self):
        worker = IsolatedWorker(crash, Limits(time=PATIENCE))
        items = worker.results("hang")
        assert next(items) == "hang"
        threading.Timer(0.3, worker.close).start()
        assert list(items) == []


@pytest.mark.thorough
def test_a_step_beyond_the_limit_is_recorded(published):
    queue = queue_of(published, limits=Limits(time=0.01))
    queue.start()
    try:
        assert queue.wait(PATIENCE)
        failed = queue.progress().failed
    finally:
        queue.stop()
    assert {one.status for one in failed} == {"timeout"}
    assert {one.defense for one in failed} <= {"kyoto", "osaka"}
    remarks = {line["team"]: line["remark"] for line in csv.DictReader(io.StringIO(public(published)))}
    assert remarks.pop("nara") == "handed in nothing"
    assert set(remarks.values()) == {"table could not be scored"}


@pytest.mark.thorough
def test_a_queue_that_is_stopped_goes_on_after_the_next_start(published):
    published.attack("nara", "kyoto", range(10), range(10))
    for pause in (0.0, 0.5):
        queue = queue_of(published)
        queue.start()
        time.sleep(pause)
        queue.stop()
    queue = queue_of(published)
    queue.start()
    try:
        assert queue.wait(PATIENCE)
    finally:
        queue.stop()
    tournament = Tournament(published.tournament.folder)
    assert tournament.state(tournament.log.entries()).phase is Phase.ATTACK
    assert not scoring_plan(tournament, (0.5, 1.0)).waiting


@pytest.mark.thorough
def test_a_folder_that_is_gone_is_said_and_comes_back(cup, tmp_path):
    queue = queue_of(cup)
    place = cup.tournament.folder
    moved = place.rename(tmp_path / "moved")
    queue.start()
    try:
        assert not queue.wait(0.5)
        assert "is no tournament" in queue.progress().error
        moved.rename(place)
        assert queue.wait(PATIENCE)
        assert queue.progress().error == ""
    finally:
        queue.stop()


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_a_change_scores_nothing_again(published, monkeypatch):
    """After one more attack its results are computed, and after a late table those of it; no other."""
    stored, add = [], Store.add
    monkeypatch.setattr(Store, "add", lambda store, results: stored.extend(results) or add(store, results))
    published.attack("osaka", "kyoto", [0], [0])
    queue = queue_of(published)
    queue.start()
    try:
        assert queue.wait(PATIENCE)
        assert {one.defense for one in stored} == {"kyoto", "osaka"}
        stored.clear()
        published.attack("nara", "kyoto", [0], [0])
        assert queue.wait(PATIENCE)
        assert {(one.defense, one.attack) for one in stored} == {("kyoto", "nara")}
        stored.clear()
        from scenarios.tournament.host.decisions import admit

        late = published.file("nara", published.frame("nara")).read_bytes()
        admit(published.tournament, "nara", "nara_anonymized.csv", late, "ill", START + DAY + HOUR)
        assert queue.wait(PATIENCE)
        assert {one.defense for one in stored} == {"nara"}
    finally:
        queue.stop()


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_standings_are_published_when_it_is_time_though_nothing_happens(tmp_path):
    # The present, as the file system has it.
    now = datetime.fromtimestamp(tmp_path.stat().st_mtime, UTC)
    ends = {"anonymize_until": (now - HOUR).isoformat(), "attack_until": (now + 11 * HOUR).isoformat()}
    cup = opened(tmp_path / "cup", originals=10, candidates=20, now=now - DAY, publish_every=12 * 3600, **ends)
    cup.hand_in("kyoto", cup.frame("kyoto"), now=now - 2 * HOUR)
    advance(cup.tournament, now)
    path = cup.tournament.public / "standings.csv"
    queue = queue_of(cup)
    queue.start()
    try:
        assert queue.wait(PATIENCE)
        assert path.stat().st_mtime >= now.timestamp() - 1
        cup.hand_in("nara", "released_row,candidate_row\n0,0\n", now=now + HOUR, name="nara_attack_kyoto.csv")
        assert queue.wait(PATIENCE)
        assert "nara" not in (cup.tournament.public / "matrix.csv").read_text()
        # The last publication was before the time.
        os.utime(path, (0, 0))
        wait_until(lambda: "nara" in (cup.tournament.public / "matrix.csv").read_text())
    finally:
        queue.stop()


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("pause", [0.0, 1e4])
def test_many_uploads_cause_few_looks(cup, monkeypatch, pause):
    """Each look reads the log; however many calls come before the pause has ended, they cause no look."""
    looks, look = [], scoring_queue.opened_tournament
    monkeypatch.setattr(scoring_queue, "PAUSE", pause)
    monkeypatch.setattr(scoring_queue, "monotonic", lambda: 1e6)
    monkeypatch.setattr(scoring_queue, "opened_tournament", lambda folder: looks.append(folder) or look(folder))
    queue = queue_of(cup)
    queue.start()
    try:
        wait_until(lambda: looks)
        for _ in range(20):
            known = len(looks)
            queue.wake()
            # Without a pause each call is a look.
            wait_until(lambda known=known: pause or len(looks) > known)
            time.sleep(0.01)
        assert len(looks) == 1 or not pause
    finally:
        queue.stop()
