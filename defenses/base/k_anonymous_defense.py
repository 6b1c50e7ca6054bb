"""Base class of defenses that promise k-anonymity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from defenses.base.columns import check_columns
from defenses.base.defense import MicrodataDefense, chosen_columns
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer


class KAnonymousDefense(MicrodataDefense):
    """Base class of defenses whose equivalence classes over some columns have at least `k` records.

    Parameters
    ----------
    k : int
        Smallest class size, at least 1.
    columns : sequence of str, optional
        The columns that define the classes; by default the quasi-identifiers.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1. On `guarantee`, if it exceeds the number of records or a column is
        unknown.
    """

    def __init__(self, *, k: int = 5, columns: Sequence[str] | None = None) -> None:
        check_integer("k", k, low=1)
        check_columns(columns)
        self.k = k
        self.columns = columns

    def guarantee(self, records: Microdata) -> Guarantee:
        """Promise k-anonymity if the columns include all quasi-identifiers."""
        return k_anonymity_over(self.k, records, self._checked_columns(records))

    def _checked_columns(self, records: Microdata) -> tuple[str, ...]:
        """The columns that define the classes; ValueError if one is unknown or there are fewer than k records."""
        check_enough_records(self.k, records)
        return chosen_columns(records, self.columns, records.quasi_identifiers)


def check_enough_records(k: int, records: Microdata) -> None:
    """Raise ValueError if there are fewer than `k` records."""
    if k > len(records):
        raise ValueError(f"k must not exceed the number of records, got k = {k} for n = {len(records)}")


def k_anonymity_over(k: int, records: Microdata, columns: Sequence[str], constraints: Sequence[Any] = ()) -> Guarantee:
    """k-anonymity and further constraints over `columns`; only a statement where a quasi-identifier is left out."""
    over = f"{', '.join([f'{k}-anonymity', *map(str, constraints)])} over {', '.join(columns) or 'no column'}"
    left_out = [name for name in records.quasi_identifiers if name not in columns]
    if left_out:
        return Guarantee(statement=f"{over} only: the quasi-identifier {left_out[0]} is kept")
    limits = {name: getattr(each, name) for each in constraints for name in ("l", "t") if hasattr(each, name)}
    return Guarantee(k=k, l=limits.get("l"), t=limits.get("t"), statement=over)
