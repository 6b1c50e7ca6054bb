"""Data sets: a table of records with the roles and domains of its columns."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from defenses.base import Hierarchy, IntervalHierarchy, Microdata, TableHierarchy
from metrics.columns import (
    SUPPRESSED,
    CategoricalDomain,
    Domain,
    NumericDomain,
    UnfitValueError,
    format_number,
    infer_domain,
    refuse,
    require_column,
)
from scenarios.tables.impossible_rows import read_rules
from scenarios.tables.note import Note
from scenarios.tables.reading import DateForm, TextColumn, TextError, WrittenCells, read_text_table
from scenarios.tables.roles import BINS, Column, DateColumn, NumberColumn, Roles, declared_domain, read_roles
from scenarios.tables.toml.toml_file import read_bytes

# Inference of what a roles file omits: domains from data, bins and hierarchies from domains.


def inferred_domain(name: str, column: TextColumn, declared: Column | None) -> tuple[Domain, str]:
    """Domain inferred from a column's values, hence not public, and its description in words."""
    refuse(column.empty, f"{column.where} has no value in any row; declare its domain in a roles file or remove it")
    if column.dates is not None:
        days = column.numbers
        low, high = int(days.min()), int(days.max())
        dates = NumericDomain(low, high, True, column.dates.domain_cuts(low, high), inferred=True)
        return dates, f"dates {column.dates.bounds(dates)}"
    if isinstance(declared, NumberColumn) or (declared is None and column.looks_numeric()):
        rows = pd.Series(column.number_rows(), name=name)
        refuse(rows.isna().all(), f"{column.where} has no number in any row; declare its domain or remove it")
        domain = infer_domain(rows, BINS, column.weights)
        assert isinstance(domain, NumericDomain)  # noqa: S101
        if declared is not None and declared.integer is not None:
            domain = replace(domain, integer=declared.integer)
        numbers = "integers" if domain.integer else "numbers"
        return domain, f"{numbers} {format_number(domain.low)} to {format_number(domain.high)}"
    categories = CategoricalDomain(tuple(sorted(column.texts.to_pylist())), inferred=True)
    coded = declared is None and column.looks_coded()
    reason = " (not all plain numbers: leading zeros or more than 15 digits make codes)" if coded else ""
    size = "1 category" if categories.size == 1 else f"{categories.size} categories"
    return categories, f"{size}{reason}"


def default_hierarchy(domain: Domain) -> Hierarchy:
    """Hierarchy made from a domain alone: bins and ordered categories merge in pairs, other categories all at once.

    Level 1 of numbers consists of the public bins. Each further level keeps every second cut. The last level is ``*``.
    """
    if isinstance(domain, NumericDomain):
        levels = [domain.cuts]
        while levels[-1]:
            levels.append(levels[-1][1::2])
        return IntervalHierarchy(levels, domain.low, domain.high, domain.integer)
    pairings = (domain.size - 1).bit_length() - 1 if domain.ordered else 0
    return TableHierarchy(
        [
            [category, *(str(position >> level) for level in range(1, pairings + 1)), SUPPRESSED]
            for position, category in enumerate(domain.categories)
        ],
        text=True,
    )


@dataclass(frozen=True)
class Dataset:
    """A table of records with its source.

    Parameters
    ----------
    name : str
        Short name.
    records : Microdata
        The records. Every column except identifiers has a domain, and every quasi-identifier has a hierarchy.
    test : Microdata, optional
        Test records that the publisher of the data set holds out, with the same roles and domains.
    notes : tuple of Note
        What was inferred, one sentence each.
    inferred : tuple of str
        Columns whose domain was inferred from the data. Such a domain is not public, so that a mechanism that uses it
        has no differential privacy guarantee.
    sha256 : str
        Checksum of all files that were read: data, test part, roles file and hierarchies.
    title, citation, licence : str
        One line each; empty where not given.
    separator : str, optional
        Separator of CSV fields that the roles declare.
    undecided : tuple of str
        Columns whose role is still a guess, as the roles say.
    left_out : tuple of str
        Columns without a role, which no release holds; they are among the identifiers of `records`.
    written : WrittenCells
        Form in which cells of releases are written.
    impossible : tuple of dict of str to str
        Combinations of released cells that the roles declare impossible.
    bare : tuple of str
        Quasi-identifiers without a declared hierarchy, which have a default one.
    weight : str, optional
        Column of survey weights, as the roles say.
    """

    name: str
    records: Microdata = field(repr=False)
    test: Microdata | None = field(repr=False)
    notes: tuple[Note, ...]
    inferred: tuple[str, ...]
    sha256: str
    title: str = ""
    citation: str = ""
    licence: str = ""
    separator: str | None = None
    undecided: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    written: WrittenCells = field(default_factory=WrittenCells, repr=False)
    impossible: tuple[dict[str, str], ...] = ()
    bare: tuple[str, ...] = ()
    weight: str | None = None


