"""Files of a table, and their state."""

from __future__ import annotations

from pathlib import Path


def part_files(path: Path) -> tuple[Path, ...]:
    """Files of a table, in the order of their names: the file itself, or the Parquet files of a folder.

    Files whose names begin with ``.`` or ``_`` are no parts: writers keep unfinished files and metadata there.

    Raises
    ------
    ValueError
        If there is no such file, a folder holds no Parquet file, or its subfolders hold some.
    """
    if not path.exists():
        raise ValueError(f"{path}: there is no such file")
    if not path.is_dir():
        return (path,)
    found = (part for part in path.rglob("*.parquet") if not _is_hidden(part.relative_to(path)))
    # A link without its file stays, so that reading it fails: without it, rows would be missing unnoticed.
    files = sorted(part for part in found if not part.is_dir())
    nested = [part for part in files if part.parent != path]
    if nested:
        raise ValueError(
            f"{path}: holds Parquet files in subfolders, such as {nested[0].relative_to(path)}, which are not read; "
            "name a folder that holds all parts itself"
        )
    if not files:
        raise ValueError(f"{path}: is a folder without Parquet files (*.parquet); name one with the parts of a table")
    return tuple(files)


def _is_hidden(part: Path) -> bool:
    return any(name.startswith((".", "_")) for name in part.parts)


def file_state(part: Path) -> tuple[int, int, int]:
    """Size, time of the last change, and number of a file.

    Raises
    ------
    ValueError
        If it cannot be looked at.
    """
    try:
        status = part.stat()
    except OSError as error:
        raise ValueError(f"{part}: cannot be read ({error.strerror})") from None
    return status.st_size, status.st_mtime_ns, status.st_ino


def begins_as_parquet(part: Path) -> bool:
    """Tell whether a file begins as Parquet files do.

    Raises
    ------
    ValueError
        If it cannot be read.
    """
    try:
        with part.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError as error:
        raise ValueError(f"{part}: cannot be read ({error.strerror})") from None
