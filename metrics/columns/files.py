"""Atomic replacement of files."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from metrics.columns.parameters import require

PRIVATE = 0o600
UNFINISHED = ".part"
"""End of the names of temporary files; such a name begins with a dot."""


def write_atomically(path: Path, content: bytes, *, mode: int | None = PRIVATE, durable: bool = False) -> None:
    """Write a file atomically: readers see the old content or the new content, never a part.

    The content is flushed to disk before it replaces the old one, so this also holds after a power failure.

    If the file cannot be written, an OSError is raised, and no temporary file is left. The old content stays, unless
    only the flush of the folder failed.

    - path: The file. A link is replaced, not followed.
    - mode: Permissions of the file, whatever the umask; None gives those of any new file under the umask.
    - durable: Flush the folder too, so that a power failure after this returns does not bring the old content back.
    """
    unfinished = _unfinished(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    handle = os.open(unfinished, flags, 0o666 if mode is None else PRIVATE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if mode is not None:
                os.fchmod(handle, mode)
            os.fsync(handle)
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(path.parent)


def check_new_file(path: Path) -> None:
    """Check that a file could be written, before the work that fills it: create a temporary file beside it.

    The file is neither created nor changed, and the temporary file is removed. If its folder does not exist or takes no
    new file, a ValueError is raised.
    """
    folder = path.absolute().parent
    require(folder.is_dir(), f"there is no folder {folder}")
    unfinished = _unfinished(path)
    try:
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE))
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None
    unfinished.unlink()


def _unfinished(path: Path) -> Path:
    """Name of a temporary file beside a file."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{UNFINISHED}")


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
