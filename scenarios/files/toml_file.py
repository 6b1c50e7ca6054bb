"""TOML files read into validated models, with errors in one line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError


class Table(BaseModel):
    """A TOML table: unknown keys are refused, values are not converted from other types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Model = TypeVar("Model", bound=BaseModel)


def read_bytes(path: Path) -> bytes:
    """Content of a file.

    Raises
    ------
    ValueError
        If there is no such file or it cannot be read; names the path.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise ValueError(f"{path}: is a folder, not a file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None


def read_text(path: Path, data: bytes) -> str:
    """UTF-8 text of a file's content, without a byte order mark.

    Raises
    ------
    ValueError
        If it is not UTF-8 or holds a NUL byte; names the path and the byte's position (from 0).
    """
    nul = data.find(b"\0")
    if nul >= 0:
        raise ValueError(f"{path}: holds a NUL byte at byte {nul}; it must be plain UTF-8 text")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from None


def read_toml(path: Path, data: bytes, model: type[Model]) -> Model:
    """Content of a TOML file as a validated model.

    Raises
    ------
    ValueError
        If it is no TOML or the model refuses it; one line that names file, table and key.
    """
    try:
        tables = tomllib.loads(read_text(path, data))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: is no valid TOML: {error}") from None
    try:
        return model.model_validate(tables)
    except ValidationError as error:
        raise ValueError(f"{path}: {explain(error, tables)}") from None


def explain(error: ValidationError, tables: dict[str, Any]) -> str:
    """First complaint of a validation in one line: table, key and what is wrong."""
    first = error.errors(include_url=False)[0]
    keys = _keys(first["loc"], tables, absent=first["type"] == "missing")
    message = first["msg"].removeprefix("Value error, ")
    match first["type"]:
        case "extra_forbidden":
            message = "unknown key"
        case "missing":
            message = "is missing"
        case "union_tag_not_found":
            keys, message = [*keys, first["ctx"]["discriminator"].strip("'")], "is missing"
    table, key = ".".join(keys[:-1]), keys[-1] if keys else ""
    where = ", ".join([*([f"table [{table}]"] if table else []), *([f"key '{key}'"] if key else [])])
    return f"{where}: {message}" if where else message


def _keys(location: tuple[int | str, ...], tables: Any, *, absent: bool) -> list[str]:
    """Keys of a location without the union tags that pydantic puts in; the last one may be `absent` from the file."""
    keys: list[str] = []
    for position, step in enumerate(location):
        last = position == len(location) - 1
        if isinstance(tables, dict) and (step in tables or (absent and last)):
            keys.append(str(step))
            tables = tables.get(step)
        elif isinstance(tables, list) and isinstance(step, int):
            keys.append(str(step + 1))
            tables = tables[step] if step < len(tables) else None
    return keys