def with_all_columns(dataset: Dataset) -> Microdata:
    """Records of which only declared identifiers are identifiers: other tools may release columns without a role."""
    records = dataset.records
    return replace(records, identifiers=tuple(name for name in records.identifiers if name not in dataset.left_out))


def with_roles_of(records: Microdata, frame: pd.DataFrame) -> Microdata:
    """Rows of a frame as records, whose columns have the roles, domains and hierarchies that they have in others."""

    def among(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in frame.columns)

    return Microdata(
        frame,
        identifiers=among(records.identifiers),
        quasi_identifiers=among(records.quasi_identifiers),
        sensitive=among(records.sensitive),
        domains={name: domain for name, domain in records.domains.items() if name in frame.columns},
        hierarchies={name: levels for name, levels in records.hierarchies.items() if name in frame.columns},
        person=records.person if records.person in frame.columns else None,
        group=records.group if records.group in frame.columns else None,
    )


def with_columns(dataset: Dataset, columns: Sequence[str]) -> Dataset:
    """Return a data set that keeps only some columns."""
    roles = dataset.records
    for name in columns:
        require_column(roles.frame.columns, name)
        refuse(list(columns).count(name) > 1, f"column {name!r} stands twice")

    kept = [name for name in roles.frame.columns if name in columns]
    return replace(
        dataset,
        records=with_roles_of(roles, roles.frame[kept]),
        test=None if dataset.test is None else with_roles_of(dataset.test, dataset.test.frame[kept]),
        inferred=tuple(name for name in dataset.inferred if name in columns),
        sha256=hashlib.sha256("\0".join([dataset.sha256, *sorted(columns)]).encode()).hexdigest(),
        undecided=tuple(name for name in dataset.undecided if name in columns),
        impossible=tuple(rule for rule in dataset.impossible if all(name in columns for name in rule)),
        bare=tuple(name for name in dataset.bare if name in columns),
    )


def load_table(
    path: str | PathLike[str],
    roles: str | PathLike[str] | None = None,
    *,
    name: str = "",
    reading: Mapping[str, Any] | None = None,
) -> Dataset:
    """Read records from a CSV or Parquet file.

    An empty field is a missing value. So are ``nan``, ``NA``, ``?`` and the like in a column that otherwise holds
    numbers only. Elsewhere they are ordinary text unless declared. Decimal commas and thousands separators are
    recognized; see `scenarios.tables.reading.number_forms`.

    Parameters
    ----------
    path : path
        A UTF-8 CSV whose first line names the columns (also gzip-compressed), or a Parquet file.
    roles : path, optional
        TOML file of roles, domains and hierarchies; see `scenarios.tables.roles.Roles`. What it omits is inferred and
        listed in the notes. Without a roles file every column is a quasi-identifier.
    name : str
        Name of the data set; by default that of the file.
    reading : mapping of str, optional
        How the file is read; see `scenarios.tables.roles.read_roles`.

    Raises
    ------
    ValueError
        If a file cannot be read, is malformed, or does not fit the roles. The message is one line. It names the file
        and the line, row (from 1, without the header) or key.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     pd.DataFrame({"age": [34, 51], "job": ["cook", "pilot"]}).to_csv(path, index=False)
    ...     dataset = load_table(path)
    >>> dataset.records.quasi_identifiers, dataset.inferred
    (('age', 'job'), ('age', 'job'))
    """
    path = Path(path)
    roles_path = None if roles is None else Path(roles)
    files = {file: read_bytes(file) for file in (path, roles_path) if file is not None}
    declared = read_roles(roles_path, reading, content=files.get(roles_path) if roles_path else None)
    check_sum(path, hashlib.sha256(files[path]).hexdigest(), declared.dataset.sha256)
    columns, notes, _ = read_text_table(path, files[path], declared)
    return described_table(path, columns, notes, declared, roles_path, files, name=name)


