"""What every finished release of one table is evaluated with: the records, control people, targets and utility."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from defenses.base.microdata import Microdata
from metrics.arrays import Integers
from metrics.domains import Domain, NumericDomain
from metrics.table_utility import TableUtility, prediction_target
from scenarios.files.toml_file import read_bytes
from scenarios.seeds import generator
from scenarios.tables.candidate_table import with_values_of
from scenarios.tables.dataset import Dataset
from scenarios.tables.roles import Roles
from scenarios.tables.text_table import text_table

Value = TypeVar("Value")
TARGETS = 500
"""Number of people in the table whom attacks are about, by default."""
AUXILIARY = 1000
"""Largest number of the attacker's own people."""
MOST_BINS = 10_000
"""Largest number of categories and bins of all columns: utility counts the records in each pair of them (800 MB)."""


@dataclass(frozen=True)
class EvaluationSetting:
    """The original table, people who were not in it, and the targets of attacks.

    Parameters
    ----------
    dataset : Dataset
        The original table.
    roles : Roles
        Its roles file, which also says how files are read.
    control : Microdata, optional
        People of the same population who were not in the table, with the roles of the originals.
    control_sha256 : str
        Checksum of their file; empty without control.
    seed : int
        Seed of all random draws.
    targets : int
        Number of people in the table whom attacks are about, at least 1.

    Raises
    ------
    ValueError
        If the table has no column to compare, or so many categories that its bins do not fit into memory.
    """

    dataset: Dataset = field(repr=False)
    roles: Roles = field(default_factory=Roles, repr=False)
    control: Microdata | None = field(default=None, repr=False)
    control_sha256: str = ""
    seed: int = 1
    targets: int = TARGETS
    _cache: dict[str, tuple[Hashable, Any]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError("the original table has no column besides identifiers")
        bins = {name: self.domains[name].size + 1 for name in self.columns}
        if sum(bins.values()) > MOST_BINS:
            name = max(bins, key=bins.__getitem__)
            raise ValueError(
                f"the original table has {sum(bins.values())} categories and bins, and at most {MOST_BINS} can be "
                f"compared: column {name!r} has {bins[name] - 1}; declare it as an identifier, or its public categories"
            )

    @cached_property
    def records(self) -> Microdata:
        """The original records; columns without a role count among those that a release may hold."""
        return with_all_columns(self.dataset)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns with a role, in which utility is measured."""
        return self.dataset.records.released_columns

    @cached_property
    def domains(self) -> dict[str, Domain]:
        """Domains of all columns except identifiers; inferred ones hold the control people's categories, too."""
        domains = {name: self.records.domain(name) for name in self.records.released_columns}
        if self.control is not None:
            domains |= {name: self.control.domains[name] for name in domains if name in self.control.domains}
        return domains

    def utility(self, domains: Mapping[str, Domain]) -> TableUtility:
        """Utility measure of releases in the columns with a role, as `tokumei utility` builds it."""
        domains = {name: domains[name] for name in self.columns}
        held_out = self.records.frame.iloc[:0] if self.control is None else self.control.frame
        target = prediction_target(self.records.sensitive, domains)
        key = tuple((name, str(domain)) for name, domain in domains.items())
        return self.kept(
            "utility",
            key,
            lambda: TableUtility(self.records.frame, domains, held_out, target, np.random.default_rng(self.seed)),
        )

    def prepare(self) -> None:
        """Compute what all releases of complete domains need, before processes share it."""
        utility = self.utility(self.domains)
        _ = utility.floor, utility.original_auc

    def kept(self, name: str, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return what was computed last under this name if the key is the same, else compute it."""
        if self._cache.get(name, (None,))[0] != key:
            self._cache[name] = key, compute()
        value: Value = self._cache[name][1]
        return value

    @cached_property
    def target_order(self) -> Integers:
        """Random order of the records; targets are the first ones."""
        return generator(self.seed, "rank", "targets").permutation(len(self.records))

    @cached_property
    def control_order(self) -> Integers:
        """Random order of the control people; empty without control."""
        return generator(self.seed, "rank", "control").permutation(0 if self.control is None else len(self.control))

    def members(self, count: int) -> Microdata:
        """The first targets among the records."""
        return self._public(self.records.take(self.target_order[:count]))

    def rest(self, count: int) -> Microdata:
        """All records but the first targets."""
        return self._public(self.records.take(self.target_order[count:]))

    def others(self, count: int) -> Microdata:
        """The first control people, at most half of all, who are non-members or strangers."""
        return self._controls(self.control_order[: min(count, most_asked(self.control_order.size))])

    def auxiliary(self, count: int, most: int = AUXILIARY) -> Microdata:
        """The attacker's own people: at most `most` of the control people after the first `count`."""
        first = len(self.others(count))
        return self._controls(self.control_order[first : first + most])

    def _controls(self, positions: Integers) -> Microdata:
        return self._public(self.records.take([]) if self.control is None else self.control.take(positions))

    def _public(self, people: Microdata) -> Microdata:
        return replace(people, domains={**people.domains, **self.domains})


def most_asked(control: int) -> int:
    """Largest number of so many control people about whom attacks are asked; the others are the attacker's own."""
    return (control + 1) // 2


def with_all_columns(dataset: Dataset) -> Microdata:
    """Records of which only declared identifiers are identifiers: other tools may release columns without a role."""
    records = dataset.records
    return replace(records, identifiers=tuple(name for name in records.identifiers if name not in dataset.left_out))


def read_control(path: Path, dataset: Dataset, roles: Roles) -> tuple[Microdata, str]:
    """Read people of the same population who were not in the table.

    Parameters
    ----------
    path : Path
        CSV or Parquet file with all columns of the original table; identifiers may be missing.
    dataset : Dataset
        The original table, which gives domains. Those that are inferred, or of columns without a role, are extended.
    roles : Roles
        Its roles file.

    Returns
    -------
    control : Microdata
        The people, with the domains of both tables.
    sha256 : str
        Checksum of the file.

    Raises
    ------
    ValueError
        If the file cannot be read, lacks a column, holds a value outside a declared domain, or holds the same rows as
        the original table.
    """
    data = read_bytes(path)
    columns, _ = text_table(path, data, roles)
    records = with_all_columns(dataset)
    lacking = [name for name in records.released_columns if name not in columns]
    if lacking:
        raise ValueError(
            f"{path}: control people need the columns of the original table; there is no {lacking[0]!r}, "
            f"it has {', '.join(columns)}"
        )
    values, domains = {}, {}
    for name in records.released_columns:
        domain = wide = records.domain(name)
        if domain.inferred or name in dataset.left_out:
            wide = with_values_of(domain, columns[name])
        if isinstance(wide, NumericDomain):
            # Numbers outside the records' range belong to the nearest bin.
            wide = replace(wide, integer=wide.integer and not wide.inferred)
        else:
            domain = wide
        values[name], domains[name] = columns[name].values(wide), domain
    frame = pd.DataFrame(values)
    _check_others(path, frame, records)
    for name in records.identifiers:
        frame[name] = None
    people = replace(records.with_frame(frame[list(records.frame.columns)]), domains=domains)
    return people, hashlib.sha256(data).hexdigest()


def _check_others(path: Path, control: pd.DataFrame, records: Microdata) -> None:
    """Refuse control people whose rows are those of the original table, in any order."""
    first, second = (
        np.sort(pd.util.hash_pandas_object(frame[list(control.columns)].astype(str), index=False).to_numpy())
        for frame in (control, records.frame)
    )
    if np.array_equal(first, second) and np.unique(first).size > 1:
        raise ValueError(f"{path}: holds the people of the original table; control people are those who were not in it")


def records_among(control: Microdata, records: Microdata) -> int:
    """Number of control people who equal a record in every column."""
    first, second = (
        pd.util.hash_pandas_object(people.frame[list(people.released_columns)].astype(str), index=False)
        for people in (control, records)
    )
    return int(first.isin(second).sum())
