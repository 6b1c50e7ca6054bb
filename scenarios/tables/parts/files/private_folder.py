"""Private temporary folders that are removed even if the process is killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_WATCH = """
import os, sys
said = sys.stdin.buffer.read().split(b"\\0")
left = [folder for folder in set(said) if folder and said.count(folder) == 1 and os.path.lexists(folder)]
if left:
    import shutil
    for folder in left:
        shutil.rmtree(folder, ignore_errors=True)
"""
"""Waits until the other end of its input is closed, which happens however a process ends.

It is told of a folder when it is made, and again when it is removed. Only after a kill does it import `shutil`, which
takes half of its time.
"""

_watchers: dict[int, subprocess.Popen[bytes]] = {}
"""Watchers by the number of their process: a fork of it starts its own."""


@contextmanager
def private_folder(parent: Path | None = None) -> Iterator[Path]:
    """Temporary folder that nobody but the owner can open; it is removed at the end.

    A second process waits for the end of this one and removes its folders, so that a kill leaves nothing behind.

    Parameters
    ----------
    parent : Path, optional
        Where the folder is made; by default where the system keeps temporary files.

    Raises
    ------
    ValueError
        If no folder can be made there.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="tokumei-", dir=parent))
    except OSError as error:
        raise ValueError(f"{parent or tempfile.gettempdir()}: no temporary folder can be made ({error})") from None
    # The process may go to another folder before the end.
    name = os.fsencode(folder.absolute()) + b"\0"
    _tell_watcher(name)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _tell_watcher(name)


def _tell_watcher(name: bytes) -> None:
    """Tell the watcher of this process, and start it before."""
    if os.getpid() not in _watchers:
        # Ctrl-C does not reach it, and it keeps no folder of the user's from being removed.
        started = subprocess.Popen(  # noqa: S603 (own program)
            [sys.executable, "-I", "-S", "-c", _WATCH],
            bufsize=0,
            stdin=subprocess.PIPE,
            start_new_session=True,
            cwd=os.sep,
        )
        # If two threads start one, the second ends at once.
        _watchers.setdefault(os.getpid(), started)
    pipe = _watchers[os.getpid()].stdin
    assert pipe is not None  # noqa: S101 (opened above)
    # If somebody ended the watcher, only a kill leaves a folder behind.
    with suppress(BrokenPipeError):
        pipe.write(name)
