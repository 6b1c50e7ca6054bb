"""What is known of each column of a data set, without showing a record."""

from __future__ import annotations

from typing import NamedTuple

from metrics.domains import Domain, NumericDomain, format_number
from scenarios.tables.dataset import Dataset


class ColumnSummary(NamedTuple):
    """One column of a data set.

    Parameters
    ----------
    column, role : str
        Its name, and ``identifier``, ``quasi-identifier``, ``sensitive`` or ``none``.
    type : str
        ``number``, ``category``, or ``text`` where it has no domain.
    domain : str
        Bounds and number of bins, or number of categories; says where it was inferred.
    levels : int
        Height of its hierarchy, 0 where it has none.
    missing, distinct : int
        Rows without a value, and different values.
    """

    column: str
    role: str
    type: str
    domain: str
    levels: int
    missing: int
    distinct: int


def summary(dataset: Dataset) -> list[ColumnSummary]:
    """One row a column, in the table's order; shows bounds and counts, never a record's value."""
    records = dataset.records
    roles = {
        **dict.fromkeys(records.identifiers, "identifier"),
        **dict.fromkeys(records.quasi_identifiers, "quasi-identifier"),
        **dict.fromkeys(records.sensitive, "sensitive"),
    }
    rows = []
    for name in map(str, records.frame.columns):
        kind, words = _words(records.domains.get(name))
        rows.append(
            ColumnSummary(
                name,
                roles.get(name, "none"),
                kind,
                f"{words}, inferred" if name in dataset.inferred else words,
                records.hierarchies[name].height if name in records.hierarchies else 0,
                int(records.frame[name].isna().sum()),
                int(records.frame[name].nunique()),
            )
        )
    return rows


def _words(domain: Domain | None) -> tuple[str, str]:
    if domain is None:
        return "text", ""
    if isinstance(domain, NumericDomain):
        whole = "integers " if domain.integer else ""
        bins = f"{domain.size} bin" + "s" * (domain.size > 1)
        return "number", f"{whole}{format_number(domain.low)} to {format_number(domain.high)}, {bins}"
    categories = "1 category" if domain.size == 1 else f"{domain.size} categories"
    return "category", f"{categories}, ordered" if domain.ordered else categories
