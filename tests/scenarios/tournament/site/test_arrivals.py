"""A file counts by its arrival, however long its check waits, and nobody's preview holds up anybody else."""

import errno
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import anyio
import pytest
from run_tools import invoke, wait_until
from site_tools import JSON, PASSWORD, Served, served
from starlette.testclient import TestClient
from tournament_tools import DAY, HOUR, START

from scenarios.running.workers.isolation import Limits
from scenarios.tournament.host.archives import backup, restore, verify
from scenarios.tournament.host.decisions import extend, reopen
from scenarios.tournament.rules.advancing import advance, advance_due
from scenarios.tournament.rules.arrivals import arrivals, phase_at
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.site import deciding, jobs, workers
from scenarios.tournament.site import site as turns
from scenarios.tournament.site.application import served_once
from scenarios.tournament.site.deciding import settle
from scenarios.tournament.site.pages import team_pages
from scenarios.tournament.site.refusal_error import RefusalError
from scenarios.tournament.site.workers import Workers, apart

PATIENCE = 60.0
"""Longest time in seconds until something happens that happens at once on an idle machine."""


class Held:
    """A job that waits until it is released."""

    def __init__(self, job):
        self._job, self.begun, self.released = job, threading.Event(), threading.Event()

    def __call__(self, *given):
        self.begun.set()
        assert self.released.wait(PATIENCE)
        return self._job(*given)


@contextmanager
def holding(monkeypatch, name, *, mark=lambda job: job):
    """A job of the team's pages that is held."""
    held = mark(Held(getattr(team_pages, name)))
    monkeypatch.setattr(team_pages, name, held)
    try:
        yield held
    finally:
        held.released.set()


def close(site, host, phase="anonymize"):
    """Close a phase on the host's page."""
    fields = {"sure": "yes", "phase": phase, "early": "yes"}
    return host.post("/host/advance", fields, token=host.token("/host"), headers=JSON)


def log_in(visitor, name):
    """Begin a new session, since the clock has passed the end of the last one."""
    assert visitor.post("/log-in", {"name": name, "password": PASSWORD}, page="/log-in").status_code == 303


def numbers_of(site, kind="submitted"):
    """Numbers of the log's entries of one kind."""
    return [entry.number for entry in site.log() if entry.kind == kind]


@pytest.fixture
def narrow_site(first_phase, tmp_path, monkeypatch, one_baseline):
    """A site with as many threads for uploads as it has teams."""
    monkeypatch.setattr(workers, "_THREADS", 3)
    with served(first_phase, tmp_path / "cup") as one:
        yield one


@pytest.mark.thorough
def test_an_upload_and_the_close_wait_for_no_preview(narrow_site, monkeypatch):
    """Previews of all teams that never end hold neither uploads nor decisions; each team has one at a time."""
    cup_site = narrow_site
    teams = [cup_site.member(name) for name in ("kyoto", "osaka", "nara")]
    tokens, host, table = [one.token() for one in teams], cup_site.member("host"), cup_site.table("kyoto")
    with holding(monkeypatch, "preview_table", mark=apart) as held, ThreadPoolExecutor(3) as pool:
        files = [("file", ("x.csv", table, "text/csv"))]
        sent = [
            pool.submit(one.post, f"/team/{name}/preview", files=files, token=token, headers=JSON)
            for one, name, token in zip(teams, ("kyoto", "osaka", "nara"), tokens, strict=True)
        ]
        assert held.begun.wait(PATIENCE)
        while len(cup_site.site.previewing) < 3:
            time.sleep(0.01)
        second = teams[0].post("/team/kyoto/preview", files=files, token=tokens[0], headers=JSON)
        assert (second.status_code, "is running still" in second.text) == (409, True)
        assert teams[0].upload("kyoto", table, token=tokens[0]).status_code == 200
        assert close(cup_site, host).status_code == 200
        assert not any(one.done() for one in sent)
        held.released.set()
        assert sent[0].result(PATIENCE).status_code == 200
    assert not cup_site.site.previewing


