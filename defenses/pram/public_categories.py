"""Check that the categories of randomized columns are public, as PRAM's guarantees require."""

from __future__ import annotations

from collections.abc import Sequence

from defenses.base.columns import category_count
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata


def unless_public(records: Microdata, names: Sequence[str]) -> Guarantee | None:
    """The empty guarantee if no column is randomized or a column's categories derive from the records, else None."""
    if not names:
        return Guarantee(statement="none: no column is randomized")
    not_public = records.not_public(names)
    if not_public:
        return Guarantee(statement=f"none: the domain of {', '.join(not_public)} is read from the records; declare it")
    # The guarantee is about tables without a missing value in these columns (`public_tables` says so).
    with_missing = [name for name in names if category_count(records, name) > records.domain(name).size]
    if with_missing:
        return Guarantee(
            statement=f"none: that a value of {', '.join(with_missing)} is missing, which makes missing a category, is "
            "read from the records"
        )
    return None


def public_tables(names: Sequence[str]) -> str:
    """The tables among which PRAM's guarantees hold, in words."""
    return f"among tables without a missing value in {', '.join(names)}"
