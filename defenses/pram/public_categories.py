"""Whether the categories of randomized columns are public, as guarantees need them to be."""

from __future__ import annotations

from collections.abc import Sequence

from defenses.base.columns import category_count
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata


def unless_public(records: Microdata, names: Sequence[str]) -> Guarantee | None:
    """The empty guarantee where no column is randomized, or a column's categories are read from the records."""
    if not names:
        return Guarantee(statement="none: no column is randomized")
    read = [name for name in names if name not in records.domains]
    if read:
        return Guarantee(statement=f"none: the domain of {', '.join(read)} is not public but read from the records")
    holes = [name for name in names if category_count(records, name) > records.domain(name).size]
    if holes:
        return Guarantee(
            statement=f"none: that a value of {', '.join(holes)} is missing, which makes missing a category, is "
            "read from the records"
        )
    return None
