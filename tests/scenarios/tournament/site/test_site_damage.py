"""Files that are damaged, gone or cannot be written: a refusal in words, to the host with the file's name."""

import errno
import shutil
import sqlite3
from datetime import timedelta

import pytest
from site_tools import JSON, PASSWORD

from scenarios.tournament.rules.log import Log
from scenarios.tournament.site.account_store import AccountStore


def damage_settings(site):
    (site.folder / "tournament.toml").write_text("[[[")


def remove_settings(site):
    (site.folder / "tournament.toml").unlink()


def damage_log(site):
    log = site.folder / "host" / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b"opened", b"opener"))


def remove_originals(site):
    shutil.rmtree(site.folder / "host" / "originals")


def damaging_before_the_worker(site, monkeypatch, damage):
    """Damage the folder after the site has looked at it, and before a worker does."""
    real = site.site.workers.outcome

    async def run(*given):
        damage(site)
        return await real(*given)

    monkeypatch.setattr(site.site.workers, "outcome", run)


@pytest.mark.thorough_beyond(1)
@pytest.mark.usefixtures("one_baseline")
@pytest.mark.parametrize("damage", [damage_settings, remove_settings, damage_log])
@pytest.mark.parametrize("action", ["upload", "preview", "take", "present"])
def test_damage_that_comes_just_before_the_work_is_no_fault_of_the_team(cup_site, monkeypatch, damage, action):
    kyoto, table = cup_site.member("kyoto"), cup_site.table("kyoto")
    token = kyoto.token()
    damaging_before_the_worker(cup_site, monkeypatch, damage)
    files = [("file", ("x.csv", table, "text/csv"))] if action in ("upload", "preview") else None
    fields = {"text": "a method", "number": "1"} if files is None else {}
    answer = kyoto.post(f"/team/kyoto/{action}", fields, files=files, headers=JSON, token=token)
    if (action, damage) == ("preview", damage_log):
        assert answer.status_code == 200, "a preview looks at the team's own files alone"
        return
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60"), answer.text
    assert "the host must repair" in answer.json()["error"]
    assert str(cup_site.folder) not in answer.text


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("damage", "file"), [(damage_settings, "tournament.toml"), (damage_log, "log.jsonl")])
@pytest.mark.parametrize("path", ["/host/message", "/host/admit", "/host", "/host/export.zip"])
def test_the_host_hears_which_file_is_damaged(cup_site, monkeypatch, damage, file, path):
    host = cup_site.member("host")
    token = host.token("/host")
    damaging_before_the_worker(cup_site, monkeypatch, damage)
    if path in ("/host", "/host/export.zip"):
        answer = host.get(path, headers=JSON)
    else:
        files = [("file", ("x.csv", b"a,b\n", "text/csv"))] if path == "/host/admit" else None
        fields = {"text": "snow", "team": "kyoto", "reason": "snow"}
        answer = host.post(path, fields, files=files, headers=JSON, token=token)
    assert answer.status_code == 503, answer.text
    assert str(cup_site.folder / "host" / file if file == "log.jsonl" else cup_site.folder / file) in answer.text


@pytest.mark.thorough
def test_a_missing_file_of_the_host_is_not_told_to_a_team_as_an_error_of_its_table(cup_site):
    kyoto = cup_site.member("kyoto")
    remove_originals(cup_site)
    answer = kyoto.upload("kyoto", cup_site.table("kyoto"))
    assert answer.status_code == 503
    assert str(cup_site.folder) not in answer.text
    assert (
        "kyoto_original.csv"
        in cup_site.member("host")
        .post(
            "/host/admit",
            {"team": "kyoto", "reason": "snow"},
            files=[("file", ("kyoto_anonymized.csv", cup_site.table("kyoto"), "text/csv"))],
            headers=JSON,
            page="/host",
        )
        .text
    )


def test_a_kit_or_a_submission_that_is_gone_or_changed_is_said(attack_site):
    kyoto, host = attack_site.member("kyoto"), attack_site.member("host")
    (stored,) = [one.content for one, _ in attack_site.played.tournament.state(attack_site.log()).submissions["kyoto"]]
    path = attack_site.folder / "host" / "submissions" / stored
    path.chmod(0o600)
    path.write_text("changed")
    number = kyoto.get("/team/kyoto", headers=JSON).json()["submissions"][0]["number"]
    shutil.rmtree(attack_site.folder / "teams" / "kyoto")
    for address, name in ((f"/team/kyoto/submissions/{number}", stored), ("/team/kyoto/kit.zip", "teams/kyoto")):
        answer = kyoto.get(address, headers=JSON)
        assert (answer.status_code, str(attack_site.folder) in answer.text) == (503, False)
        assert name in host.get(address, headers=JSON).json()["error"]


