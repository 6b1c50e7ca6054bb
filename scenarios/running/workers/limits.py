"""Limits of time and memory for one trial."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from metrics.columns import refuse, require

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# The interpreter, numpy and pandas themselves may allocate this much, so smaller limits make no sense.
LEAST_MEMORY = 16 * UNITS["M"]
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """Limits of time and memory for one trial, and for making one release.

    Parameters
    ----------
    time : float
        Wall-clock seconds; a worker process that takes longer is killed.
    memory : int
        Bytes in addition to those that the worker process held when it began the release.

    Raises
    ------
    ValueError
        If a limit is not positive, not finite, or too small for any trial.
    """

    time: float = 600.0
    memory: int = 4 * UNITS["G"]

    def __post_init__(self) -> None:
        require(
            math.isfinite(self.time) and self.time > 0,
            f"time limit: must be a positive number of seconds, got {self.time!r}",
        )
        refuse(
            self.memory < LEAST_MEMORY,
            f"memory limit: must be at least {written_size(LEAST_MEMORY)}, got {self.memory}",
        )


def read_size(text: str) -> int:
    """Parse a size such as ``4G``, ``500M`` or ``1.5 GiB`` (powers of 1024) as a number of bytes.

    Raises
    ------
    ValueError
        If the text is not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no size; write one such as 4G or 500M")
    return int(float(match[1]) * UNITS[match[2].upper()])


def written_size(size: int) -> str:
    """Format a number of bytes in the largest unit of which it holds at least one, such as ``4G``."""
    unit = max((name for name in UNITS if size >= UNITS[name]), key=UNITS.__getitem__)
    return f"{size / UNITS[unit]:.4g}{unit}"
