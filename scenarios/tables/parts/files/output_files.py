"""Output files that appear together when all are complete, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from metrics.columns import PRIVATE
from scenarios.tables.released import STANDARD

# Private temporary folders that are removed even if the process is killed.

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

It reads of a folder when it is made, and again when it is removed. Only after a kill does it import `shutil`, which
takes half of its time.
"""

_watchers: dict[int, subprocess.Popen[bytes]] = {}
"""Watchers by the number of their process: a fork of it starts its own."""


@contextmanager
def private_folder(parent: Path | None = None) -> Iterator[Path]:
    """Temporary folder that nobody but the owner can open; it is removed at the end.

    A second process waits for the end of this one and removes its folders, so that a kill leaves nothing behind.
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


_NO_SPACE = 1 << 20
"""A disk with less free space than this is full: a last piece that did not fit may leave some bytes free."""


@dataclass
class OutputFiles:
    """Files that are written aside and renamed at the end.

    Each is written in a private folder beside its place. That folder is removed however the process ends.
    """

    _stack: ExitStack = field(default_factory=ExitStack, repr=False)
    _unfinished: list[tuple[BinaryIO, Path, Path, bool]] = field(default_factory=list, repr=False)

    def open(self, path: str, *, private: bool = False) -> BinaryIO:
        """Open a new output; `private` lets nobody but the owner read it.

        ``-`` is standard output. Devices and pipes, such as ``/dev/null``, are written in place.
        """
        target = Path(path)
        if path == STANDARD:
            return sys.stdout.buffer
        if target.exists() and not target.is_file():
            return self._stack.enter_context(target.open("wb"))
        unfinished = self._stack.enter_context(private_folder(target.absolute().parent)) / "unfinished"
        file = self._stack.enter_context(unfinished.open("xb"))
        self._unfinished.append((file, unfinished, target, private))
        return file

    def full_disk(self) -> str:
        """Words for an error of a full disk: which of the disks of outputs and of temporary files has no space left."""
        for _, _, target, _ in self._unfinished:
            folder = target.absolute().parent
            if shutil.disk_usage(folder).free < _NO_SPACE:
                return f"{folder}: the disk is full; free some space, or write to another disk"
        if shutil.disk_usage(tempfile.gettempdir()).free < _NO_SPACE:
            return "the disk of temporary files is full; free some space, or set TMPDIR to another disk"
        return "a disk is full, that of an output or of temporary files (TMPDIR)"

    def finish(self) -> None:
        """Flush all files to the disk, and then put them in their places."""
        for file, _, _, private in self._unfinished:
            file.flush()
            if private:
                os.fchmod(file.fileno(), PRIVATE)
            os.fsync(file.fileno())
        for _, unfinished, target, _ in self._unfinished:
            os.replace(unfinished, target)


@contextmanager
def output_files() -> Iterator[OutputFiles]:
    """Outputs that are put in their places if no exception is raised, and removed otherwise."""
    outputs = OutputFiles()
    try:
        with outputs._stack:
            yield outputs
            outputs.finish()
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ValueError(f"{outputs.full_disk()}; nothing was written") from None
        if error.errno == errno.EFBIG:
            raise ValueError("a file would exceed the largest size allowed; nothing was written") from None
        raise
