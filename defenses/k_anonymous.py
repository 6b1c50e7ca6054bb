"""What defenses have in common that promise k-anonymity."""

from __future__ import annotations

from collections.abc import Sequence

from defenses.guarantee import Guarantee
from defenses.microdata import Microdata


def check_enough_records(k: int, records: Microdata) -> None:
    """Raise ValueError if a class of `k` needs more records than there are."""
    if k > len(records):
        raise ValueError(f"k must not exceed the number of records, got k = {k} for n = {len(records)}")


def k_anonymity_over(k: int, records: Microdata, columns: Sequence[str]) -> Guarantee:
    """k-anonymity over `columns`; it is one of the records only if all quasi-identifiers are among them."""
    over = f"{k}-anonymity over {', '.join(columns) or 'no column'}"
    left_out = [name for name in records.quasi_identifiers if name not in columns]
    if left_out:
        return Guarantee(statement=f"{over} only: the quasi-identifier {left_out[0]} is kept")
    return Guarantee(k=k, statement=over)
