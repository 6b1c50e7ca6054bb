"""The attacker's table of candidates, with the domains of its columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attacks.base import Knowledge
from attacks.linkage.channel_factors import outside, stated_domains
from defenses import Channel, Microdata
from metrics.columns import CategoricalDomain, Domain, NumericDomain, named_categories, require
from scenarios.tables.dataset import check_named, inferred_domain
from scenarios.tables.reading.readable_cells import category_note, number_note, readable_cells
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.reading.text_table import rows_from_one, text_table
from scenarios.tables.reading.written_cells import WrittenCells
from scenarios.tables.review.doubtful_values import doubtful_values, doubtful_words
from scenarios.tables.roles import declared_domain, read_roles
from scenarios.tables.toml.toml_file import read_bytes

HINT = "labels of a hierarchy need --roles, which declares it"


def candidates_beside(
    released: pd.DataFrame, path: Path, roles: Path | None, channel: Channel | None
) -> tuple[pd.DataFrame, Knowledge, list[str]]:
    """Read the candidates that a released table is compared with.

    A column's domain is that of the channel. Without one, it is that of the roles file. Without either, it is inferred
    from the candidates. Categories that only the release names are added to an inferred
    domain. A candidate may have values outside the channel's domain, which no released person has. The domain is then
    extended to include them.

    Parameters
    ----------
    released : DataFrame, shape (rows, columns)
        Released cells as they are written in the file.
    path : Path
        The candidates' CSV or Parquet file; only released columns are read.
    roles : Path, optional
        Roles file of the original table. A column that it names must be in at least one of the two tables, except for
        identifiers, which are never released.
    channel : Channel, optional
        What is public about the mechanism.

    Returns
    -------
    cells : DataFrame, shape (rows, columns)
        Released cells; dates and labels of groups are replaced by what they stand for.
    knowledge : Knowledge
        The candidates, no further people, and no way to repeat the defense.
    notes : list of str
        What was inferred, which released columns the candidates lack, which released categories or numbers no candidate
        has, and how many candidates lie outside the channel's domain of a column.

    Raises
    ------
    ValueError
        If a file cannot be read. If the candidates have no released column, or a value outside its declared domain. If
        the roles name a column that is in neither table.
    """
    declared = read_roles(roles)
    columns, notes = text_table(path, read_bytes(path), declared)
    shared = [str(name) for name in released.columns if name in columns]
    lacking = [str(name) for name in released.columns if name not in columns]
    # Both tables may lack identifiers.
    other_roles = {column: key for column, key in declared.named().items() if column not in declared.identifiers}
    check_named(other_roles, [*columns, *lacking], roles, f"{path} or the released table, which have")
    require(shared, f"{path}: has none of the released columns, which are {', '.join(lacking)}")
    if lacking:
        notes.append(f"the candidates lack {', '.join(lacking)}, which is therefore not compared")
    stated = stated_domains(channel)
    written = WrittenCells.of(declared, roles).with_dates(columns)
    released = written.read_frame(released)
    values, domains = {}, {}
    for name in shared:
        domain = stated.get(name)
        if domain is None:
            domain, _ = declared_domain(declared.columns.get(name))
        if domain is None:
            domain, words = inferred_domain(name, columns[name], declared.columns.get(name))
            domain = _with_released(written.extended(name, domain), released[name])
            notes.append(f"{name}: {words}, inferred from the candidates")
        named = released[name]
        if name in stated:
            domain = with_values_of(domain, columns[name])
        else:
            readable, gaps = readable_cells(
                name,
                TextColumn.of_values(name, named),
                domain,
                never_missing=not columns[name].missing_rows,
                others="the candidates have",
            )
            released[name], notes = readable.text_values(), [*notes, *gaps]
        values[name], domains[name] = columns[name].values(domain), domain
        # Categories outside a declared domain are read as suppressed, and only their own texts tell why.
        cells = released[name] if isinstance(domain, NumericDomain) else named
        notes += _unknown(cells, pd.Series(values[name]), domain, "" if roles is not None else f"; {HINT}")
    frame = pd.DataFrame(values)
    dates = {name: form for name in shared if (form := columns[name].dates) is not None}
    categorical = [name for name in shared if isinstance(domains[name], CategoricalDomain)]
    undeclared = {name: columns[name].texts.to_pylist() for name in categorical if name not in declared.columns}
    known = [name for name in shared if name not in declared.sensitive]
    doubts = doubtful_values(frame, dates, None, known, declared.sensitive, declared.identifiers)
    notes += map(str, (*doubtful_words(undeclared), *doubts))
    for name in (name for name in shared if name in stated):
        outsiders = int(outside(stated[name], frame[name]).sum())
        if outsiders:
            notes.append(
                f"{name}: {outsiders} of {len(frame)} candidates lie outside the domain that the channel states; "
                "by the channel no released row stems from them"
            )
    return released, Knowledge(frame, Microdata(frame.iloc[:0], domains=domains)), notes


def _unknown(cells: pd.Series[Any], values: pd.Series[Any], domain: Domain, hint: str) -> list[str]:
    """A note on released categories that no candidate has, or numbers outside their range.

    Raises
    ------
    ValueError
        If a released cell cannot be read as numbers.
    """
    if isinstance(domain, NumericDomain):
        with rows_from_one("released ", hint):
            return number_note(cells, domain, values, "candidate")
    return [note + hint for note in category_note(cells, set(values.dropna().unique()), "candidate")]


def _with_released(domain: Domain, cells: pd.Series[Any]) -> Domain:
    """An inferred domain, extended by categories that only the release names."""
    if isinstance(domain, NumericDomain):
        return domain
    return replace(domain, categories=tuple(sorted({*domain.categories, *named_categories(cells)})))


def with_values_of(domain: Domain, column: TextColumn) -> Domain:
    """A domain, extended by the values of a column that lie outside it."""
    if isinstance(domain, NumericDomain):
        numbers = column.numbers()
        low, high = np.nanmin(numbers, initial=domain.low), np.nanmax(numbers, initial=domain.high)
        return replace(domain, low=float(low), high=float(high))
    unseen = sorted(set(column.texts.to_pylist()) - set(domain.categories))
    return replace(domain, categories=(*domain.categories, *unseen))
