"""Parquet and CSV files as one table that DuckDB reads in parts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from metrics.columns import refuse, require
from scenarios.tables.note import Note
from scenarios.tables.parts.files.csv_files import (
    begins_with,
    check_csv,
    csv_source,
    large_csv_header,
    literal,
    quoted,
    utf8_copy,
)
from scenarios.tables.parts.files.output_files import private_folder
from scenarios.tables.reading import (
    COMPRESSED,
    MOST_SHOWN,
    PARQUET,
    CsvHeader,
    blank_rows_words,
    column_names,
    opened_parquet,
)
from scenarios.tables.released import STANDARD, input_path
from scenarios.tables.roles import Roles

if TYPE_CHECKING:
    import duckdb

# Columns and types of Parquet files that are parts of one table.


def parquet_fields(schemas: Mapping[Path, Any]) -> list[str]:
    """Names of the columns, which all parts must share with their types."""
    names: list[str] = next(iter(schemas.values())).names
    require(names, f"{next(iter(schemas))}: has no column")
    typed: dict[str, tuple[Path, Any]] = {}
    origin = next(iter(schemas))
    for part, schema in schemas.items():
        for name in names:
            refuse(
                name not in schema.names, f"{part}: lacks the column {name!r} that {origin.name} has; parts must agree"
            )
        for position, name in enumerate(schema.names, 1):
            require(name, f"{part}: column {position} has no name; give it one")
            refuse(name not in names, f"{part}: has the column {name!r} that {origin.name} lacks; parts must agree")
            refuse(schema.names.count(name) > 1, f"{part}: column {name!r} appears twice; column names must differ")
            kind = _plain_type(schema.field(name).type)
            if kind is None:
                continue
            other, first = typed.setdefault(name, (part, kind))
            refuse(kind != first, f"{part}: column {name!r} holds {kind}, but {first} in {other.name}")
    return names


def _plain_type(kind: Any) -> Any:
    """Type of a column, by which parts are compared; None for a column without values or type."""
    import pyarrow as pa

    if pa.types.is_null(kind):
        return None
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(value) or pa.types.is_string_view(value) else value


def typed_by_parts(schemas: Mapping[Path, Any]) -> dict[Path, dict[str, Path]]:
    """Columns without a type of each part, each with a part that gives it one."""
    typed_by: dict[Path, dict[str, Path]] = {}
    for name in next(iter(schemas.values())).names:
        typed = [part for part, schema in schemas.items() if _plain_type(schema.field(name).type) is not None]
        for part in schemas:
            if typed and _plain_type(schemas[part].field(name).type) is None:
                typed_by.setdefault(part, {})[name] = typed[0]
    return typed_by


def parquet_schema(part: Path) -> Any:
    """Arrow schema of a Parquet file; ValueError if it is none."""
    with opened_parquet(part, part) as file:
        return file.schema_arrow


# Files of a table, and their state.


def part_files(path: Path) -> tuple[Path, ...]:
    """Files of a table, in the order of their names: the file itself, or the Parquet files of a folder.

    Files whose names begin with ``.`` or ``_`` are no parts: writers keep unfinished files and metadata there.
    """
    require(path.exists(), f"{path}: there is no such file")
    if not path.is_dir():
        return (path,)
    relative = ((part, part.relative_to(path).parts) for part in path.rglob("*.parquet"))
    found = (part for part, names in relative if not any(name.startswith((".", "_")) for name in names))
    # A link without its file stays, so that reading it fails: without it, rows would be missing unnoticed.
    files = sorted(part for part in found if not part.is_dir())
    nested = [part for part in files if part.parent != path]
    if nested:
        raise ValueError(
            f"{path}: holds Parquet files in subfolders, such as {nested[0].relative_to(path)}, which are not read; "
            "name a folder that holds all parts itself"
        )
    require(files, f"{path}: is a folder without Parquet files (*.parquet); name one with the parts of a table")
    return tuple(files)


def file_state(part: Path) -> tuple[int, int, int]:
    """Size, time of the last change, and number of a file."""
    try:
        status = part.stat()
    except OSError as error:
        raise ValueError(f"{part}: cannot be read ({error.strerror})") from None
    return status.st_size, status.st_mtime_ns, status.st_ino


LEAST_MEMORY = 1 << 28
"""Least memory in bytes."""
TOGETHER = 16
"""Number of columns whose values are counted in one reading of the files."""


def machine_memory() -> int:
    """Bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# Where the parts of a table are read: on this machine, or by an engine that the caller passes.

