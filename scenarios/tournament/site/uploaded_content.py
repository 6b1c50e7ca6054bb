"""Content of an uploaded file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class UploadedContent:
    """Content of an uploaded file, which may be given to a worker process.

    Attributes
    ----------
    stored : bytes or Path
        The bytes themselves if they are few, otherwise a private file, which is removed when the request ends.
    """

    stored: bytes | Path

    def read(self) -> bytes:
        """All bytes.

        Raises
        ------
        OSError
            If the file cannot be read.
        """
        return self.stored if isinstance(self.stored, bytes) else self.stored.read_bytes()
