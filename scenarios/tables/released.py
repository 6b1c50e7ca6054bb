"""Released tables in files: reading their cells and roles, and writing outputs safely."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Collection, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from metrics.columns import PRIVATE, Domain, check_new_file, refuse, require, write_atomically
from scenarios.tables.note import Note
from scenarios.tables.reading import (
    TextColumn,
    WrittenCells,
    read_text_table,
    spelling_domain,
    unread_notes,
    with_one_spelling,
)
from scenarios.tables.released_classes import CodedCells, ReleasedTable
from scenarios.tables.roles import Roles, read_roles
from scenarios.tables.toml.toml_file import read_bytes

STANDARD = "-"


def input_path(name: str) -> Path:
    """Path of an input; ``-`` is standard input."""
    return Path("/dev/stdin") if name == STANDARD else Path(name)


def text_frame(columns: Mapping[str, TextColumn]) -> pd.DataFrame:
    """Columns of a file as text, None where missing."""
    return pd.DataFrame({name: column.text_values() for name, column in columns.items()})


def spelling_domains(
    columns: Mapping[str, TextColumn], declared: Roles, names: Sequence[str]
) -> dict[str, Domain | None]:
    """What is known about the spelling of some columns' cells, of those that the release has."""
    return {name: spelling_domain(declared.columns.get(name), columns[name]) for name in names if name in columns}


def read_released(
    path: Path,
    roles: Path | None,
    *,
    reading: Mapping[str, Any] | None = None,
    written: WrittenCells | None = None,
    spelling: Mapping[str, Domain | None] | None = None,
) -> ReleasedTable:
    """Read a released table (CSV or Parquet) as cells.

    Identifiers that the roles file of the original names may be missing. Without a roles file, every column is a
    quasi-identifier.
    """
    declared = read_roles(roles, reading)
    columns, notes = released_columns(path, read_bytes(path), declared)
    cells = (WrittenCells.of(declared, roles) if written is None else written).read(columns)
    quasi_identifiers, sensitive, role_notes = released_roles(path, tuple(cells), declared)
    known = spelling_domains(cells, declared, (*quasi_identifiers, *sensitive)) if spelling is None else spelling
    coded = {name: CodedCells.of_text(column) for name, column in with_one_spelling(cells, known, stars=True).items()}
    unread = unread_notes({name: cells[name] for name in known if name in cells}, declared.columns)
    return ReleasedTable(path, coded, quasi_identifiers, sensitive, (*notes, *role_notes, *unread), declared, known)


def released_columns(
    path: Path, data: bytes, declared: Roles, known: Collection[str] = ()
) -> tuple[dict[str, TextColumn], list[Note]]:
    """Columns of a released file and notes on what was inferred."""
    columns, notes, _ = read_text_table(path, data, declared, released=True)
    if declared.separator is not None and known and not set(columns) & set(known):
        columns, notes, _ = read_text_table(path, data, declared.model_copy(update={"separator": None}), released=True)
    identifiers = {name: columns[name] for name in declared.identifiers if name in columns}
    refuse_identifiers(path, text_frame(identifiers), declared.identifiers)
    return columns, notes


def released_roles(
    path: Path, names: Sequence[str], declared: Roles
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Note, ...]]:
    """Quasi-identifiers and sensitive columns of a released table, and notes on what was inferred."""
    other = [name for name in names if name not in declared.sensitive]
    quasi_identifiers = other if declared.quasi_identifiers is None else declared.quasi_identifiers
    for name in (*quasi_identifiers, *declared.sensitive):
        refuse(name not in names, f"{path}: there is no column {name!r}; the table has {', '.join(names)}")
    inferred = Note("all quasi-identifiers", numbers={"missing": "roles", "others": ""})
    notes = (inferred,) if declared.quasi_identifiers is None else ()
    return tuple(quasi_identifiers), tuple(declared.sensitive), notes