@pytest.mark.thorough
def test_a_timely_file_counts_though_the_phase_closes_before_its_check(cup_site, monkeypatch):
    """The close waits a moment, then goes on; the table is published once its team's last file is checked."""
    monkeypatch.setattr(turns, "PATIENCE", 0.05)
    kyoto, host = cup_site.member("kyoto"), cup_site.member("host")
    first, second = cup_site.table("kyoto"), cup_site.table("kyoto", age="*")
    assert kyoto.upload("kyoto", first).status_code == 200
    published = cup_site.folder / "public" / "kyoto_anonymized.csv"
    tournament = cup_site.played.tournament
    with holding(monkeypatch, "submit_file") as held, ThreadPoolExecutor(1) as pool:
        cup_site.clock.now = START + DAY - timedelta(seconds=1)
        log_in(kyoto, "kyoto")
        upload = pool.submit(kyoto.upload, "kyoto", second)
        assert held.begun.wait(PATIENCE)
        cup_site.clock.now = START + DAY + timedelta(hours=1)
        log_in(host, "host")
        assert close(cup_site, host).status_code == 200
        assert tournament.state(cup_site.log()).phase is Phase.ATTACK
        assert not published.exists()
        assert "1 upload not checked yet" in verify(tournament)
        held.released.set()
        answer = upload.result(PATIENCE)
    assert answer.status_code == 200, answer.text
    assert cup_site.log()[-1].details["phase"] == "anonymize"
    assert cup_site.log()[-1].arrived == (START + DAY - timedelta(seconds=1)).isoformat()
    assert tournament.state(cup_site.log()).tables["kyoto"].number == cup_site.log()[-1].number
    assert "," in published.read_text()
    assert not arrivals(tournament)
    assert "2 accepted files" in verify(tournament)


@pytest.fixture
def closing_site(first_phase, tmp_path, monkeypatch):
    """A site that closes each phase at its end."""
    monkeypatch.setattr(deciding, "EVERY", 0.01)
    monkeypatch.setattr(deciding, "_AGAIN", 0.01)
    with served(first_phase, tmp_path / "cup", advances=True) as one:
        yield one


@pytest.mark.thorough
def test_phases_close_at_their_ends_and_all_hear_of_it(closing_site):
    """What arrived before the end counts, and what comes after it is late."""
    kyoto, guest = closing_site.member("kyoto"), closing_site.visitor()
    assert kyoto.upload("kyoto", closing_site.table("kyoto")).status_code == 200
    closing_site.clock.now = START + DAY - timedelta(seconds=1)
    log_in(kyoto, "kyoto")
    assert kyoto.upload("kyoto", closing_site.table("kyoto", age="*")).status_code == 200
    assert not numbers_of(closing_site, "advanced")
    closing_site.clock.now = START + DAY
    wait_until(lambda: numbers_of(closing_site, "advanced"))
    assert kyoto.upload("kyoto", closing_site.table("kyoto")).status_code == 422
    wait_until(lambda: "Phase attack is open" in guest.get("/").text)
    tournament = closing_site.played.tournament
    assert tournament.state().tables["kyoto"].number == numbers_of(closing_site)[-1]
    notices = tournament.public / "NOTICES.md"
    wait_until(lambda: notices.is_file() and "Phase attack is open" in notices.read_text())
    closing_site.clock.now = START + 3 * DAY
    wait_until(lambda: tournament.state().phase is Phase.CLOSED)
    assert "2 accepted files" in verify(tournament)


@pytest.mark.thorough
def test_a_server_that_was_down_closes_all_phases_that_ended_and_no_extended_one(cup):
    extend(cup.tournament, Phase.ATTACK, (START + 5 * DAY).isoformat(), "snow", START)
    assert advance_due(cup.tournament, START + DAY - timedelta(seconds=1)) == []
    assert advance_due(cup.tournament, START + 3 * DAY) == [Phase.ATTACK]
    reopen(cup.tournament, Phase.ANONYMIZE, (START + 4 * DAY).isoformat(), "more snow", START + 3 * DAY)
    assert advance_due(cup.tournament, START + 3 * DAY + HOUR) == []
    assert advance_due(cup.tournament, START + 9 * DAY) == [Phase.ATTACK, Phase.CLOSED]
    assert advance_due(cup.tournament, START + 99 * DAY) == []


