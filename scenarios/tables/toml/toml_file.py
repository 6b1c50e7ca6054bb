"""TOML files read into validated models; every error is one line that names file, table and key."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from scenarios.tables.toml.complaint import complaint


class TomlTable(BaseModel):
    """A strict TOML table: it refuses unknown keys and converts no value to another type."""

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
    except OSError as error:
        raise ValueError(unreadable(path, error)) from None


def unreadable(path: Path, error: OSError) -> str:
    """Why a file could not be read, in words."""
    if isinstance(error, FileNotFoundError):
        return f"{path}: there is no such file"
    if isinstance(error, IsADirectoryError):
        return f"{path}: is a folder, not a file"
    return f"{path}: cannot be read ({error.strerror})"


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


def read_tables(path: Path, data: bytes) -> dict[str, Any]:
    """Tables of a TOML file, before they are validated.

    Parameters
    ----------
    path : Path
        Named in errors.
    data : bytes
        The file's content.

    Raises
    ------
    ValueError
        If it is no TOML.
    """
    try:
        return tomllib.loads(read_text(path, data))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: is not valid TOML: {error}") from None


def validated(path: Path, tables: dict[str, Any], model: type[Model]) -> Model:
    """Tables of a TOML file as a model.

    Parameters
    ----------
    path : Path
        Named in errors.
    tables : dict
        What `read_tables` returns.
    model : type of BaseModel
        Says which keys there are; how strictly it converts values is up to the model.

    Raises
    ------
    ValueError
        If the model refuses the tables.
    """
    try:
        return model.model_validate(tables)
    except ValidationError as error:
        raise ValueError(f"{path}: {complaint(error, tables, model)}") from None


def read_toml(path: Path, data: bytes, model: type[Model]) -> Model:
    """Content of a TOML file as a validated model.

    Raises
    ------
    ValueError
        If it is no TOML or the model refuses it.
    """
    return validated(path, read_tables(path, data), model)
