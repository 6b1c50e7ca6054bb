"""Tables that are read in parts, spread over the public bins of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack, vstack

from metrics.arrays import Integers
from metrics.domains import Domain
from metrics.information_loss import normalized_certainty_penalty
from metrics.profile import CodedProfile, original_profile, profile
from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.released import LargeReleased


@dataclass(frozen=True)
class BinnedTable:
    """Mass of the rows of a table in the bins of its columns; see `metrics.profile.Profile.mass`.

    Parameters
    ----------
    table : LargeRecords or LargeReleased
        The table: original values, or released cells.
    domains : mapping of str to Domain
        Its columns, with their public bins.
    masses : mapping of str to csr_array, each of shape (codes, bins of the column)
        Mass of each code's value or cell. Columns of `LargeColumn.numbers_only` of original values have none: the
        mass of their rows follows from the numbers.
    """

    table: LargeRecords | LargeReleased
    domains: Mapping[str, Domain]
    masses: Mapping[str, csr_array] = field(repr=False)

    @classmethod
    def of_records(cls, records: LargeRecords, domains: Mapping[str, Domain]) -> BinnedTable:
        """Spread original values."""
        masses = {}
        for name, domain in domains.items():
            column = records.columns[name]
            if not column.numbers_only:
                kind = records.roles.frame[name].to_numpy().dtype
                values = pd.Series(column.values.astype(kind), name=name)
                distinct = original_profile(values.to_frame(), {name: domain})
                # The code of a missing value exists even where none is missing.
                masses[name] = _with_missing(_sparse(distinct), column.missing)
        return cls(records, domains, masses)

    @classmethod
    def of_release(
        cls, released: LargeReleased, domains: Mapping[str, Domain], measured: Sequence[str]
    ) -> tuple[BinnedTable, float]:
        """Spread released cells, and measure the normalized certainty penalty of some columns.

        Raises
        ------
        ValueError
            If the release lacks a column or holds a cell that cannot be read.
        """
        masses, penalties = {}, []
        for name, domain in domains.items():
            if name not in released.columns:
                raise ValueError(f"the released table has no column {name!r}")
            counts, parts, penalty = released.columns[name].counts, [], 0.0
            start = 0
            for cells in released.cells(name):
                frame = pd.DataFrame({name: pd.Series(cells, dtype=object)})
                parts.append(_sparse(profile(frame, {name: domain})))
                weights = counts[start : start + len(cells)]
                if name in measured and weights.any():
                    part = normalized_certainty_penalty(frame, {name: domain}, weights=weights)
                    penalty += part * float(weights.sum())
                start += len(cells)
            masses[name] = csr_array(vstack(parts))
            penalties += [penalty / released.rows] if name in measured else []
        return cls(released, domains, masses), float(np.mean(penalties))

    @property
    def starts(self) -> Integers:
        """First bin of each column's block, shape (columns,)."""
        return np.cumsum([0, *(domain.size + 1 for domain in self.domains.values())])[:-1].astype(np.intp)

    @property
    def bins(self) -> int:
        """Number of bins of all columns."""
        return sum(domain.size + 1 for domain in self.domains.values())

    def mass(self, columns: Mapping[str, Integers]) -> csr_array:
        """Mass of rows, shape (rows, bins), given the code or number of each row in every column."""
        parts = []
        for name, domain in self.domains.items():
            if name in self.masses:
                parts.append(self.masses[name][columns[name]])
            else:
                parts.append(_sparse(original_profile(pd.DataFrame({name: columns[name]}), {name: domain})))
        return csr_array(hstack(parts, format="csr"))


def _sparse(distinct: CodedProfile) -> csr_array:
    """Mass of the rows of a profile of one column."""
    return csr_array(csr_array(distinct.cells[0])[distinct.codes[0]])


def _with_missing(mass: csr_array, missing: int) -> csr_array:
    """Masses of all codes, among them that of a missing value, which lies in the last bin."""
    if missing < mass.shape[0]:
        return mass
    last = csr_array(([1.0], ([0], [mass.shape[1] - 1])), shape=(1, mass.shape[1]))
    return csr_array(vstack([mass, last]))