Result = TypeVar("Result")


class Engine(Protocol):
    """Where the parts of a table are read."""

    def over_parts(self, files: TableFiles, function: Callable[[TableFiles], Result]) -> Iterator[Result]:
        """Apply a function to the parts of a table."""


@dataclass(frozen=True)
class OneMachine:
    """All parts are read together, on this machine."""

    def over_parts(self, files: TableFiles, function: Callable[[TableFiles], Result]) -> Iterator[Result]:
        """Apply a function to the whole table."""
        yield function(files)


@dataclass
class TableFiles:
    """A table in one or several files, which is never held in memory as a whole.

    Rows are numbered from 0 through all parts, which are taken in the order of their names.

    Parameters
    ----------
    path : Path
        A Parquet file, a CSV file (also gzip-compressed), or a folder of Parquet files.
    parts : tuple of Path
        The files.
    header : CsvHeader
        Header of the columns, as in the files, and what was inferred; its separator is empty for Parquet.
    columns : tuple of str
        Names of the columns; one without a name in the files is called by its position.
    memory : int
        Bytes that DuckDB may use.
    states : tuple of (int, int, int)
        Size, time of the last change, and number of each file when it was looked at.
    kept : dict
        Tables and types that queries need beside the files, by name: an Arrow table, or the list of an enumeration's
        texts. They are made again wherever the table is opened.
    typed_by : mapping of Path to (mapping of str to Path)
        For each part, its columns that hold nothing and hence have no type, each with a part that gives it one.
    engine : Engine
        Where the parts are read.
    encoding : str, optional
        Declared encoding of a CSV file.
    blank_rows : bool
        Whether rows of a CSV that are empty in every column are rows. By default they are refused.
    following : int, optional
        Number of the last files whose rows only complete a block that begins before them, in a part of a table; a part
        may have no rows.
    first_row : int
        Position of its first row; not 0 in later parts of a table.
    """

    path: Path
    parts: tuple[Path, ...]
    header: CsvHeader
    columns: tuple[str, ...]
    memory: int
    states: tuple[tuple[int, int, int], ...] = field(default=(), repr=False)
    kept: dict[str, Any] = field(default_factory=dict, repr=False)
    typed_by: Mapping[Path, Mapping[str, Path]] = field(default_factory=dict, repr=False)
    encoding: str | None = None
    blank_rows: bool = False
    following: int | None = None
    first_row: int = 0
    engine: Engine = field(default_factory=OneMachine, repr=False)
    _stack: ExitStack = field(default_factory=ExitStack, init=False, repr=False)
    _connection: duckdb.DuckDBPyConnection | None = field(default=None, init=False, repr=False)
    _utf8: Path | None = field(default=None, init=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, one.name) for one in fields(self) if one.init and one.name != "engine")

    def part(self, number: int) -> Self:
        """One of the files as a table of its own, to be opened elsewhere, with the same tables and types beside it.

        The files after it that complete its last block come with it.
        """
        from defenses.base import blocks

        first_row, stop = sum(self.part_rows[:number]), number + 1
        waiting = -(first_row + self.part_rows[number]) % blocks.BLOCK
        while waiting > 0 and stop < len(self.parts):
            waiting -= self.part_rows[stop]
            stop += 1
        return replace(
            self,
            path=self.parts[number],
            parts=self.parts[number:stop],
            states=self.states[number:stop],
            kept=dict(self.kept),
            engine=OneMachine(),
            following=stop - number - 1,
            first_row=first_row,
        )

    @classmethod
    def of(
        cls,
        path: Path,
        declared: Roles | None = None,
        *,
        blank_rows: bool = False,
        memory: int | None = None,
        engine: Engine | None = None,
    ) -> Self:
        """Look at the files: their columns and types, but no row.

        Parameters
        ----------
        path : Path
            The file or folder.
        declared : Roles, optional
            Separator of CSV fields; by default inferred from the first lines.
        blank_rows : bool
            As in the class.
        memory : int, optional
            Bytes that DuckDB may use; by default a quarter of the machine's.
        engine : Engine, optional
            Where the parts are read; by default on this machine.

        Raises
        ------
        ValueError
            If there is no such file, it is no such table, or parts differ in their columns or types.
        """
        declared = Roles() if declared is None else declared
        memory = machine_memory() // 4 if memory is None else max(LEAST_MEMORY, memory)
        parts = part_files(path)
        states = tuple(file_state(part) for part in parts)
        typed_by: dict[Path, dict[str, Path]] = {}
        if begins_with(parts[0], PARQUET):
            schemas = {part: parquet_schema(part) for part in parts}
            header = CsvHeader("", parquet_fields(schemas), [])
            typed_by = typed_by_parts(schemas)
        else:
            header = large_csv_header(parts[0], declared)
        if len(parts) > 1:
            header.notes.append(Note("parts", numbers={"parts": len(parts)}))
        names = tuple(column_names(path, header.fields))
        _refuse_alike(path, names)
        return cls(
            path,
            parts,
            header,
            names,
            memory,
            states,
            typed_by=typed_by,
            encoding=declared.encoding if header.separator else None,
            blank_rows=blank_rows,
            engine=engine or OneMachine(),
        )

    def __enter__(self) -> Self:
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _open(self) -> None:
        import duckdb

        folder = self._stack.enter_context(private_folder())
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{self.memory}B",
            "temp_directory": str(folder),
            "threads": str(cores()),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "preserve_insertion_order": "true",
            # Rows keep their order only if the table itself is the side of a join that is read row by row.
            "disabled_optimizers": "join_order,build_side_probe_side",
        }
        self._connection = self._stack.enter_context(duckdb.connect(config=settings))
        self._connection.execute("SET enable_progress_bar = false")
        pairs = zip(self.header.fields, self.columns, strict=True)
        with self.plain_errors():
            if self.header.separator:
                if self.encoding is not None:
                    self._utf8 = utf8_copy(self.path, self.encoding, folder)
                source = csv_source(self._utf8 or self.path, self.columns, self.header)
            else:
                names = ", ".join(f"{quoted(stored)} AS {quoted(name)}" for stored, name in pairs)
                for number, part in enumerate(self.parts):
                    self.connection.execute(f"CREATE VIEW part_{number} AS SELECT {names} FROM {self._parquet(part)}")
                own = self.parts[: len(self.parts) - (self.following or 0)]
                files = ", ".join(literal(str(part)) for part in own)
                source = f"SELECT {names} FROM read_parquet([{files}], hive_partitioning=false)"
                if any(part in self.typed_by for part in own):
                    source = " UNION ALL ".join(f"SELECT * FROM part_{number}" for number in range(len(own)))
            self.connection.execute(f"CREATE VIEW source AS {source}")
        for name, content in self.kept.items():
            self._make(name, content)

    @cached_property
    def part_rows(self) -> tuple[int, ...]:
        """Number of rows of each part."""
        return tuple(int(self.fetch(f"SELECT count(*) FROM {view}")[0][0]) for view in self.views)

    @property
    def views(self) -> tuple[str, ...]:
        """View of each part, in the order of the rows."""
        return ("source",) if len(self.parts) == 1 else tuple(f"part_{number}" for number in range(len(self.parts)))

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Connection whose view `source` is the table."""
        assert self._connection is not None, "enter the table first"  # noqa: S101
        return self._connection

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        # A row without any value has none in the first column; in one column, that is a missing value.
        first = quoted(self.columns[0]) if self.header.separator and len(self.columns) > 1 else "*"
        ((rows, filled),) = self.fetch(f"SELECT count(*), count({first}) FROM source")
        if filled < rows and not self.blank_rows:
            self._refuse_blank_rows(rows)
        require(rows or self.following is not None, f"{self.path}: names columns but holds no record")
        return int(rows)

    def _refuse_blank_rows(self, rows: int) -> None:
        """Refuse rows of a CSV that are empty in every column, as `scenarios.tables.reading.text_table` does."""
        is_blank = f"coalesce({', '.join(map(quoted, self.columns))}) IS NULL"
        ((blank,),) = self.fetch(f"SELECT count(*) FROM source WHERE {is_blank}")
        if 0 < blank < rows:
            numbered = f"SELECT {is_blank} AS is_blank, row_number() OVER () AS number FROM source"
            query = f"SELECT number FROM ({numbered}) WHERE is_blank ORDER BY number LIMIT {MOST_SHOWN}"
            raise ValueError(blank_rows_words(self.path, blank, [number for (number,) in self.fetch(query)]))

    def fetch(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of a small result; `values` replace ``$1``, ``$2``, … in the query."""
        with self.plain_errors():
            return self.connection.execute(query, list(values)).fetchall()

    def keep(self, name: str, content: Any) -> None:
        """Keep an Arrow table, or a list of texts as the type of an enumeration, in place of one of that name."""
        self.kept[name] = content
        self._make(name, content)

    def derive(self, name: str, query: str) -> None:
        """Keep the result of a query as a table of this name, in this process only."""
        with self.plain_errors():
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}")

    def _make(self, name: str, content: Any) -> None:
        with self.plain_errors():
            if isinstance(content, list):
                self.connection.execute(f"CREATE OR REPLACE TYPE {name} AS ENUM (SELECT unnest($1))", [content])
                return
        self._arrive(f"CREATE OR REPLACE TEMP TABLE {name} AS", content)

    def _arrive(self, statement: str, table: Any) -> None:
        """Run a statement on the rows of an Arrow table, which follow it."""
        with self.plain_errors():
            self.connection.register("arriving", table)
            self.connection.execute(f"{statement} SELECT * FROM arriving")
            self.connection.unregister("arriving")

    def arrow(self, query: str) -> Any:
        """Result of a query as an Arrow table."""
        with self.plain_errors():
            return self.connection.sql(query).to_arrow_table()

    def batches(self, query: str, rows: int) -> Iterator[Any]:
        """Result of a query in the order of the rows, as Arrow record batches of `rows` rows at most."""
        with self.plain_errors():
            yield from self.connection.sql(query).to_arrow_reader(rows)

    def fetch_parts(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a small result, of each part by itself where the parts are read by several machines."""
        return [row for rows in self.engine.over_parts(self, methodcaller("fetch", query)) for row in rows]

    def counted(self, expressions: Mapping[str, str], source: str = "source", where: str = "true") -> Any:
        """Distinct values of expressions with the number of rows of each, as an Arrow table."""
        return self.arrow(self.counts(expressions, source, where))

    def counted_each(self, names: Sequence[str]) -> dict[str, Any]:
        """Distinct values of each of some columns with the number of rows of each, as Arrow tables of `value` and `n`.

        The files are read once for `TOGETHER` columns, unless the parts are read by several machines.
        """
        if not isinstance(self.engine, OneMachine):
            return {name: self.counted({"value": f"source.{quoted(name)}"}) for name in names}
        found = {}
        for first in range(0, len(names), TOGETHER):
            chosen = {f"c{place}": name for place, name in enumerate(names[first : first + TOGETHER])}
            selected = ", ".join(f"source.{quoted(name)} AS {short}" for short, name in chosen.items())
            listed, each = ", ".join(chosen), ", ".join(f"({short})" for short in chosen)
            # GROUPING has a bit for each column that a row is not about.
            self.derive(
                "counted_each",
                f"SELECT {listed}, count(*) AS n, GROUPING({listed}) AS others FROM (SELECT {selected} FROM source) "
                f"GROUP BY GROUPING SETS ({each})",
            )
            for place, (short, name) in enumerate(chosen.items(), 1):
                others = (1 << len(chosen)) - 1 - (1 << len(chosen) - place)
                found[name] = self.arrow(
                    f"SELECT {short} AS value, n FROM counted_each WHERE others = {others} ORDER BY value NULLS LAST"
                )
            self.connection.execute("DROP TABLE counted_each")
        return found

    def counts(self, expressions: Mapping[str, str], source: str, where: str = "true", *, ordered: bool = True) -> str:
        """Query of the counts of distinct values, which are merged from those of the parts where others read them."""
        selected = ", ".join(f"{expression} AS {name}" for name, expression in expressions.items())
        grouped = ", ".join(expressions)
        order = f" ORDER BY {', '.join(f'{name} NULLS LAST' for name in expressions)}" if ordered else ""
        rows = f"SELECT {selected} FROM {source} WHERE {where}"
        query = f"SELECT {grouped}, count(*) AS n FROM ({rows}) GROUP BY {grouped}"
        if isinstance(self.engine, OneMachine):
            return f"{query}{order}"
        for number, table in enumerate(self.engine.over_parts(self, methodcaller("arrow", query))):
            self._arrive("INSERT INTO part_counts" if number else "CREATE OR REPLACE TEMP TABLE part_counts AS", table)
        return f"SELECT {grouped}, sum(n)::BIGINT AS n FROM part_counts GROUP BY {grouped}{order}"

    @cached_property
    def _types(self) -> dict[str, str]:
        """DuckDB's type of each column."""
        return {name: kind for name, kind, *_ in self.fetch("DESCRIBE source")}

    def type_of(self, column: str) -> str:
        """DuckDB's type of a column."""
        return self._types[column]

    def check_unchanged(self) -> None:
        """Raise ValueError if a file was changed since it was looked at."""
        for part, state in zip(self.parts, self.states, strict=True):
            refuse(file_state(part) != state, f"{part}: was changed while it was read; start again when it is complete")

    @contextmanager
    def plain_errors(self) -> Iterator[None]:
        """Turn errors of DuckDB into one line that names the file."""
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise ValueError(
                f"{self.path}: reading needs more memory than {self.memory / 2**30:.1f} GB; raise --memory"
            ) from None
        except duckdb.Error as error:
            self.check_unchanged()
            if self.header.separator:
                check_csv(self.path, self._utf8 or self.path, self.header)
            raise ValueError(f"{self.path}{_reason(str(error))}") from None

    def _parquet(self, part: Path) -> str:
        """SQL of a part, whose columns without a type have that of another part."""
        casts = []
        for name, other in self.typed_by.get(part, {}).items():
            described = f"DESCRIBE SELECT {quoted(name)} FROM read_parquet({literal(str(other))})"
            kind = self.connection.execute(described).fetchall()[0][1]
            casts.append(f"NULL::{kind} AS {quoted(name)}")
        file = f"read_parquet({literal(str(part))}, hive_partitioning=false)"
        return f"(SELECT * REPLACE ({', '.join(casts)}) FROM {file})" if casts else file


def _reason(message: str) -> str:
    """What DuckDB complains about, after the file's name."""
    if "No space left" in message:
        return ": the disk is full; free some space, or set TMPDIR to another disk"
    if "invalid state" in message or "CSV Error" in message:
        return ": its rows are no regular CSV; are there line ends of two kinds (\\n and \\r\\n)?"
    first = message.splitlines()[0]
    # Other errors of these kinds quote the value that they cannot convert.
    kind = first.partition(":")[0]
    words = kind if kind in ("Conversion Error", "Invalid Input Error", "Out of Range Error") else first
    return f": cannot be read ({words})"


def _refuse_alike(path: Path, names: Sequence[str]) -> None:
    """Raise ValueError if two names differ in ASCII case only, which are one column to DuckDB."""
    first: dict[bytes, str] = {}
    for name in names:
        # The lower case of bytes is that of ASCII.
        other = first.setdefault(name.encode(errors="surrogatepass").lower(), name)
        refuse(
            other != name,
            f"{path}: columns {other!r} and {name!r} differ in case only; rename one to read the table in parts",
        )


# Which tables are read in parts, and how much memory that may take.

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
    sizes = {PARQUET: LARGEST_PARQUET, COMPRESSED: LARGEST_COMPRESSED}
    largest = next((size for mark, size in sizes.items() if begins_with(path, mark)), LARGEST_CSV)
    return path.stat().st_size > largest


def read_in_parts(names: Sequence[str | None], *, asked: bool) -> bool:
    """Whether a command reads its tables in parts, since that is asked for or one of them is large."""
    refuse(
        asked and STANDARD in names,
        "standard input cannot be read in parts; name a file, or leave out --memory and --backend",
    )
    return any(is_large(input_path(name), asked=asked) for name in names if name is not None)


def memory_bytes(text: str | None) -> int:
    """Bytes of memory that an option names, such as ``8GB``; half of the machine's where it names none.

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
    refuse(size < 2 * LEAST_MEMORY, f"--memory {text}: is too little; {2 * LEAST_MEMORY / 2**20:.0f}MiB is the least")
    return size
