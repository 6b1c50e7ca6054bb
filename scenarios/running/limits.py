"""How long a trial may take and how much memory it may use."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# What numpy, pandas and the interpreter themselves need now and then, so that no smaller limit makes sense.
LEAST_MEMORY = 16 * UNITS["M"]
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """Limits of one trial, and of the making of one release.

    Parameters
    ----------
    time : float
        Wall-clock seconds; a worker process that takes longer is killed.
    memory : int
        Bytes above what the worker process held when it turned to the release.

    Raises
    ------
    ValueError
        If a limit is not positive, not finite, or too small for anything to be played.
    """

    time: float = 600.0
    memory: int = 4 * UNITS["G"]

    def __post_init__(self) -> None:
        if not (math.isfinite(self.time) and self.time > 0):
            raise ValueError(f"time limit: must be a positive number of seconds, got {self.time!r}")
        if self.memory < LEAST_MEMORY:
            raise ValueError(f"memory limit: must be at least {written_size(LEAST_MEMORY)}, got {self.memory}")


def read_size(text: str) -> int:
    """Bytes of a size such as ``4G``, ``500M`` or ``1.5 GiB`` (powers of 1024).

    Raises
    ------
    ValueError
        If the text is no size.
    """
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is no size; write one such as 4G or 500M")
    return int(float(found[1]) * UNITS[found[2].upper()])


def written_size(size: int) -> str:
    """A number of bytes for people, ``4G``: in the largest unit of which there is at least one."""
    unit = max((name for name in UNITS if size >= UNITS[name]), key=UNITS.__getitem__)
    return f"{size / UNITS[unit]:.4g}{unit}"
