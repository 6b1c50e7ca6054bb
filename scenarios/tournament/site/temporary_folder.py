"""The folder of a server's sockets, which a killed server leaves behind and the next one removes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.util import get_temp_dir
from pathlib import Path

_LONGEST = 4096
"""Longest name in bytes."""
_PREFIX = "pymp-"
"""How Python begins the name of such a folder."""


@contextmanager
def temporary_folder_named(handle: int) -> Iterator[None]:
    """Name the folder in a file while the server runs; remove the one that the file names still.

    Parameters
    ----------
    handle : int
        Descriptor of the file, which no other server may use meanwhile.
    """
    _remove(os.pread(handle, _LONGEST, 0))
    os.ftruncate(handle, 0)
    os.pwrite(handle, os.fsencode(get_temp_dir()), 0)
    try:
        yield
    finally:
        # Python removes the folder itself when it ends in order.
        os.ftruncate(handle, 0)


def _remove(name: bytes) -> None:
    folder = Path(os.fsdecode(name))
    if folder.is_absolute() and folder.name.startswith(_PREFIX) and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
