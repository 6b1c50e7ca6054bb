"""A team's uploads are carried out in order, and decisions of the host wait for uploads in work."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from run_tools import PATIENCE
from site_tools import JSON

from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.site import site as turns
from scenarios.tournament.site.pages import team_pages

SHORT = 0.3
"""Seconds in which an action that does not wait would be done."""


class Slow:
    """Submission of files, the first of which is held until it is released."""

    def __init__(self, submit):
        self._submit, self.calls = submit, 0
        self.begun, self.released = threading.Event(), threading.Event()

    def __call__(self, *given):
        self.calls += 1
        if self.calls == 1:
            self.begun.set()
            assert self.released.wait(PATIENCE)
        return self._submit(*given)


@pytest.fixture
def slow(monkeypatch):
    held = Slow(team_pages.submit_file)
    monkeypatch.setattr(team_pages, "submit_file", held)
    yield held
    held.released.set()


@pytest.mark.thorough
def test_the_later_of_two_uploads_counts_even_if_the_first_takes_longer(cup_site, slow):
    kyoto = cup_site.member("kyoto")
    token = kyoto.token("/account")
    tables = cup_site.table("kyoto"), cup_site.table("kyoto", age="*")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(kyoto.upload, "kyoto", tables[0], token=token)
        assert slow.begun.wait(PATIENCE)
        second = pool.submit(kyoto.upload, "kyoto", tables[1], token=token)
        with pytest.raises(TimeoutError):
            second.result(SHORT)
        assert slow.calls == 1
        slow.released.set()
        receipts = [one.result(PATIENCE).json()["files"][0]["receipt"]["number"] for one in (first, second)]
    assert receipts == [2, 3]
    in_force = cup_site.played.tournament.state(cup_site.log()).tables["kyoto"]
    assert in_force.number == 3


@pytest.mark.thorough
def test_teams_do_not_wait_for_each_other(cup_site, slow):
    kyoto, osaka = cup_site.member("kyoto"), cup_site.member("osaka")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(kyoto.upload, "kyoto", cup_site.table("kyoto"))
        assert slow.begun.wait(PATIENCE)
        assert osaka.upload("osaka", cup_site.table("osaka")).status_code == 200
        slow.released.set()
        assert first.result(PATIENCE).status_code == 200


@pytest.mark.thorough
def test_the_phase_is_closed_after_the_uploads_that_arrived_before(cup_site, slow):
    kyoto = cup_site.member("kyoto")
    with ThreadPoolExecutor(2) as pool:
        upload = pool.submit(kyoto.upload, "kyoto", cup_site.table("kyoto"))
        assert slow.begun.wait(PATIENCE)
        cup_site.clock.now += timedelta(days=2)
        host = cup_site.member("host")
        token = host.token("/host")
        moved = pool.submit(
            host.post, "/host/advance", {"sure": "yes", "phase": "anonymize"}, token=token, headers=JSON
        )
        with pytest.raises(TimeoutError):
            moved.result(SHORT)
        slow.released.set()
        assert upload.result(PATIENCE).status_code == 200
        assert moved.result(PATIENCE).status_code == 200, moved.result().text
    tournament = cup_site.played.tournament
    assert tournament.state(cup_site.log()).phase is Phase.ATTACK
    assert "kyoto" in tournament.state(cup_site.log()).tables


@pytest.mark.thorough
def test_a_team_delays_the_host_by_no_more_than_the_patience(cup_site, slow, monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE", SHORT)
    kyoto, osaka, host = (cup_site.member(name) for name in ("kyoto", "osaka", "host"))
    token = host.token("/host")
    with ThreadPoolExecutor(2) as pool:
        upload = pool.submit(kyoto.upload, "kyoto", cup_site.table("kyoto"))
        assert slow.begun.wait(PATIENCE)
        posted = pool.submit(host.post, "/host/message", {"text": "hello"}, token=token, headers=JSON)
        try:
            assert posted.result(PATIENCE).status_code == 200, posted.result().text
            assert osaka.upload("osaka", cup_site.table("osaka")).status_code == 200
        finally:
            slow.released.set()
        assert upload.result(PATIENCE).status_code == 200
    assert kyoto.upload("kyoto", cup_site.table("kyoto", age="*")).status_code == 200


def test_few_files_of_an_upload_are_in_work_at_once(cup_site, monkeypatch):
    monkeypatch.setattr(team_pages, "AT_ONCE", 1)
    working, most = [], []

    def submit(folder, team, name, *rest):
        working.append(name)
        most.append(len(working))
        time.sleep(SHORT / 10)
        working.remove(name)
        return {"file": name, "accepted": False, "message": "", "total": 0, "problems": []}

    monkeypatch.setattr(team_pages, "submit_file", submit)
    kyoto = cup_site.member("kyoto")
    files = [("file", (f"{number}.csv", b"1", "text/csv")) for number in range(6)]
    kyoto.post("/team/kyoto/upload", {}, token=kyoto.token("/account"), files=files, headers=JSON)
    assert most == [1] * 6
