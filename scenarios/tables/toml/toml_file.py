"""TOML files read into validated models; every error is one line that names file, table and key."""

from __future__ import annotations

import codecs
import tomllib
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from metrics.columns import errors_at, refuse
from scenarios.tables.near_names import suggestion

# The first error of a validated TOML file, in one line.

Location = Sequence[int | str]


def complaint(error: ValidationError, tables: dict[str, Any], model: type[BaseModel]) -> str:
    """Describe the first validation error: table, key, what is wrong and, for an unknown key, the nearest known key."""
    first = error.errors(include_url=False)[0]
    location = first["loc"]
    keys = _keys_in_file(location, tables, absent=first["type"] == "missing")
    message = first["msg"].removeprefix("Value error, ")
    match first["type"]:
        case "extra_forbidden":
            message = f"unknown key{suggestion(keys[-1], _allowed_keys(model, location[:-1]))}"
        case "missing":
            message = "is missing"
        case "union_tag_not_found":
            keys, message = [*keys, first["ctx"]["discriminator"].strip("'")], "is missing"
    return ": ".join(part for part in (located(".".join(keys[:-1]), keys[-1] if keys else ""), message) if part)


def located(table: str, key: str = "") -> str:
    """Name a table and a key of it as every message about a TOML file does; either may be empty.

    Examples
    --------
    >>> located("scenario", "plays")
    "table [scenario], key 'plays'"
    """
    return ", ".join([*([f"table [{table}]"] if table else []), *([f"key '{key}'"] if key else [])])


def _keys_in_file(location: Location, tables: Any, *, absent: bool) -> list[str]:
    """Keys of a location without the union tags that pydantic adds; the last key may be `absent` from the file."""
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


def _allowed_keys(model: type[BaseModel], location: Location) -> list[str]:
    """Keys that the model allows in the table at a location."""
    annotation: Any = model
    for step in location:
        annotation = _annotation_at(_plain(annotation), step)
    return list(_plain(annotation).model_fields)


def _plain(annotation: Any) -> Any:
    """An annotation without metadata and without the alternative None."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        variants = [variant for variant in get_args(annotation) if variant is not type(None)]
        return _plain(variants[0]) if len(variants) == 1 else annotation
    return annotation


def _annotation_at(annotation: Any, step: int | str) -> Any:
    """One step of a location: a field of a model, an item of a list or dictionary, or the tag of a union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.model_fields[str(step)].annotation
    if get_origin(annotation) in (list, dict):
        return get_args(annotation)[-1]
    return next(variant for variant in get_args(annotation) if _has_tag(variant, step))


def _has_tag(model: type[BaseModel], tag: int | str) -> bool:
    annotations = (field.annotation for field in model.model_fields.values())
    return any(get_origin(annotation) is Literal and tag in get_args(annotation) for annotation in annotations)


class TomlTable(BaseModel):
    """A strict TOML table: it refuses unknown keys and converts no value to another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Model = TypeVar("Model", bound=BaseModel)


def read_bytes(path: Path) -> bytes:
    """Content of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {unreadable(error)}") from None


def unreadable(error: OSError) -> str:
    """Why a file could not be read, in words."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return "is a folder, not a file" if isinstance(error, IsADirectoryError) else f"cannot be read ({error.strerror})"


def read_text(path: Path, data: bytes, *, whole: bool = True, start: int = 0) -> str:
    """UTF-8 text of a file's content, without a byte order mark."""
    nul = data.find(b"\0")
    refuse(nul >= 0, f"{path}: holds a NUL byte at byte {start + nul}; it must be plain UTF-8 text")
    try:
        return codecs.utf_8_decode(data, "strict", whole)[0].removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        place = f"{error.reason} at byte {start + error.start}"
        raise ValueError(f"{path}: is not UTF-8 ({place}); save it as UTF-8") from None


def read_tables(path: Path, data: bytes) -> dict[str, Any]:
    """Tables of a TOML file, before they are validated."""
    with errors_at(f"{path}: is not valid TOML", tomllib.TOMLDecodeError):
        return tomllib.loads(read_text(path, data))


def validated(path: Path, tables: dict[str, Any], model: type[Model]) -> Model:
    """Tables of a TOML file as a model."""
    try:
        return model.model_validate(tables)
    except ValidationError as error:
        raise ValueError(f"{path}: {complaint(error, tables, model)}") from None


def read_toml(path: Path, data: bytes, model: type[Model]) -> Model:
    """Content of a TOML file as a validated model."""
    return validated(path, read_tables(path, data), model)
