"""A roles file that declares what was inferred, to be reviewed by a person."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from metrics.domains import Domain, NumericDomain
from scenarios.files.toml_file import read_bytes, read_toml
from scenarios.tables.dataset import Dataset
from scenarios.tables.roles import Roles

HEADER = """\
# Roles and domains of {name}, written by `tokumei validate --write-roles`.
# Review every domain that was read from the data. Replace it by what is known without these records, such as a codebook
# or the limits of a form. This file declares the domains to be public, and promises of privacy rest on that.
"""
REVIEW = "# Read from the data: review this domain.{}"


def reviewable_roles(dataset: Dataset, roles: Path | None, output: Path) -> str:
    """Content of a roles file that declares all inferred domains of a data set, each with a comment to review it.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    roles : Path, optional
        The roles file with which it was loaded; its content is kept.
    output : Path
        Where the file will be written; paths of other files become relative to its folder.

    Raises
    ------
    ValueError
        If `roles` cannot be read.
    """
    import tomli_w

    declared = Roles() if roles is None else read_toml(roles, read_bytes(roles), Roles)
    content = declared.model_dump(exclude_none=True, exclude_defaults=True)
    columns: dict[str, dict[str, Any]] = content.pop("columns", {})
    records = dataset.records
    content = {"quasi_identifiers": list(records.quasi_identifiers), **content}
    if roles is not None:
        _move_paths(content, columns, roles.parent, output.parent)
    parts = [HEADER.format(name=" ".join(dataset.name.split())) + tomli_w.dumps(content)]
    for name in map(str, records.frame.columns):
        domain = records.domains.get(name)
        if domain is None or not domain.inferred:
            if name in columns:
                parts.append(tomli_w.dumps({"columns": {name: columns[name]}}))
            continue
        unique = not isinstance(domain, NumericDomain) and domain.size == len(records) > 1
        comment = REVIEW.format(" It differs in every record: is it an identifier?" if unique else "")
        table = {**columns.get(name, {}), **_declaration(domain)}
        parts.append(f"{comment}\n{tomli_w.dumps({'columns': {name: table}})}")
    return "\n".join(parts)


def _declaration(domain: Domain) -> dict[str, Any]:
    """A domain as the table of a roles file."""
    if isinstance(domain, NumericDomain):
        cuts = [_number(cut) for cut in domain.cuts]
        low, high = _number(domain.low), _number(domain.high)
        return {"type": "number", "integer": domain.integer, "low": low, "high": high, "cuts": cuts}
    return {"type": "category", "categories": list(domain.categories), "ordered": domain.ordered}


def _number(value: float) -> float:
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)


def _move_paths(content: dict[str, Any], columns: dict[str, dict[str, Any]], old: Path, new: Path) -> None:
    """Make paths that were relative to the old folder relative to the new one."""
    tables = [
        (content.get("dataset", {}), "test"),
        *((column.get("hierarchy", {}), "csv") for column in columns.values()),
    ]
    for table, key in tables:
        if key in table:
            table[key] = os.path.relpath(old / table[key], new)
