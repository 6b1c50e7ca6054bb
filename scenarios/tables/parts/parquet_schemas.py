"""Columns and types of Parquet files that are parts of one table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def parquet_fields(schemas: Mapping[Path, Any]) -> tuple[str, ...]:
    """Names of the columns, which all parts must share with their types."""
    names: list[str] = next(iter(schemas.values())).names
    if not names:
        raise ValueError(f"{next(iter(schemas))}: has no column")
    typed: dict[str, tuple[Path, Any]] = {}
    origin = next(iter(schemas))
    for part, schema in schemas.items():
        for name in names:
            if name not in schema.names:
                raise ValueError(f"{part}: lacks the column {name!r} that {origin.name} has; parts must agree")
        for position, name in enumerate(schema.names, 1):
            if not name:
                raise ValueError(f"{part}: column {position} has no name; give it one")
            if name not in names:
                raise ValueError(f"{part}: has the column {name!r} that {origin.name} lacks; parts must agree")
            if schema.names.count(name) > 1:
                raise ValueError(f"{part}: column {name!r} appears twice; column names must differ")
            kind = _plain_type(schema.field(name).type)
            if kind is None:
                continue
            other, first = typed.setdefault(name, (part, kind))
            if kind != first:
                raise ValueError(f"{part}: column {name!r} holds {kind}, but {first} in {other.name}")
    return tuple(names)


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
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.read_schema(part)
    except (pa.ArrowException, OSError):
        raise ValueError(f"{part}: is a damaged or unsupported Parquet file") from None
