"""Released tables in files: reading them with the roles of their columns, writing them without overwriting."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from defenses.recoding.pseudonymization import is_pseudonym
from scenarios.files.toml_file import read_bytes, read_toml
from scenarios.tables.roles import Roles
from scenarios.tables.text_table import text_table

STANDARD = "-"
PRIVATE = 0o600


@dataclass(frozen=True)
class ReleasedTable:
    """A released table from a file.

    Attributes
    ----------
    frame : DataFrame, shape (rows, columns)
        Released cells as text, None where missing.
    quasi_identifiers, sensitive : tuple of str
        The roles of its columns.
    notes : tuple of str
        What was inferred.
    """

    frame: pd.DataFrame
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    notes: tuple[str, ...]


def input_path(name: str) -> Path:
    """Path of an input; ``-`` is standard input."""
    return Path("/dev/stdin") if name == STANDARD else Path(name)


def read_roles(roles: Path | None) -> Roles:
    """A roles file, or roles that declare nothing."""
    return Roles() if roles is None else read_toml(roles, read_bytes(roles), Roles)


def read_released(path: Path, roles: Path | None) -> ReleasedTable:
    """Read a released table (CSV or Parquet) as cells.

    Parameters
    ----------
    path : Path
        The table.
    roles : Path, optional
        The roles file of the original table; identifiers that it names need not be there. Without it, every column
        is a quasi-identifier.

    Raises
    ------
    ValueError
        If a file cannot be read, an identifier was released, or a quasi-identifier or sensitive column is missing.
    """
    declared = read_roles(roles)
    columns, notes = text_table(path, read_bytes(path), declared.separator)
    frame = pd.DataFrame(
        {
            name: np.array([*column.texts.to_pylist(), None], dtype=object)[column.codes]
            for name, column in columns.items()
        }
    )
    for name in declared.identifiers:
        if name in frame.columns and not frame[name].dropna().map(is_pseudonym).all():
            raise ValueError(f"{path}: column {name!r} is an identifier and was released")
    other = [name for name in frame.columns if name not in declared.sensitive]
    quasi_identifiers = other if declared.quasi_identifiers is None else declared.quasi_identifiers
    for name in (*quasi_identifiers, *declared.sensitive):
        if name not in frame.columns:
            raise ValueError(f"{path}: there is no column {name!r}; the table has {', '.join(frame.columns)}")
    if declared.quasi_identifiers is None:
        notes = [*notes, "no roles declared: every column is a quasi-identifier"]
    return ReleasedTable(frame, tuple(quasi_identifiers), tuple(declared.sensitive), tuple(notes))


def refuse_existing(outputs: Sequence[str | None], *, inputs: Sequence[str | Path | None] = (), force: bool) -> None:
    """Make sure that outputs replace nothing that they must not.

    Raises
    ------
    ValueError
        If an output exists already and may not be replaced, is one of the inputs, has no folder, or two are one.
    """
    named = [output for output in outputs if output is not None]
    places = [output if output == STANDARD else str(Path(output).resolve()) for output in named]
    sources = {str(Path(source).resolve()) for source in inputs if source is not None and source != STANDARD}
    for output, place in zip(named, places, strict=True):
        if places.count(place) > 1:
            raise ValueError(f"{output} is named for two outputs")
        if place in sources:
            raise ValueError(f"{output} is an input and would be lost")
        if place == STANDARD:
            continue
        if Path(place).exists() and not force:
            raise ValueError(f"{output} exists; --force replaces it")
        if not Path(place).parent.is_dir():
            raise ValueError(f"there is no folder {Path(place).parent}")


def write_text(text: str, path: str, *, private: bool = False) -> None:
    """Write a file in one go, readable by its owner alone where `private`; ``-`` is standard output.

    Raises
    ------
    OSError
        If the file cannot be written; what was there before is then still there.
    """
    if path == STANDARD:
        sys.stdout.write(text)
        return
    unfinished = f"{path}.{os.getpid()}.part"
    try:
        with open(
            os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE if private else 0o666),
            "w",
            encoding="utf-8",
            newline="",
        ) as file:
            file.write(text)
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise


def as_csv(frame: pd.DataFrame, separator: str = ",") -> str:
    """A table as CSV text; a missing value is an empty field."""
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False, sep=separator, lineterminator="\n")
    return buffer.getvalue()
