"""Scenario files: shipped ones by name, others by path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from metrics.columns import errors_at, require
from scenarios.tables.near_names import suggestion
from scenarios.tables.toml import library
from scenarios.tables.toml.toml_file import located, read_bytes, read_tables

Built = TypeVar("Built")


class ScenarioTable(BaseModel):
    """A table of a scenario file: it refuses unknown keys, and converts values as pydantic does by default."""

    model_config = ConfigDict(extra="forbid")


class MethodTable(BaseModel):
    """A table that names a method under ``use`` and gives its parameters; a list of values makes a grid."""

    model_config = ConfigDict(extra="allow")
    use: str


def scenario_path(source: str) -> Path:
    """File of a scenario."""
    shipped = library()
    if source in shipped:
        return shipped[source]
    if source.endswith(".toml") or "/" in source:
        path = Path(source)
        require(path.is_file(), f"there is no scenario file {source}")
        return path
    raise ValueError(f"there is no scenario {source!r}{suggestion(source, shipped)}")


def scenario_tables(path: Path) -> dict[str, Any]:
    """Tables of a scenario file, before they are validated."""
    return read_tables(path, read_bytes(path))


def within(path: Path, table: str, make: Callable[..., Built], *arguments: Any, key: str = "") -> Built:
    """Call `make` on a part of a scenario file; its errors then name the file and that part."""
    with errors_at(f"{scenario_label(path)}: {located(table, key)}"):
        return make(*arguments)


def scenario_label(path: Path) -> str:
    """How messages name a scenario file: a shipped one by its name, any other by its path."""
    return f"scenario {path.stem!r}" if path in library().values() else str(path)
