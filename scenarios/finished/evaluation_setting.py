"""What every finished release of one table is evaluated with: the records, control people, targets and utility."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from defenses.base.microdata import Microdata
from metrics.arrays import Integers
from metrics.domains import Domain
from metrics.table_utility import TableUtility, prediction_target
from scenarios.seeds import generator
from scenarios.tables.dataset import Dataset
from scenarios.tables.roles import Roles

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