def test_a_phase_that_cannot_be_closed_is_closed_later(closing_site, monkeypatch, caplog):
    """The server's output says why, and the site goes on."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "log.jsonl")

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "advance_due", full)
        closing_site.clock.now = START + DAY
        wait_until(lambda: "the phase cannot be closed now: log.jsonl: No space left" in caplog.text)
        assert closing_site.visitor().get("/").status_code == 200
    wait_until(lambda: numbers_of(closing_site, "advanced"))


def test_a_late_file_is_late_however_soon_it_is_checked(cup_site):
    kyoto = cup_site.member("kyoto")
    cup_site.clock.now = START + DAY
    log_in(kyoto, "kyoto")
    answer = kyoto.upload("kyoto", cup_site.table("kyoto"))
    assert (answer.status_code, "ended at" in answer.text) == (422, True)
    assert not arrivals(cup_site.played.tournament)


def test_an_upload_that_is_cut_off_has_not_arrived(cup_site):
    kyoto = cup_site.member("kyoto")
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\n' + cup_site.table("kyoto")
    status, _ = kyoto.stream("/team/kyoto/upload", [body], **{"content-type": "multipart/form-data; boundary=b"})
    assert status == 400
    assert numbers_of(cup_site) == []
    assert not arrivals(cup_site.played.tournament)


@contextmanager
def crashed(first_phase, folder, monkeypatch, tables):
    """A folder whose server was killed after uploads of kyoto arrived and before they were checked."""
    with served(first_phase, folder) as site, holding(monkeypatch, "submit_file") as held:
        kyoto, contents = site.member("kyoto"), tables(site)
        token = kyoto.token()
        with ThreadPoolExecutor(len(contents)) as pool:
            sent = []
            for content in contents:
                sent.append(pool.submit(kyoto.upload, "kyoto", *content, token=token))
                while len(arrivals(site.played.tournament)) < len(sent):
                    time.sleep(0.01)
            assert held.begun.wait(PATIENCE)
            (archive := folder.with_suffix(".tar")).unlink(missing_ok=True)
            backup(site.played.tournament, archive)
            held.released.set()
            assert all(one.result(PATIENCE).status_code in (200, 422) for one in sent)
    again = folder.with_name("again")
    monkeypatch.undo()
    assert "not checked yet" in restore(archive, again)
    yield again


def two_uploads(site):
    """A valid table and a wrong file; then another table."""
    return [site.table("kyoto"), b"wrong"], [site.table("kyoto", age="*")]


@pytest.mark.thorough
def test_what_arrived_before_a_crash_is_checked_by_the_next_server(first_phase, tmp_path, monkeypatch):
    """In the order of arrival, by the moment of arrival, though the deadline has passed."""
    with crashed(first_phase, tmp_path / "cup", monkeypatch, two_uploads) as folder:
        one = Served(folder)
        one.clock.now = START + 3 * DAY
        with TestClient(one.app):
            wait_until(lambda: not arrivals(one.played.tournament))
        entries = [entry for entry in one.log() if entry.kind == "submitted"]
        assert [entry.details["arrival"].partition(".")[2] for entry in entries] == ["0", "0"]
        in_force = one.played.tournament.state(one.log()).tables["kyoto"]
        assert one.played.tournament.content(in_force.content) == one.table("kyoto", age="*")
        assert "2 accepted files are unchanged" in verify(one.played.tournament)


@pytest.mark.thorough
def test_what_arrived_before_a_crash_is_checked_by_the_hosts_commands(first_phase, tmp_path, monkeypatch):
    """Once only, even if the crash came after one of its files was accepted; a running server does it itself."""
    with crashed(first_phase, tmp_path / "cup", monkeypatch, two_uploads) as folder:
        tournament = Tournament(folder)
        waiting = arrivals(tournament)
        given = ("kyoto", "kyoto_anonymized.csv", "", jobs.UploadedContent(waiting[0].files()[0][1]))
        jobs.submit_file(folder, *given, waiting[0].arrived, Phase.ANONYMIZE, waiting[0].name_of(0))
        with served_once(folder):
            advance(tournament, START + timedelta(hours=2), early=True)
            assert settle(tournament) == 2
            assert "kyoto" in tournament.state(tournament.log.entries()).tables
            assert not (folder / "public" / "kyoto_anonymized.csv").exists()
            assert "2 uploads not checked yet" in invoke("tournament", "score", folder, "--jobs", 1).output
        assert "not checked yet" not in invoke("tournament", "score", folder, "--jobs", 1).output
        assert [entry.kind for entry in tournament.log.entries()] == ["opened", "submitted", "advanced", "submitted"]
        assert (folder / "public" / "kyoto_anonymized.csv").exists()
        verify(Tournament(folder))


@pytest.mark.parametrize(
    ("closed", "recorded", "expected"),
    [
        (timedelta(seconds=0.2), timedelta(seconds=0.3), Phase.ANONYMIZE),
        (timedelta(seconds=-0.1), timedelta(seconds=0.3), Phase.ATTACK),
        (timedelta(0), timedelta(0), Phase.ATTACK),
        # The clock was an hour fast when the phase was closed, and was set back since.
        (timedelta(hours=1), timedelta(seconds=0.3), Phase.ATTACK),
    ],
)
def test_the_phase_of_arrival_is_known_to_a_fraction_of_a_second(cup, closed, recorded, expected):
    """A close by another process comes between the last byte of an upload and its record."""
    arrived = START + timedelta(hours=1, seconds=0.1)
    advance(cup.tournament, arrived + closed, early=True)
    entries = cup.tournament.log.entries()
    assert phase_at(cup.tournament, entries, arrived, arrived + recorded) is expected


def test_verify_sees_a_file_that_arrived_after_the_close(cup):
    """The exemption holds for files that arrived before it only."""
    receipt = cup.hand_in("kyoto", cup.frame("kyoto"))
    details = {**receipt.entry.details, "arrival": "x.0"}
    advance(cup.tournament, START + timedelta(hours=2), early=True)
    with cup.tournament.log.locked():
        cup.tournament.log.append("submitted", details, START + timedelta(hours=1))
    verify(cup.tournament)
    with cup.tournament.log.locked():
        cup.tournament.log.append("submitted", details, START + timedelta(hours=2, seconds=1))
    with pytest.raises(ValueError, match="is of phase anonymize, but the phase is attack"):
        verify(cup.tournament)


@apart
def endless():
    """A preview that never ends."""
    time.sleep(PATIENCE)


def ended_by_itself():
    """A check that kills its process."""
    import os

    os._exit(3)


def raised():
    """A refusal."""
    raise ValueError("no team of that name")


@pytest.mark.thorough
def test_a_preview_that_never_ends_holds_no_process_of_others():
    """In processes; a job that dies takes no other with it, and errors keep their kind."""
    pool, outcomes = Workers(1, "time"), []

    async def note(job, *given):
        try:
            outcomes.append(await pool.outcome(job, *given))
        except (RefusalError, ValueError) as error:
            outcomes.append(str(error))

    async def everything():
        async with anyio.create_task_group() as group:
            group.start_soon(note, endless)
            for job, *given in ((ended_by_itself,), (raised,), (abs, -3)):
                await note(job, *given)
            assert outcomes == ["the server could not finish this; try again", "no team of that name", 3]
            pool.stop()

    anyio.run(everything)
    assert outcomes[3].startswith("the server stops")


def test_a_job_that_waits_when_the_server_stops_is_refused_in_words(monkeypatch):
    """As is one in work: it must not end in an error of the server."""
    monkeypatch.setattr(workers, "_THREADS", 1)
    pool, held, outcomes = Workers(0, "time"), threading.Event(), []

    async def note():
        try:
            await pool.outcome(held.wait, PATIENCE)
        except RefusalError as error:
            outcomes.append(str(error))

    async def everything():
        async with anyio.create_task_group() as group:
            group.start_soon(note)
            group.start_soon(note)
            await anyio.sleep(0.01)
            pool.stop()
            held.set()

    anyio.run(everything)
    assert outcomes == ["the server stops; what has arrived is checked once it runs again"]


@pytest.mark.thorough
def test_a_preview_has_a_limit_of_time(monkeypatch):
    monkeypatch.setattr(workers, "LIMITS_APART", Limits(time=0.1, memory=1 << 30))
    pool = Workers(1, "time")
    with pytest.raises(RefusalError, match=r"took longer than 0\.1 seconds and was stopped"):
        anyio.run(pool.outcome, endless)
    pool.stop()
