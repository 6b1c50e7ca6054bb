"""What defenses have in common that promise k-anonymity."""

from __future__ import annotations

from collections.abc import Sequence

from defenses.constraints import Constraint
from defenses.guarantee import Guarantee
from defenses.microdata import Microdata


def check_enough_records(k: int, records: Microdata) -> None:
    """Raise ValueError if a class of `k` needs more records than there are."""
    if k > len(records):
        raise ValueError(f"k must not exceed the number of records, got k = {k} for n = {len(records)}")


def k_anonymity_over(
    k: int, records: Microdata, columns: Sequence[str], constraints: Sequence[Constraint] = ()
) -> Guarantee:
    """k-anonymity and further constraints over `columns`; the records have them only if all quasi-identifiers do."""
    over = f"{', '.join([f'{k}-anonymity', *map(str, constraints)])} over {', '.join(columns) or 'no column'}"
    left_out = [name for name in records.quasi_identifiers if name not in columns]
    if left_out:
        return Guarantee(statement=f"{over} only: the quasi-identifier {left_out[0]} is kept")
    limits = {name: getattr(each, name) for each in constraints for name in ("l", "t") if hasattr(each, name)}
    return Guarantee(k=k, l=limits.get("l"), t=limits.get("t"), statement=over)
