"""``tokumei doctor``: a sound installation passes, and each fault is found."""

import json
import os
import shutil
from importlib import metadata

import numpy as np
import pytest
from comparison_tools import played
from packaging.requirements import Requirement
from run_tools import invoke

from leaderboard import Store
from scenarios import BoardResult
from scenarios.checks.doctor import self_test
from scenarios.checks.doctor import self_test as packages
from scenarios.checks.doctor import self_test as places

pytestmark = pytest.mark.waits

CHECKS = ["python", "packages", "space", "database", "workers", "attack", "gate", "audit"]


@pytest.mark.thorough
def test_a_sound_installation_passes_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("doctor", "--json")
    assert done.exit_code == 0, done.output
    findings = {finding["check"]: finding for finding in json.loads(done.stdout)}
    assert [check for check in findings if not check.startswith("extra ")] == CHECKS
    assert {finding["status"] for finding in findings.values()} <= {"ok", "note"}
    assert findings["python"]["details"]["tokumei"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_the_quick_check_is_text_without_the_self_test(tmp_path):
    done = invoke("doctor", "--quick", "--db", tmp_path / "a.db")
    assert done.exit_code == 0
    assert "✓ database: " in done.stdout
    assert "audit" not in done.stdout


def test_a_missing_extra_is_a_note_and_a_missing_package_a_failure():
    stated = [
        "numpy>=1.26",
        "surely-not-there>=2; extra == 'odd'",
        'numpy<1; extra == "old"',
        "tokumei[odd]; extra == 't'",
    ]
    found = {finding.check: finding for finding in packages.check_packages(stated, ["odd", "old", "t"])}
    assert {check: finding.status for check, finding in found.items()} == {
        "packages": "ok",
        "extra odd": "note",
        "extra old": "note",
        "extra t": "ok",
    }
    assert found["extra odd"].text == "surely-not-there is missing"
    assert found["extra odd"].advice == "pip install 'tokumei[odd]'"
    assert found["extra old"].text == f"numpy<1 is needed, {metadata.version('numpy')} is there"
    (broken,) = packages.check_packages(["surely-not-there"])
    assert (broken.status, broken.advice) == ("failed", "pip install --upgrade tokumei")


@pytest.mark.parametrize(
    ("installed", "requirement", "met"),
    [
        ("2.10.1", "a>=2.9", True),
        ("3.0.0", "a>=2.1,<3", False),
        ("3.0.0rc1", "a<3", False),
        ("2.0", "a==2", True),
        ("2.0", "a!=2.0.0", False),
        ("1.5", "a[binary]>1.4,<=1.5", True),
        ("unknown", "a>=1", False),
    ],
)
def test_versions_are_compared_as_numbers(monkeypatch, installed, requirement, met):
    monkeypatch.setattr(metadata, "version", lambda name: installed)
    assert (packages.unmet(Requirement(requirement)) == "") == met


def test_an_old_python_and_a_checkout_that_is_not_installed_are_said(monkeypatch):
    monkeypatch.setattr(packages, "OLDEST", (99, 0))
    assert packages.check_python().status == "failed"

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", absent)
    assert packages.check_packages()[0].advice == "pip install ."


@pytest.mark.thorough
def test_a_database_is_tried_and_not_changed(tmp_path):
    path = tmp_path / "a.db"
    with Store(path) as store:
        store.add(played(0, plays=2))
    before = path.read_bytes()
    finding = places.check_database(str(path))
    assert (finding.status, finding.details) == ("ok", {"results": 24})
    assert path.read_bytes() == before
    assert places.check_database(str(tmp_path / "new.db")).status == "ok"
    assert os.listdir(tmp_path) == ["a.db"]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("content", [b"no database at all", b""])
def test_a_file_that_is_no_database_of_results(tmp_path, content):
    path = tmp_path / "a.db"
    path.write_bytes(content)
    assert places.check_database(str(path)).status == ("failed" if content else "ok")
    assert invoke("doctor", "--quick", "--db", path).exit_code == bool(content)


def test_a_folder_that_does_not_exist_and_a_password(tmp_path):
    assert places.check_database(str(tmp_path / "none" / "a.db")).status == "failed"
    finding = places.check_database("postgresql+psycopg://me:secret@127.0.0.1:1/none")
    assert finding.status == "failed"
    assert "secret" not in finding.text


def test_scarce_space_is_a_note(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 9, 1))
    assert places.check_space(tmp_path).status == "note"


def board(**strengths):
    """Board on which the attack on each defense succeeds with the given rate."""
    return BoardResult(
        [
            result
            for defense, weakened in strengths.items()
            for result in played(0, plays=5, defenses=(defense,), weakened=weakened)
        ]
    )


def test_a_failing_attack_and_a_gate_that_lets_everything_pass_are_found():
    found = {finding.check: finding for finding in self_test.check_play(lambda: board(Identity=0.0, Constant=0.0))}
    assert {check: finding.status for check, finding in found.items()} == {
        "workers": "ok",
        "attack": "failed",
        "gate": "failed",
    }
    assert "refuses Constant, Identity" in found["gate"].text


def test_workers_that_do_not_play_are_found():
    def broken():
        raise OSError("no processes left")

    (finding,) = self_test.check_play(broken)
    assert "OSError: no processes left" in finding.text
    assert [finding.status for finding in self_test.check_play(lambda: BoardResult([]))] == ["failed"]


def test_an_audit_that_misses_the_broken_mechanism_is_found(monkeypatch):
    assert self_test.check_audit(np.random.default_rng(5)).status == "ok"
    monkeypatch.setattr(self_test, "CLAIMED", 2.0)
    assert self_test.check_audit().status == "failed"
    monkeypatch.setattr(self_test, "CLAIMED", 0.5)
    monkeypatch.setattr(self_test, "TRUE_EPSILON", 0.5)
    assert self_test.check_audit().status == "failed"
