"""Methods and files that call `os._exit`."""

import os

import pytest
from run_tools import tokumei_here

from scenarios.checks.conformance import suite
from scenarios.checks.conformance.suite import raised_exits
from scenarios.running.workers.isolation import Limits

DIES = """import os

from defenses import Identity


class Dies(Identity):
    def apply(self, records, rng):
        os._exit(9)
"""


@pytest.mark.thorough
def test_a_method_that_ends_the_process_fails_its_check_in_words(tmp_path):
    (tmp_path / "dies_at_once.py").write_text(DIES)
    done = tokumei_here("check", "dies_at_once:Dies", cwd=tmp_path, check=1)
    assert "FAILED  releases an ordinary table: SystemExit: os._exit(9) (dies_at_once.py, line 8)" in done.stdout


KILLED = """import os, signal

from defenses import Identity


class Killed(Identity):
    def apply(self, records, rng):
        os.kill(os.getpid(), signal.SIGKILL)


class Sleeps(Identity):
    def apply(self, records, rng):
        import time

        time.sleep(1000)
"""


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("name", "said"), [("Killed", "its process ended with signal 9 (Killed)"), ("Sleeps", "took longer than 5 s")]
)
def test_a_method_that_kills_or_holds_its_process_fails_its_check_in_words(tmp_path, monkeypatch, name, said):
    monkeypatch.setattr(suite, "Limits", lambda time: Limits(time=5.0))
    (tmp_path / "ends_at_once.py").write_text(KILLED)
    done = tokumei_here("check", f"ends_at_once:{name}", cwd=tmp_path, check=1)
    assert "ok      its guarantee is a Guarantee" in done.stdout
    assert f"FAILED  releases an ordinary table: {said}" in done.stdout
    assert f"ends_at_once:{name}: 1 failed; the checks after it were not run" in done.stdout


def test_only_this_process_raises():
    ends = os._exit
    with raised_exits():
        with pytest.raises(SystemExit, match=r"os._exit\(3\)"):
            os._exit(3)
        child = os.fork()
        if not child:
            os._exit(5)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    assert os._exit is ends
