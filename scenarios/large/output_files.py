"""Output files that appear together when all are complete, or not at all."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from metrics.files import PRIVATE
from scenarios.large.private_folder import private_folder
from scenarios.tables.released import STANDARD


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
            raise ValueError("the disk is full; nothing was written; TMPDIR may name another disk") from None
        if error.errno == errno.EFBIG:
            raise ValueError("a file would exceed the largest size allowed; nothing was written") from None
        raise