def described_table(
    path: Path,
    columns: dict[str, TextColumn],
    notes: Sequence[Note],
    declared: Roles,
    roles_path: Path | None,
    files: dict[Path, bytes],
    *,
    name: str = "",
) -> Dataset:
    """Records of columns of text, with roles, domains and hierarchies."""
    check_named(declared.named(), columns, roles_path, f"{path}, which has")
    written = WrittenCells.of(declared, roles_path).with_dates(columns)
    domains, inferred, domain_notes = column_domains(columns, declared, written)
    quasi_identifiers, left_out, role_notes = _quasi_identifiers(columns, declared)
    hierarchies = {} if roles_path is None else _hierarchies(columns, declared, domains, roles_path, files)
    written = _with_levels(written, declared, domains).with_integers(domains)
    hierarchies |= {
        name: form.hierarchy(domain)
        for name, form in written.columns.items()
        if isinstance(form, DateForm) and form.levels and isinstance(domain := domains.get(name), NumericDomain)
    }
    bare = [column for column in quasi_identifiers if column not in hierarchies]
    hierarchies |= {column: default_hierarchy(domains[column]) for column in bare}
    records = Microdata(
        columns_frame(columns, domains),
        (*declared.identifiers, *left_out),
        quasi_identifiers,
        tuple(declared.sensitive),
        domains,
        hierarchies,
        declared.person,
        group=declared.group,
    )
    test = None
    if roles_path is not None and declared.dataset.test is not None:
        test = records.with_frame(
            _read_test(roles_path.parent / declared.dataset.test, declared, domains, columns, files)
        )
    return Dataset(
        name or path.name.split(".")[0],
        records,
        test,
        (*notes, *role_notes, *domain_notes, *written.notes),
        inferred,
        hashlib.sha256(b"".join(hashlib.sha256(data).digest() for data in files.values())).hexdigest(),
        declared.dataset.title,
        declared.dataset.citation,
        declared.dataset.licence,
        declared.separator,
        tuple(declared.undecided),
        left_out,
        written,
        read_rules(declared.impossible, records, written, roles_path),
        tuple(bare),
        declared.weight,
    )


def check_named(named: Mapping[str, str], columns: Collection[str], roles: Path | None, where: str) -> None:
    """Raise ValueError if roles name a column that the table lacks."""
    for column, key in named.items():
        refuse(column not in columns, f"{roles}, {key}: there is no column {column!r} in {where} {', '.join(columns)}")


def check_sum(path: Path, actual: str, expected: str | None) -> None:
    """Refuse a file whose checksum is not the declared one, if one is declared."""
    refuse(
        expected is not None and actual != expected.lower(),
        f"{path}: its sha256 is {actual}, not {expected} as declared; the file was damaged or changed",
    )


def column_domains(
    columns: dict[str, TextColumn], declared: Roles, written: WrittenCells | None = None
) -> tuple[dict[str, Domain], tuple[str, ...], list[Note]]:
    """Domains of all columns except undeclared identifiers, names of those inferred, and notes."""
    domains: dict[str, Domain] = {}
    inferred: list[str] = []
    notes: list[Note] = []
    for name, column in columns.items():
        described = declared.columns.get(name)
        if described is None and name in declared.identifiers:
            continue
        domain, additions = declared_domain(described)
        notes += [Note("declared domain", (name,), {"domain": words}) for words in additions]
        unneeded = column.empty and declared.leaves_out(name) and (described is None or described.hierarchy is None)
        if domain is None and unneeded:
            continue
        if domain is None:
            domain, words = inferred_domain(name, column, described)
            if written is not None and (extended := written.extended(name, domain)) != domain:
                domain, words = extended, f"{words} and those of its hierarchy"
            inferred.append(name)
            notes.append(Note("inferred domain", (name,), {"domain": words}))
        domains[name] = domain
    return domains, tuple(inferred), notes


