"""Columns of a table by role, for what is said about promises."""

from __future__ import annotations

from collections.abc import Sequence

from defenses import Guarantee, Microdata
from leaderboard.results.promises import Promise
from scenarios.running.plan import NamedMethod
from scenarios.tables.dataset import Dataset


def column_roles(records: Microdata, left_out: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Columns by role (`leaderboard.results.promises.ROLES`); the column that says whose row it is has none of them.

    Parameters
    ----------
    records : Microdata
        The table.
    left_out : sequence of str
        Columns without a role, which are among the identifiers of `records`.
    """
    with_role = {*records.quasi_identifiers, *records.sensitive, records.person}
    return {
        "quasi_identifiers": tuple(records.quasi_identifiers),
        "sensitive": tuple(records.sensitive),
        "unprotected": tuple(name for name in records.released_columns if name not in with_role),
        "identifiers": tuple(name for name in records.identifiers if name not in left_out),
        "left_out": tuple(left_out),
    }


def promise_on(dataset: Dataset, entry: NamedMethod, promised: Guarantee) -> Promise:
    """The promise of a setting on a whole table, for a report."""
    return Promise(
        scenario=dataset.name,
        defense=entry.name,
        parameters=entry.parameters,
        guarantee=str(promised),
        statement=promised.statement,
        released=dataset.records.released_columns,
        roles=column_roles(dataset.records, dataset.left_out),
    )