def raising(error):
    def raise_it(*_, **__):
        raise error

    return raise_it


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "make room"), (errno.EFBIG, "make room"), (errno.EROFS, "permit"), (errno.EACCES, "permit")],
)
def test_a_folder_that_cannot_be_written_accepts_nothing_and_later_everything(cup_site, monkeypatch, number, words):
    kyoto, table, before = cup_site.member("kyoto"), cup_site.table("kyoto"), len(cup_site.log())
    with monkeypatch.context() as patch:
        patch.setattr(Log, "append", raising(OSError(number, "cannot", str(cup_site.folder / "host" / "log.jsonl"))))
        answer = kyoto.upload("kyoto", table)
        assert answer.status_code == 503
        assert words in answer.json()["error"]
        assert "nothing has changed" in answer.json()["error"]
        assert str(cup_site.folder) not in answer.text
    assert len(cup_site.log()) == before
    assert kyoto.upload("kyoto", table).status_code == 200


def test_files_that_were_accepted_before_the_disk_was_full_have_their_receipts(attack_site, monkeypatch):
    nara = attack_site.member("nara")
    real, answers = Log.append, b"released_row,candidate_row\n0,1\n"

    def full_after_one(log, *given):
        entry = real(log, *given)
        monkeypatch.setattr(Log, "append", raising(OSError(errno.ENOSPC, "No space left on device")))
        return entry

    monkeypatch.setattr(Log, "append", full_after_one)
    outcome = nara.upload("nara", answers, answers, names=["nara_attack_kyoto.csv", "nara_attack_osaka.csv"])
    assert outcome.status_code == 422
    files = sorted(outcome.json()["files"], key=lambda one: one["accepted"])
    assert [one["accepted"] for one in files] == [False, True]
    assert "make room" in files[0]["message"]
    assert files[1]["receipt"]["log"] == attack_site.log()[-1].hash


def test_an_upload_that_the_disk_cannot_hold_is_refused_in_words(cup_site):
    """The folder for uploads is a file, so that nothing can be written to it, whoever runs the test.

    Smaller uploads stay in memory. Blank lines change nothing else.
    """
    kyoto, table = cup_site.member("kyoto"), cup_site.table("kyoto")
    token = kyoto.token()
    cup_site.site.uploads.rmdir()
    cup_site.site.uploads.write_text("")
    answer = kyoto.upload("kyoto", table + b"\n" * (1 << 20), token=token)
    assert (answer.status_code, str(cup_site.folder) in answer.text) == (503, False)


def test_a_database_that_cannot_be_written_is_said_and_pages_are_shown(cup_site, monkeypatch):
    kyoto, guest = cup_site.member("kyoto"), cup_site.visitor()

    cup_site.clock.now += timedelta(hours=1)
    error = sqlite3.OperationalError("attempt to write a readonly database")
    error.sqlite_errorcode = sqlite3.SQLITE_READONLY
    monkeypatch.setattr(AccountStore, "transaction", raising(error))
    assert kyoto.get("/team/kyoto").status_code == 200
    answer = guest.post("/log-in", {"name": "kyoto", "password": PASSWORD}, page="/log-in", headers=JSON)
    assert answer.status_code == 503
    assert "the host must permit it" in answer.json()["error"]


def test_a_full_disk_is_no_good_health(cup_site, monkeypatch):
    """Before the disk is full as well as when nothing can be written; a supervisor learns no paths."""
    guest = cup_site.visitor()
    assert guest.get("/health").json() == {"phase": "anonymize"}
    usage = shutil.disk_usage(cup_site.folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=(32 << 20) - 1))
    answer = guest.get("/health", headers=JSON)
    assert (answer.status_code, "no room left" in answer.json()["error"]) == (503, True)
    assert str(cup_site.folder) not in answer.text
    monkeypatch.undo()
    assert guest.get("/health").status_code == 200
    cup_site.site.uploads.rmdir()
    cup_site.site.uploads.write_text("")
    assert guest.get("/health").status_code == 503
