"""Output files that appear together when all are complete, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from metrics.columns import PRIVATE
from scenarios.tables.parts.files.private_folder import private_folder
from scenarios.tables.released import STANDARD

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
        """Open a new output.

        Parameters
        ----------
        path : str
            The file; ``-`` is standard output. Devices and pipes, such as ``/dev/null``, are written in place.
        private : bool
            Let nobody but the owner read the file.

        Raises
        ------
        ValueError
            If no file can be made there.
        """
        target = Path(path)
        if path == STANDARD:
            return sys.stdout.buffer
        if target.exists() and not target.is_file():
            return self._stack.enter_context(target.open("wb"))
        folder = self._stack.enter_context(private_folder(target.absolute().parent))
        unfinished = folder / "unfinished"
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
        """Flush all files to the disk, and then put them in their places.

        Raises
        ------
        OSError
            If one cannot be written.
        """
        for file, _, _, private in self._unfinished:
            file.flush()
            if private:
                os.fchmod(file.fileno(), PRIVATE)
            os.fsync(file.fileno())
        for _, unfinished, target, _ in self._unfinished:
            os.replace(unfinished, target)


@contextmanager
def output_files() -> Iterator[OutputFiles]:
    """Outputs that are put in their places if no exception is raised, and removed otherwise.

    Raises
    ------
    ValueError
        If the disk is full or a file too large; in one line.
    """
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
