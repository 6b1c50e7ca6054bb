"""A roles file that declares what was inferred, to be reviewed by a person."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metrics.columns import Domain, NumericDomain
from metrics.columns.printable import printable
from scenarios.tables.dataset import Dataset
from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.reading.date_format import ISO
from scenarios.tables.reading.written_cells import integer_cell
from scenarios.tables.review.ordered_scales import with_scale_order
from scenarios.tables.roles import Roles, read_roles

HEADER = """\
# Roles and domains of {name}, written by `tokumei {command}`.
# Review every domain that was read from the data. Replace it by what is known without these records, such as a codebook
# or the limits of a form. This file declares the domains to be public, and guarantees of privacy rest on that.
"""
REVIEW = "# Read from the data: review this domain.{}"


def reviewable_roles(
    dataset: Dataset,
    roles: Path | None,
    output: Path,
    *,
    reading: Mapping[str, Any] | None = None,
    rows: int | None = None,
) -> str:
    """Content of a roles file that declares all inferred domains of a data set, each with a comment to review it."""
    records = dataset.records
    declared = read_roles(roles, reading)
    if declared.quasi_identifiers is None:
        declared = declared.model_copy(update={"quasi_identifiers": list(records.quasi_identifiers)})
    inferred = {name: with_scale_order(domain) for name, domain in records.domains.items() if domain.inferred}
    comments = {}
    for name, domain in inferred.items():
        unique = not isinstance(domain, NumericDomain) and domain.size == (rows or len(records)) > 1
        comments[name] = [REVIEW.format(" It differs in every record: is it an identifier?" if unique else "")]
    header = HEADER.format(name=" ".join(dataset.name.split()), command="validate --write-roles")
    columns = list(map(str, records.frame.columns))
    moved = (None if roles is None else roles.parent, output.parent)
    dates = {name: form for name in inferred if (form := dataset.written.dates(name)) is not None}
    return roles_text(header, declared, columns, inferred, comments, moved, dates, {})


def roles_text(
    header: str,
    declared: Roles,
    columns: Sequence[str],
    inferred: Mapping[str, Domain],
    comments: Mapping[str, Sequence[str]],
    moved: tuple[Path | None, Path],
    dates: Mapping[str, DateForm],
    decimals: Mapping[str, int],
) -> str:
    """Content of a roles file with comments."""
    import tomli_w

    content = declared.model_dump(exclude_none=True, exclude_defaults=True)
    tables: dict[str, dict[str, Any]] = content.pop("columns", {})
    content = {"quasi_identifiers": list(declared.quasi_identifiers or []), **content}
    old, new = moved
    if old is not None:
        _move_paths(content, tables, old, new)
    parts = [header + tomli_w.dumps(content)]
    for name in columns:
        lines = list(comments.get(name, ()))
        if name in inferred:
            tables[name] = {**tables.get(name, {}), **declaration(inferred[name], dates.get(name), decimals.get(name))}
        text = tomli_w.dumps({"columns": {name: shortened(tables[name])}}) if name in tables else ""
        if lines or text:
            parts.append("\n".join([*map(printable, lines), text]))
    return "\n".join(parts)


def declaration(domain: Domain, dates: DateForm | None = None, decimals: int | None = None) -> dict[str, Any]:
    """A domain as the table of a roles file; the bins of dates are those of the calendar."""
    if dates is not None and isinstance(domain, NumericDomain):
        other = {} if dates.format == ISO else {"format": dates.format.pattern}
        return {"type": "date", **other, "low": dates.iso(domain.low), "high": dates.iso(domain.high)}
    if isinstance(domain, NumericDomain):
        bounds = {"low": float(domain.low), "high": float(domain.high), "cuts": list(domain.cuts)}
        digits = {} if decimals is None else {"decimals": decimals}
        return {"type": "number", "integer": domain.integer, **digits, **bounds}
    return {"type": "category", "categories": list(domain.categories), "ordered": domain.ordered}


def shortened(content: Any) -> Any:
    """Content of a file whose whole numbers are written without a fraction."""
    if isinstance(content, dict):
        return {key: shortened(value) for key, value in content.items()}
    return [shortened(value) for value in content] if isinstance(content, list) else integer_cell(content)


def _move_paths(content: dict[str, Any], columns: dict[str, dict[str, Any]], old: Path, new: Path) -> None:
    """Make paths that were relative to the old folder relative to the new one."""
    tables = [
        (content.get("dataset", {}), "test"),
        *((column.get("hierarchy", {}), "csv") for column in columns.values()),
    ]
    for table, key in tables:
        if key in table:
            table[key] = os.path.relpath(old / table[key], new)
