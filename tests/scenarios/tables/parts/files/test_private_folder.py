"""Private temporary folders go with their process, and one process removes them all."""

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from scenarios.tables.parts.files.output_files import private_folder


def watchers():
    """Numbers of the processes that wait for the end of this one."""
    return {child.pid for child in psutil.Process().children() if "-I" in child.cmdline()}


def test_folders_of_a_process_share_a_watcher(tmp_path):
    with private_folder(tmp_path):
        started = watchers()
        with private_folder(tmp_path) as second:
            assert second.stat().st_mode & 0o777 == 0o700
            assert watchers() == started
        assert not second.exists()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_after_a_kill_the_folders_are_removed_that_the_process_still_had(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output, write = os.pipe()
    with private_folder(tmp_path) as of_parent:
        child = os.fork()
        if child == 0:
            os.dup2(write, 1)
            os.close(write)
            with private_folder(tmp_path) as of_another:
                pass
            # Another process may make a folder of that name later.
            of_another.mkdir()
            with private_folder(Path()) as of_child:
                os.chdir("/")
                os.write(1, f"{of_another.name} {of_child.name}\n".encode())
                time.sleep(60)
            os._exit(0)
        os.close(write)
        with os.fdopen(output) as lines:
            of_another, of_child = lines.readline().split()
            assert {path.name for path in tmp_path.iterdir()} == {of_parent.name, of_another, of_child}
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            # The watcher holds the output too, and ends when it has removed the folders.
            assert not lines.read()
        assert {path.name for path in tmp_path.iterdir()} == {of_parent.name, of_another}
