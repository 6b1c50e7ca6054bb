"""A temporary file that is sent once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from anyio import to_thread

_CHUNK = 1 << 20


def read_once(path: Path) -> AsyncIterator[bytes]:
    """Content of a file, chunk by chunk. The file has no name from now on, so that nothing is left however this ends.

    Parameters
    ----------
    path : Path
        The file.
    """
    file = path.open("rb")
    path.unlink()

    async def chunks() -> AsyncIterator[bytes]:
        with file:
            while chunk := await to_thread.run_sync(file.read, _CHUNK):
                yield chunk

    return chunks()
