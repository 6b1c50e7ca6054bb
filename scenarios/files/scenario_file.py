"""Scenario files: where they are, and what is wrong with one."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from scenarios.methods import suggestion


class Strict(BaseModel):
    """A table that may hold no other keys."""

    model_config = ConfigDict(extra="forbid")


class Method(BaseModel):
    """A table that names a method under ``use`` and its parameters, lists of which make grids."""

    model_config = ConfigDict(extra="allow")
    use: str


File = TypeVar("File", bound=Strict)


def library() -> dict[str, Path]:
    """Shipped scenario files by name."""
    folder = resources.files("scenarios") / "library"
    return {
        Path(str(file)).stem: Path(str(file))
        for file in sorted(folder.iterdir(), key=str)
        if file.name.endswith(".toml")
    }


def scenario_path(source: str) -> Path:
    """File of a scenario: one that is shipped under this name, or a TOML file at this path.

    Raises
    ------
    ValueError
        If there is no such scenario; the nearest name is suggested.
    """
    shipped = library()
    if source in shipped:
        return shipped[source]
    if source.endswith(".toml") or "/" in source:
        path = Path(source)
        if not path.is_file():
            raise ValueError(f"there is no scenario file {source}")
        return path
    raise ValueError(f"there is no scenario {source!r}{suggestion(source, shipped)}")


def scenario_tables(path: Path) -> dict[str, Any]:
    """Content of a scenario file.

    Raises
    ------
    ValueError
        If it cannot be read or is no TOML; names the file.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None


def validated(path: Path, tables: dict[str, Any], model: type[File]) -> File:
    """The tables of a scenario file as a model, which has a table ``scenario``.

    Raises
    ------
    ValueError
        If a table or key is wrong; names file, table and key.
    """
    try:
        return model.model_validate(tables)
    except ValidationError as error:
        raise ValueError(f"{path}: {_complaint(error, model)}") from None


def within(path: Path, table: str, make: Any, *arguments: Any) -> Any:
    """Make something of a scenario file; what is wrong is said to be in this table of it."""
    try:
        return make(*arguments)
    except ValueError as error:
        raise ValueError(f"{place(path)}: {table}: {error}") from None


def place(path: Path) -> str:
    """How messages name a scenario file: by its name where it is shipped."""
    return f"scenario {path.stem!r}" if path in library().values() else str(path)


def _complaint(error: ValidationError, model: type[Strict]) -> str:
    """The first complaint in one line."""
    problem = error.errors()[0]
    where = ".".join(str(part + 1) if isinstance(part, int) else part for part in problem["loc"])
    if problem["type"] != "extra_forbidden":
        return f"{where}: {problem['msg']}"
    table, _, key = where.rpartition(".")
    fields = model.model_fields
    head = fields["scenario"].annotation
    assert head is not None  # noqa: S101 (every scenario has a head)
    known = head.model_fields if table == "scenario" else fields
    return f"unknown key {key!r}{f' in [{table}]' if table else ''}{suggestion(key, list(known))}"