def _quasi_identifiers(
    columns: dict[str, TextColumn], declared: Roles
) -> tuple[tuple[str, ...], tuple[str, ...], list[Note]]:
    """Quasi-identifiers, columns without a role that no release holds, and notes."""
    roles = [*declared.identifiers, *declared.sensitive, *declared.unprotected]
    free = [column for column in columns if column not in roles]
    if declared.quasi_identifiers is None:
        missing, others = ("roles", "") if len(free) == len(columns) else ("quasi-identifiers", "other ")
        return tuple(free), (), [Note("all quasi-identifiers", numbers={"missing": missing, "others": others})]
    without = tuple(column for column in free if column not in declared.quasi_identifiers)
    weight = () if declared.weight is None else (declared.weight,)
    unprotected = tuple(name for name in declared.unprotected if name not in weight)
    notes = [Note("no role", without), Note("unprotected", unprotected), Note("weights", weight)]
    return tuple(declared.quasi_identifiers), without, [note for note in notes if note.columns]


def _hierarchies(
    columns: dict[str, TextColumn],
    declared: Roles,
    domains: dict[str, Domain],
    roles_path: Path,
    files: dict[Path, bytes],
) -> dict[str, Hierarchy]:
    hierarchies: dict[str, Hierarchy] = {}
    for name, described in declared.columns.items():
        if described.hierarchy is None or isinstance(described, DateColumn):
            continue
        place = f"{roles_path}, table [columns.{name}], key 'hierarchy'"
        try:
            if described.hierarchy.csv is not None:
                csv_path = roles_path.parent / described.hierarchy.csv
                files[csv_path] = read_bytes(csv_path)
            hierarchy = described.hierarchy.read(roles_path.parent, name, declared, domains[name])
            hierarchy.group(_possible_values(columns[name], domains[name]), hierarchy.height)
        except TextError:
            raise
        except UnfitValueError as error:
            raise _beyond_hierarchy(columns[name], domains[name], error, place) from None
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
        hierarchies[name] = hierarchy
    return hierarchies


def _with_levels(written: WrittenCells, declared: Roles, domains: Mapping[str, Domain]) -> WrittenCells:
    """Default calendar levels of the columns of dates that declare neither a hierarchy nor bins."""
    forms = dict(written.columns)
    for name, form in written.columns.items():
        column, domain = declared.columns.get(name), domains.get(name)
        free = not isinstance(column, DateColumn) or (column.hierarchy is None and column.cuts is None)
        if isinstance(form, DateForm) and isinstance(domain, NumericDomain) and free:
            forms[name] = replace(form, levels=form.default_levels(int(domain.low), int(domain.high)))
    return replace(written, columns=forms)


def _possible_values(column: TextColumn, domain: Domain) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Values that a hierarchy must cover: all categories, or the numbers that occur."""
    if isinstance(domain, CategoricalDomain):
        return np.array(domain.categories, dtype=object)
    return np.array(np.unique(column.number_values(domain)).tolist(), dtype=object)


def _beyond_hierarchy(column: TextColumn, domain: Domain, error: UnfitValueError, place: str) -> ValueError:
    """Refusal of a hierarchy that lacks a declared category, which is named, or a record's value, which is not."""
    value = _possible_values(column, domain)[error.row]
    if isinstance(domain, CategoricalDomain) and not domain.inferred:
        return ValueError(f"{place}: lacks the declared category {value!r}")
    row = int(np.flatnonzero(column.values(domain) == value)[0])
    return TextError(column.where, row, f"is not in its hierarchy ({place})")


def columns_frame(columns: dict[str, TextColumn], domains: dict[str, Domain]) -> pd.DataFrame:
    """Values of all columns: numbers where the domain is numeric, otherwise texts."""
    return pd.DataFrame({name: column.values(domains.get(name)) for name, column in columns.items()})


def _read_test(
    path: Path, declared: Roles, domains: dict[str, Domain], columns: dict[str, TextColumn], files: dict[Path, bytes]
) -> pd.DataFrame:
    files[path] = read_bytes(path)
    check_sum(path, hashlib.sha256(files[path]).hexdigest(), declared.dataset.test_sha256)
    test = read_text_table(path, files[path], declared).columns
    refuse(
        list(test) != list(columns),
        f"{path}: the test part has columns {', '.join(test)}; the records have {', '.join(columns)}",
    )
    return columns_frame(test, domains)
