"""Starting the server, and inviting by command."""

import errno
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from datetime import timedelta
from pathlib import Path

import httpx
import psutil
import pytest
from click.testing import CliRunner
from run_tools import COMMAND, ROOT, start, wait_until
from site_tools import PASSWORD, Served, Visitor

from scenarios.commands import tournament_host
from scenarios.commands.cli import cli
from scenarios.commands.tournament import tournament
from scenarios.tournament.site import application
from scenarios.tournament.site.account_store import LIFETIME, remember_address, served_address
from scenarios.tournament.site.application import check_exposure, is_loopback, parsed_address, served_once


@pytest.fixture
def folder(first_phase, tmp_path):
    return shutil.copytree(first_phase, tmp_path / "cup")


def run(*arguments):
    return CliRunner().invoke(cli, ["tournament", *map(str, arguments)])


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("127.0.0.1:8000", "127.0.0.1", 8000), ("[::1]:80", "::1", 80), ("cup.example:443", "cup.example", 443)],
)
def test_addresses(text, host, port):
    assert parsed_address(text) == (host, port)


@pytest.mark.parametrize("text", ["", ":80", "127.0.0.1", "127.0.0.1:x", "::1:80", "a:70000", "127.0.0.1:-1"])
def test_wrong_addresses(text):
    with pytest.raises(ValueError, match="must be HOST:PORT"):
        parsed_address(text)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.1.5", "203.0.113.9", "cup.example.org", "localhost.evil.org"]
)
def test_a_public_address_needs_tls_or_a_proxy(host, folder):
    assert not is_loopback(host)
    with pytest.raises(ValueError, match="unencrypted"):
        check_exposure(host, proxy=None, certificate=None, key=None)
    check_exposure(host, proxy="10.0.0.1", certificate=None, key=None)
    shown = f"[{host}]" if ":" in host else host
    result = run("serve", folder, "--address", f"{shown}:0")
    assert result.exit_code == 2
    assert "--trust-proxy" in result.output


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_a_loopback_address_needs_neither(host):
    check_exposure(host, proxy=None, certificate=None, key=None)


def test_files_for_tls_must_fit(tmp_path):
    broken = tmp_path / "key.pem"
    broken.write_text("no key")
    with pytest.raises(ValueError, match="needs both"):
        check_exposure("0.0.0.0", proxy=None, certificate=broken, key=None)
    with pytest.raises(ValueError, match="cannot be used for TLS"):
        check_exposure("0.0.0.0", proxy=None, certificate=broken, key=broken)


def test_one_server_serves_a_tournament(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tournament_host, "start_server", lambda: None)
    with served_once(folder), pytest.raises(ValueError, match="served already"), served_once(folder):
        pass
    with served_once(folder):
        pass
    # An error of the server's own is no other server.
    with pytest.raises(BlockingIOError), served_once(folder):
        raise BlockingIOError
    with pytest.raises(ValueError, match="is no tournament"), served_once(tmp_path / "nothing"):
        pass
    assert run("serve", tmp_path / "nothing").exit_code == 2
    with served_once(folder):
        result = run("serve", folder, "--address", "127.0.0.1:0", "--scoring-jobs", "0")
    assert result.exit_code == 2
    assert "served already" in result.output
    assert "serving" not in result.output


@pytest.mark.parametrize(("options", "expected"), [((), True), (("--no-advance",), False)])
def test_a_server_closes_phases_unless_told_otherwise(folder, monkeypatch, options, expected):
    given = {}
    monkeypatch.setattr(tournament_host, "start_server", lambda: None)
    monkeypatch.setattr(application, "serve", lambda *_, **named: given.update(named))
    assert run("serve", folder, "--scoring-jobs", "0", *options).exit_code == 0
    assert given["advances"] is expected


def test_a_folder_that_was_restored_under_a_running_server_is_not_served_twice(folder, monkeypatch):
    """The lock in the folder goes with it; the one beside it stays until the server ends."""
    with served_once(folder):
        shutil.copytree(folder, folder.with_name("backup"))
        folder.rename(folder.with_name("broken"))
        folder.with_name("backup").rename(folder)
        with pytest.raises(ValueError, match="served already"), served_once(folder):
            pass
        # Another tournament in the same place is none of it.
        with served_once(shutil.copytree(folder, folder.with_name("other"))):
            pass
    assert [one.name for one in folder.parent.iterdir() if one.name.startswith(".")] == []
    with served_once(folder):
        pass
    # Who may not write beside the folder still has the lock in it.
    real = os.open

    def forbidden(path, *given, **named):
        if Path(path).parent == folder.parent:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return real(path, *given, **named)

    monkeypatch.setattr(os, "open", forbidden)
    with served_once(folder), pytest.raises(ValueError, match="served already"), served_once(folder):
        pass


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_stopped_server_ends_in_order(folder, number, code):
    """A process that died of the signal would leave semaphores behind, of which Python's resource tracker warns."""
    command = [*COMMAND, "tournament", "serve", str(folder), "--address", "127.0.0.1:0"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = re.search(r"serving .* at (http://127.0.0.1:\d+);", process.stdout.readline())[1]
        assert served_address(folder) == address
        # The signal may come before the server listens for it; a second one does no harm.
        time.sleep(3)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, errors) == (code, "\nInterrupted.\n" if code else "")


