"""Which tables are read in parts, and how much memory that may take."""

from __future__ import annotations

import re
from pathlib import Path

from scenarios.tables.parts.table_files import LEAST_MEMORY, machine_memory

LARGEST_CSV, LARGEST_COMPRESSED, LARGEST_PARQUET = 512 << 20, 64 << 20, 96 << 20
"""Largest size in bytes of a file that is read at once, by its kind.

It does not depend on the machine: which way a table is read decides which random numbers its release takes.
"""
_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def is_large(path: Path, *, asked: bool = False) -> bool:
    """Tell whether a table is read in parts: a folder, a large file, or any table if that is asked for."""
    if asked or path.is_dir():
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(4)
    largest = LARGEST_CSV
    if head == b"PAR1":
        largest = LARGEST_PARQUET
    elif head[:2] == b"\x1f\x8b":
        largest = LARGEST_COMPRESSED
    return path.stat().st_size > largest


def memory_bytes(text: str | None) -> int:
    """Bytes of memory that an option names, such as ``8GB``; half of the machine's where it names none.

    Raises
    ------
    ValueError
        If the text is no such size, or it is below the least memory.

    Examples
    --------
    >>> memory_bytes("8GB"), memory_bytes("512 MiB")
    (8000000000, 536870912)
    """
    if text is None:
        return max(LEAST_MEMORY, machine_memory() // 2)
    match = re.fullmatch(r"(\d+(?:\.\d+)?) *([A-Za-z]+)", text.strip())
    units = {unit.lower(): size for unit, size in _UNITS.items()}
    if match is None or match[2].lower() not in units:
        raise ValueError(f"--memory {text}: is no size; write a number with a unit ({', '.join(_UNITS)}), such as 8GB")
    size = int(float(match[1]) * units[match[2].lower()])
    if size < 2 * LEAST_MEMORY:
        raise ValueError(f"--memory {text}: is too little; {2 * LEAST_MEMORY / 2**20:.0f}MiB is the least")
    return size
