"""A roles file that declares what was inferred, to be reviewed by a person."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from metrics.columns import SUPPRESSED, Domain, NumericDomain
from metrics.columns.printable import printable
from scenarios.tables.dataset import Dataset
from scenarios.tables.reading import ISO, DateForm, integer_cell
from scenarios.tables.review import POSTCODES, POSTCODES_JAPANESE, hints_at, with_scale_order
from scenarios.tables.roles import Roles, read_roles

HEADER = """\
# Roles and domains of {name}, written by `tokumei {command}`.
# Review every domain that was read from the data. Replace it by what is known without these records, such as a codebook
# or the limits of a form. This file declares the domains to be public, and guarantees of privacy rest on that.
# Bounds that were read are rounded outwards, since other people of the same kind have values beyond them.
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
            domain = outward(inferred[name], dates.get(name))
            tables[name] = {**tables.get(name, {}), **declaration(domain, dates.get(name), decimals.get(name))}
            if hints_at(name, POSTCODES, POSTCODES_JAPANESE):
                tables[name] = {**proposed_hierarchy(inferred[name]), **tables[name]}
        text = tomli_w.dumps({"columns": {name: shortened(tables[name])}}) if name in tables else ""
        if lines or text:
            parts.append("\n".join([*map(printable, lines), text]))
    return "\n".join(parts)


def outward(domain: Domain, dates: DateForm | None = None) -> Domain:
    """A domain that was read from records, with bounds rounded outwards to what other people of the kind may have.

    Numbers are rounded beyond a twentieth of their range, to 1, 2 or 5 times a power of ten. Ends that are round and
    integers that span less than ten are left. Dates are rounded to whole years or months, if they span four of these.

    Examples
    --------
    >>> outward(NumericDomain(56.6, 200.7)).low, outward(NumericDomain(1, 5, integer=True)).high
    (40.0, 5)
    """
    if not isinstance(domain, NumericDomain):
        return domain
    low, high = float(domain.low), float(domain.high)
    if dates is not None:
        low, high = dates.whole_periods(int(low), int(high))
        return replace(domain, low=low, high=high)
    tenth = (high - low) / 10
    if tenth <= 0 or (domain.integer and tenth < 1):
        return domain
    power = 10.0 ** math.floor(math.log10(tenth))
    step = power * max(times for times in (1, 2, 5) if times * power <= tenth or times == 1)
    digits = max(0, -math.floor(math.log10(step)))
    # An end that is round by itself, such as 0 or 100, is one of the measure. Amounts do not become negative.
    below = low if low % step == 0 else math.floor((low - tenth / 2) / step) * step
    above = high if high % step == 0 else math.ceil((high + tenth / 2) / step) * step
    below = below if low < 0 else max(below, 0.0)
    return replace(domain, low=round(below, digits), high=round(above, digits))


def proposed_hierarchy(domain: Domain) -> dict[str, Any]:
    """Hierarchy of codes of one length, which keeps ever fewer first characters; nothing for other domains.

    Examples
    --------
    >>> from metrics import CategoricalDomain
    >>> proposed_hierarchy(CategoricalDomain(("0123", "0145", "0267")))
    {'hierarchy': {'rows': [['0123', '01**', '*'], ['0145', '01**', '*'], ['0267', '02**', '*']]}}
    """
    codes = () if isinstance(domain, NumericDomain) else domain.categories
    length = len(codes[0]) if codes else 0
    if length < 2 or any(len(code) != length or not code.isalnum() for code in codes):
        return {}
    kept = [list(codes)]
    for count in range(length - 1, 0, -1):
        groups = [code[:count] + SUPPRESSED * (length - count) for code in codes]
        if 1 < len({*groups}) < len({*kept[-1]}):
            kept.append(groups)
    rows = [[*row, SUPPRESSED] for row in zip(*kept, strict=True)]
    return {"hierarchy": {"rows": rows}} if len(kept) > 1 else {}


def declaration(domain: Domain, dates: DateForm | None = None, decimals: int | None = None) -> dict[str, Any]:
    """A domain as the table of a roles file; bins of dates are those of the calendar."""
    if dates is not None and isinstance(domain, NumericDomain):
        low, high = int(domain.low), int(domain.high)
        other = {} if dates.format == ISO else {"format": dates.format.pattern}
        levels = dates.default_levels(low, high)
        calendar = {"hierarchy": {"calendar": list(levels)}} if levels else {}
        return {"type": "date", **other, "low": dates.iso(low), "high": dates.iso(high), **calendar}
    if isinstance(domain, NumericDomain):
        bounds = {"low": domain.low, "high": domain.high, "cuts": list(domain.cuts)}
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
