"""The table of people that an attacker on files has, with what is known of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from attacks.attack import Knowledge
from defenses.channel import Channel
from defenses.channel_parts import ColumnPart
from defenses.microdata import Microdata
from metrics.cells import named_categories
from metrics.domains import CategoricalDomain, Domain, NumericDomain
from scenarios.tables.inference import declared_domain, inferred_domain
from scenarios.tables.released import read_roles
from scenarios.tables.text_column import TextColumn
from scenarios.tables.text_table import text_table
from scenarios.toml_file import read_bytes


def candidates_beside(
    released: pd.DataFrame, path: Path, roles: Path | None, channel: Channel | None
) -> tuple[Knowledge, list[str]]:
    """Read the candidates that a released table is compared with.

    A column's domain is the one that the channel states, else the one that the roles declare, else that of the
    candidates' values; categories that only the release names are added to the last.

    Parameters
    ----------
    released : DataFrame, shape (rows, columns)
        Released cells.
    path : Path
        The candidates' CSV or Parquet file; only columns that are released are looked at.
    roles : Path, optional
        Roles file of the original table; it may name columns that the candidates lack.
    channel : Channel, optional
        What is public about the mechanism.

    Returns
    -------
    knowledge : Knowledge
        The candidates, no further people, and no way to repeat the defense.
    notes : list of str
        What was inferred, and released columns that the candidates lack.

    Raises
    ------
    ValueError
        If a file cannot be read, a value is not of its column's domain, or no released column is there.
    """
    declared = read_roles(roles)
    columns, notes = text_table(path, read_bytes(path), declared.separator)
    shared = [str(name) for name in released.columns if name in columns]
    lacking = [str(name) for name in released.columns if name not in columns]
    if not shared:
        raise ValueError(f"{path}: has none of the released columns, which are {', '.join(lacking)}")
    if lacking:
        notes.append(f"the candidates lack {', '.join(lacking)}, which therefore is not compared")
    stated = _stated(channel)
    values, domains = {}, {}
    for name in shared:
        domain = stated.get(name)
        if domain is None:
            domain, _ = declared_domain(columns[name], declared.columns.get(name))
        if domain is None:
            domain, words = inferred_domain(name, columns[name], declared.columns.get(name))
            domain = _with_released(domain, released[name])
            notes.append(f"{name}: {words}, inferred from the candidates")
        values[name], domains[name] = _read(columns[name], domain), domain
    frame = pd.DataFrame(values)
    return Knowledge(frame, Microdata(frame.iloc[:0], domains=domains)), notes


def _stated(channel: Channel | None) -> Mapping[str, Domain]:
    parts = () if channel is None else channel.parts
    return {part.column: part.domain for part in parts if isinstance(part, ColumnPart)}


def _with_released(domain: Domain, cells: pd.Series[Any]) -> Domain:
    """An inferred domain and the categories that only the release names."""
    if isinstance(domain, NumericDomain):
        return domain
    return CategoricalDomain(tuple(sorted({*domain.categories, *named_categories(cells)})))


def _read(column: TextColumn, domain: Domain) -> NDArray[Any]:
    return column.number_values(domain) if isinstance(domain, NumericDomain) else column.text_values(domain)
