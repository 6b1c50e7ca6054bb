"""Columns for which defenses give no guarantee, because their domain is inferred or a value is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from defenses import Defense, Microdata
from defenses.base import Parametrized
from leaderboard.results import grouped_by

ROWS = 50
"""Number of records with which defenses are probed; guarantees depend on domains, not on further records."""


def blocked_guarantees(records: Microdata, most: int | None = None) -> list[str]:
    """Notes on columns that keep exported defenses from a guarantee of epsilon, one for each group of columns.

    The guarantee of each defense is compared between two tables. In the first all domains are declared and no value is
    missing. The second is equal except for one column, which is as in the records.

    `most` is the number of defenses up to which a note names them all; of more it names the first. None means all.
    """
    notes = []
    inferences, gaps = list(_inferred(records)), list(_missing(records))
    claimants = _claimants(records) if inferences or gaps else []
    for words, columns in (
        ("domains read from the records: {}; {} guarantee nothing on them; declare them", inferences),
        ("missing values: {}; {} guarantee nothing on tables that have any there", gaps),
    ):
        blocked = {
            name: tuple(title for title, defense in claimants if not _guarantees(defense, probed))
            for name, probed in columns
        }
        groups = grouped_by(blocked, blocked.__getitem__)
        notes += [words.format(", ".join(names), _list(titles, most)) for titles, names in groups.items() if titles]
    inferred = records.not_public(records.released_columns)
    if inferred:
        notes.append(f"Curator and FederatedAveraging do not read {', '.join(inferred)} before the domain is declared")
    return notes


def _inferred(records: Microdata) -> Iterator[tuple[str, Microdata]]:
    """Each released column with an inferred domain, and the table in which only this domain is inferred."""
    ideal = _ideal(records)
    for name in records.not_public(records.released_columns):
        yield name, replace(ideal, domains={**ideal.domains, name: replace(ideal.domains[name], inferred=True)})


def _missing(records: Microdata) -> Iterator[tuple[str, Microdata]]:
    """Each released column with a missing value, and the table in which a value is missing only there."""
    ideal = _ideal(records)
    for name in records.released_columns:
        if records.frame[name].isna().any():
            column = ideal.frame[name].where(ideal.frame.index > 0)
            yield name, ideal.with_frame(ideal.frame.assign(**{name: column}))


def _ideal(records: Microdata) -> Microdata:
    """The first records with all domains declared and missing values filled in."""
    domains = {name: replace(records.domain(name), inferred=False) for name in records.released_columns}
    frame = pd.DataFrame({name: column.bfill().ffill().head(ROWS) for name, column in records.frame.items()})
    return replace(records, frame=frame.reset_index(drop=True), domains={**records.domains, **domains})


def _claimants(records: Microdata) -> list[tuple[str, Defense]]:
    """Exported defenses that guarantee epsilon on the ideal table with their example parameters."""
    from scenarios.running.methods.methods import exported

    ideal = _ideal(records)
    examples = {name: _example(method) for name, method in exported("defenses").items()}
    return [
        (name, defense)
        for name, defense in examples.items()
        if isinstance(defense, Defense) and _guarantees(defense, ideal)
    ]


def _example(method: type[Parametrized]) -> Parametrized | None:
    """An example of a method, or None if its parameters must name columns, so that no example fits every table."""
    try:
        return method.example()
    except TypeError:
        return None


def _guarantees(defense: Defense, records: Microdata) -> bool:
    try:
        return defense.guarantee(records).epsilon is not None
    except ValueError:
        return False


def _list(names: tuple[str, ...], most: int | None) -> str:
    if most is not None and len(names) > most:
        return f"{names[0]} and {len(names) - 1} other defenses"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
