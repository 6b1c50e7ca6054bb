"""Summary of the columns of a data set that shows no record."""

from __future__ import annotations

from typing import NamedTuple

from metrics.columns import Domain, NumericDomain, format_number
from scenarios.tables.dataset import Dataset
from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.review.reviewed_table import ReviewedTable


class ColumnSummary(NamedTuple):
    """Summary of one column.

    Parameters
    ----------
    column, role : str
        Name of the column, and its role: ``identifier``, ``quasi-identifier``, ``sensitive``,
        ``unprotected``, ``person``, ``weight`` or ``left out``.
    type : str
        ``number``, ``date``, ``category``, or ``text`` if the column has no domain.
    domain : str
        Bounds and number of bins, or number of categories; marked if inferred.
    levels : int
        Height of the hierarchy, 0 if there is none.
    missing : int
        Number of rows without a value.
    distinct : int or str
        Number of distinct values; text where it is estimated.
    """

    column: str
    role: str
    type: str
    domain: str
    levels: int
    missing: int
    distinct: int | str


def summary(dataset: Dataset, table: ReviewedTable | None = None) -> list[ColumnSummary]:
    """Summarize every column in the table's order, by bounds and counts only; `table` reads the records."""
    table = ReviewedTable(dataset) if table is None else table
    records = dataset.records
    roles = {
        **dict.fromkeys([] if records.person is None else [records.person], "person"),
        **dict.fromkeys(records.identifiers, "identifier"),
        **dict.fromkeys(records.quasi_identifiers, "quasi-identifier"),
        **dict.fromkeys(records.sensitive, "sensitive"),
        **dict.fromkeys(dataset.left_out, "left out"),
        **dict.fromkeys([] if dataset.weight is None else [dataset.weight], "weight"),
    }
    rows = []
    for name in map(str, records.frame.columns):
        kind, words = type_and_domain(records.domains.get(name), dataset.written.dates(name))
        rows.append(
            ColumnSummary(
                name,
                roles.get(name, "unprotected"),
                kind,
                f"{words}, inferred" if name in dataset.inferred else words,
                records.hierarchies[name].height if name in records.hierarchies else 0,
                *table.counts(name),
            )
        )
    return rows


def type_and_domain(domain: Domain | None, dates: DateForm | None = None) -> tuple[str, str]:
    """Type of a column, and its domain in words; `dates` is the form of a column of dates."""
    if domain is None:
        return "text", ""
    if dates is not None and isinstance(domain, NumericDomain):
        return "date", f"{dates.bounds(domain)}, {domain.size} bin" + "s" * (domain.size > 1)
    if isinstance(domain, NumericDomain):
        integers = "integers " if domain.integer else ""
        bins = f"{domain.size} bin" + "s" * (domain.size > 1)
        return "number", f"{integers}{format_number(domain.low)} to {format_number(domain.high)}, {bins}"
    categories = "1 category" if domain.size == 1 else f"{domain.size} categories"
    return "category", f"{categories}, ordered" if domain.ordered else categories
