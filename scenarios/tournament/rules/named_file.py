"""Errors of the system that name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def named_file(path: Path) -> Iterator[None]:
    """Let errors of the system name a file; those of a write, such as that the disk is full, name none by themselves.

    Parameters
    ----------
    path : Path
        The file.
    """
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
