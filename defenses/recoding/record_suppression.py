"""Suppression of records in small equivalence classes."""

from __future__ import annotations

import numpy as np

from defenses.base import (
    Channel,
    CountedDefense,
    CountedTable,
    KAnonymousDefense,
    Microdata,
    Recoding,
    chosen_columns,
    k_anonymity_over,
)


class RecordSuppression(KAnonymousDefense, CountedDefense):
    """Records in classes smaller than k are suppressed; all others are released unchanged.

    Parameters
    ----------
    k : int
        Smallest class that is released, at least 1.
    columns : sequence of str, optional
        The columns that define the classes; by default the quasi-identifiers. A missing value is a value of its own.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1. On `apply` and `guarantee`, if it exceeds the number of records or a
        column is unknown.

    Notes
    -----
    Guarantee: k-anonymity over the columns, and thus over the quasi-identifiers if these are among them. The release
    may be empty. Record suppression is usually the last step, after recoding has made most classes large enough.

    References
    ----------
    Samarati (2001), Protecting respondents' identities in microdata release, section 3.
    """

    called = ("Record suppression", "Row suppression")

    @property
    def only_suppresses(self) -> bool:
        """Records are released unchanged, or not at all."""
        return True

    def counted_columns(self, roles: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns that define the classes; no sensitive ones."""
        return chosen_columns(roles, self.columns, roles.quasi_identifiers), ()

    def counted(self, records: Microdata) -> CountedTable:
        """Records in memory, each a combination of its own."""
        self._checked_columns(records)
        return super().counted(records)

    def recode(self, records: CountedTable) -> Recoding:
        """Release the classes with at least k records."""
        names = records.checked_columns(self.k, self.columns)
        classes = records.classes(names)
        sizes = np.bincount(classes, weights=records.counts)
        kept = np.where(sizes[classes] >= self.k, classes, -1)
        return Recoding(kept, {}, k_anonymity_over(self.k, records.roles, names), Channel())