def running(processes):
    """Those of some processes that still run."""
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.long
def test_a_killed_server_leaves_no_process_and_the_next_one_no_files(attack_phase, tmp_path):
    """Workers for uploads and scoring end by themselves within seconds, and so does the server that forks them."""
    folder = shutil.copytree(attack_phase, tmp_path / "cup")
    lock = folder / "host" / "site.lock"
    process = start("tournament", "serve", folder, "--address", "127.0.0.1:0", cwd=tmp_path)
    try:
        address = re.search(r"at (http://127.0.0.1:\d+);", process.stdout.readline())[1]
        path = re.search(r"(/invitation/\S+)", run("invite", folder, "--host").output)[1]
        with httpx.Client(base_url=address, timeout=60) as client:
            host = Visitor(client)
            assert host.post(path, {"password": PASSWORD, "repeated": PASSWORD}, page=path).status_code == 303
            assert host.get("/host").status_code == 200, "the list of incidents comes from a worker for uploads"
        wait_until((folder / "host" / "results.db").exists)
        # The tracker of resources, the server of forks, a worker for uploads and one for scoring.
        started = wait_until(lambda: len(found := psutil.Process(process.pid).children(recursive=True)) >= 4 and found)
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: not running(started))
    sockets = Path(lock.read_text().partition(" ")[2])
    assert sockets.is_dir()
    with served_once(shutil.copytree(folder, tmp_path / "copy")):
        assert sockets.is_dir(), "a copy of the lock names the folder of a server that may still run"
    with served_once(folder):
        assert not sockets.exists()
    assert lock.read_text() == ""


def test_invitations_by_command(folder):
    result = run("invite", folder, "kyoto", "--url", "https://cup.example.org/", "--days", "2")
    assert result.exit_code == 0, result.output
    path = re.search(r"https://cup.example.org(/invitation/\S+)", result.output)[1]
    site = Served(folder)
    from starlette.testclient import TestClient

    with TestClient(site.app) as running:
        site.portal = running.portal
        from datetime import UTC, datetime

        site.clock.now = datetime.now(UTC)
        visitor = site.visitor()
        assert visitor.post(path, {"password": PASSWORD, "repeated": PASSWORD}, page=path).status_code == 303
    # Kyoto has a password now; the others are invited once.
    everybody = run("invite", folder, "--all")
    assert re.findall(r"^\w+", everybody.stdout, re.MULTILINE) == ["osaka", "nara"]
    assert "skipped 1 team: 1 has a password; `tokumei tournament invite" in everybody.stderr
    again = run("invite", folder, "--all").stderr
    assert again.startswith("no team needs a link: 1 has a password, 2 have a valid link; `tokumei tournament invite")


def test_links_lead_where_the_site_listened_last(folder):
    first = run("invite", folder, "kyoto")
    assert "\thttp://127.0.0.1:8000/invitation/" in first.stdout
    assert first.stderr.startswith("links lead to http://127.0.0.1:8000, where `serve` listens by default; ")
    remember_address(folder, "https://192.0.2.1:8443")
    then = run("invite", folder, "kyoto")
    assert "\thttps://192.0.2.1:8443/invitation/" in then.stdout
    assert "links lead to https://192.0.2.1:8443, where `serve` listened last; " in then.stderr
    given = run("invite", folder, "kyoto", "--url", "https://cup.example.org")
    assert "\thttps://cup.example.org/invitation/" in given.stdout
    assert given.stderr == ""


def test_links_of_commands_and_pages_hold_equally_long():
    option = next(one for one in tournament.commands["invite"].params if one.name == "days")
    assert timedelta(days=option.default) == LIFETIME


def test_a_sheet_of_invitations_is_private(folder, tmp_path):
    sheet = tmp_path / "sheet.html"
    result = run("invite", folder, "--all", "--host", "--html", sheet)
    assert result.exit_code == 0
    assert "invitation/" not in result.output
    assert stat.S_IMODE(sheet.stat().st_mode) == 0o600
    assert sheet.read_text().count("/invitation/") == 4
    assert "4 invitations written to" in result.output
    one = run("invite", folder, "kyoto", "--html", sheet).output
    assert f"1 invitation written to {sheet}; remove it once it is handed out" in one


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tokyo"], "there is no team"),
        ([], "whom?"),
        (["kyoto", "--url", "cup.example.org"], "--url"),
        (["kyoto", "--url", "https://cup.example.org/somewhere"], "--url"),
    ],
)
def test_wrong_invitations(folder, arguments, message):
    result = run("invite", folder, *arguments)
    assert result.exit_code == 2
    assert message in result.output