def refuse_identifiers(path: Path, frame: pd.DataFrame, identifiers: Sequence[str]) -> None:
    """Raise ValueError if a released table holds an identifier in clear; pseudonyms may be released."""
    present = [name for name in identifiers if name in frame.columns]
    if not present:
        return
    from defenses.recoding.pseudonymization import is_pseudonym

    for name in present:
        require(
            frame[name].dropna().map(is_pseudonym).all(), f"{path}: column {name!r} is an identifier and was released"
        )


def refuse_existing(outputs: Sequence[str | None], *, inputs: Sequence[str | Path | None] = (), force: bool) -> None:
    """Refuse outputs that would overwrite an input, an existing file or each other."""
    given = [output for output in outputs if output is not None]
    paths = [output if output == STANDARD else str(Path(output).resolve()) for output in given]
    sources = {str(Path(source).resolve()) for source in inputs if source is not None and source != STANDARD}
    for output, path in zip(given, paths, strict=True):
        refuse(paths.count(path) > 1, f"{output} is named for two outputs")
        refuse(path in sources, f"{output} is an input and would be lost")
        if path == STANDARD:
            continue
        refuse(Path(path).is_dir(), f"{output} is a folder; name a file")
        refuse(Path(path).exists() and not force, f"{output} exists; --force replaces it")
        check_new_file(Path(path))


def write_text(text: str, path: str, *, private: bool = False) -> None:
    """Write a text file atomically: readers see the old content or the new content, never a part."""
    if path == STANDARD:
        sys.stdout.write(text)
        return
    write_file(path, text.encode(), private=private)


def write_file(path: str, content: bytes, *, private: bool = False) -> None:
    """Write a file atomically; devices and pipes, such as ``/dev/null``, are written in place."""
    file = Path(path)
    if file.exists() and not file.is_file():
        file.write_bytes(content)
    else:
        write_atomically(file, content, mode=PRIVATE if private else None)


def as_csv(frame: pd.DataFrame, separator: str = ",") -> str:
    """A table as CSV text; a missing value is an empty field."""
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False, sep=separator, lineterminator="\n")
    return buffer.getvalue()


# Tables written as CSV or Parquet, as the name of the file says.

COMPRESSED, PARQUET = ".csv.gz", ".parquet"


def check_table_name(parameter: str, path: str | None) -> None:
    """Refuse a file whose suffix is none of ``.csv``, ``.csv.gz`` and ``.parquet``; a name without one means CSV."""
    if path is None or path == STANDARD:
        return
    name = Path(path).name.lower()
    suffix = Path(name).suffix
    require(
        suffix in ("", ".csv", PARQUET) or name.endswith(COMPRESSED),
        f"{parameter} {path}: tables are written as .csv, .csv.gz or .parquet, not as {suffix}",
    )


def write_table(frame: pd.DataFrame, path: str, separator: str = ",", *, private: bool = False) -> None:
    """Write a table as CSV or Parquet by the suffix of its name, atomically; `private` is for the owner alone."""
    name = Path(path).name.lower()
    if path == STANDARD or not name.endswith((COMPRESSED, PARQUET)):
        write_text(as_csv(frame, separator), path, private=private)
        return
    compressed = name.endswith(COMPRESSED)
    # The time of compression would differ from run to run.
    content = gzip.compress(as_csv(frame, separator).encode(), mtime=0) if compressed else _as_parquet(frame)
    write_file(path, content, private=private)


def _as_parquet(frame: pd.DataFrame) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    columns = [pa.array(cell_texts(column) if column.dtype == object else column) for _, column in frame.items()]
    buffer = BytesIO()
    parquet.write_table(pa.table(columns, names=list(map(str, frame.columns))), buffer)
    return buffer.getvalue()


def cell_texts(column: pd.Series[Any]) -> pd.Series[Any]:
    """Cells as text, None where missing."""
    return column.astype(str).where(column.notna(), None)
