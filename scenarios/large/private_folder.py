"""Private temporary folders that are removed even if the process is killed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_WATCH = """
import os, sys
sys.stdin.buffer.read()
if os.path.lexists(sys.argv[1]):
    import shutil
    shutil.rmtree(sys.argv[1], ignore_errors=True)
"""
"""Waits until the other end of its input is closed, which happens however a process ends.

After a kill alone it imports `shutil`, which takes half of its time.
"""


@contextmanager
def private_folder(parent: Path | None = None) -> Iterator[Path]:
    """Temporary folder that nobody but the owner can open; it is removed at the end.

    A second process waits for the end of this one and removes the folder, so that a kill leaves nothing behind.

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
    command = [sys.executable, "-I", "-S", "-c", _WATCH, str(folder)]
    watcher = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)  # noqa: S603 (own program)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if watcher.stdin is not None:
            watcher.stdin.close()
        watcher.wait()
