"""Methods and files that call `os._exit`."""

import os

import pytest
from run_tools import tokumei_here

from scenarios.checks.conformance.suite import raised_exits

DIES = """import os

from defenses import Identity


class Dies(Identity):
    def apply(self, records, rng):
        os._exit(9)
"""


def test_a_method_that_ends_the_process_fails_its_check_in_words(tmp_path):
    (tmp_path / "dies_at_once.py").write_text(DIES)
    done = tokumei_here("check", "dies_at_once:Dies", cwd=tmp_path, check=1)
    assert "FAILED  releases an ordinary table: SystemExit: os._exit(9) (dies_at_once.py, line 8)" in done.stdout


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
