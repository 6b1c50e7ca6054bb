"""The roles file of a table together with options that say how its files are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenarios.tables.roles import Roles
from scenarios.tables.toml.toml_file import read_bytes, read_toml, validated


def read_roles(roles: Path | None, reading: Mapping[str, Any] | None = None, *, content: bytes | None = None) -> Roles:
    """Content of a roles file; without a file, roles that declare nothing.

    Parameters
    ----------
    roles : Path, optional
        The file.
    reading : mapping of str, optional
        Values of the keys ``separator``, ``encoding``, ``decimal`` and ``na`` that replace those of the file.
    content : bytes, optional
        Content of the file, if it was read already.

    Raises
    ------
    ValueError
        If the file cannot be read, or is no roles file with these values.
    """
    declared = Roles()
    if roles is not None:
        declared = read_toml(roles, read_bytes(roles) if content is None else content, Roles)
    if not reading:
        return declared
    tables = {**declared.model_dump(exclude_unset=True), **reading}
    return validated(Path("options") if roles is None else roles, tables, Roles)
