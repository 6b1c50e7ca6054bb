"""Whose the rows of a finished release are, where a person may have several."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from metrics.columns import SUPPRESSED, Domain, Integers
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.assessment.evaluation.finished_table import FinishedTable
from scenarios.assessment.evaluation.row_origin import DOUBTED, MOST_PAIRS, RowOrigin, held_people, kinds_of_rows


def people_of_rows(setting: EvaluationSetting, table: FinishedTable, origin: RowOrigin) -> Integers | None:
    """Number of the person of each released row, shape (rows,); rows of the same class may be exchanged.

    Parameters
    ----------
    setting : EvaluationSetting
        The original table.
    table : FinishedTable
        The release.
    origin : RowOrigin
        What is known about the origin of its rows.

    Returns
    -------
    ndarray of int, shape (rows,), or None
        None if the release and the original table do not tell.

    Notes
    -----
    A record tells the person: the record that the row stems from, or the one that fits the row and no other row
    (`fitting_records`). Else the release's own column of the person does, if it holds as many people at most as the
    original table.
    """
    if not setting.repeats:
        return np.arange(len(table.frame))
    key = table.sha256, origin.kind, origin.origin.tobytes()
    return setting.kept("people of rows", key, lambda: _known_people(setting, table, origin))


def _known_people(setting: EvaluationSetting, table: FinishedTable, origin: RowOrigin) -> Integers | None:
    """The person of each row; see `people_of_rows`."""
    if origin.kind != DOUBTED and (origin.origin >= 0).all():
        return setting.people[origin.origin]
    records, quasi = setting.records.frame, [name for name in setting.records.quasi_identifiers if name in table.frame]
    for names in (list(table.frame.columns), quasi):
        record = fitting_records(table.frame[names], records, table.domains) if names else None
        if record is not None:
            return setting.people[record]
    person = table.person
    if person is None or person.isna().any() or person.eq(SUPPRESSED).any() or person.nunique() > setting.size:
        return None
    numbers: Integers = pd.factorize(person)[0].astype(np.intp)
    return numbers


def fitting_records(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> Integers | None:
    """Record of each released row, shape (rows,), up to exchanges among equal rows; None unless the cells tell it.

    Parameters
    ----------
    released : DataFrame, shape (rows, columns)
        Released cells.
    records : DataFrame, shape (records, more columns)
        Original values.
    domains : mapping of str to Domain
        Domains of the released columns.

    Notes
    -----
    If as many records fit a kind of row as there are such rows, these are its records, and no other kind has them. This
    is repeated with the records that are left. A kind that fewer records fit shows that cells do not hold the values
    they stem from, as after noise.

    Examples
    --------
    >>> from metrics.columns.domains import NumericDomain
    >>> released = pd.DataFrame({"age": ["[20,29]", "*", "[20,29]"]})
    >>> fitting_records(released, pd.DataFrame({"age": [50, 21, 28]}), {"age": NumericDomain(0, 99)}).tolist()
    [1, 0, 2]
    """
    kinds, kind = kinds_of_rows(released)
    if len(kinds) * len(records) > MOST_PAIRS:
        return None
    fits, sizes = held_people(kinds, records, domains), np.bincount(kind)
    record = np.full(len(released), -1)
    rows, starts = np.argsort(kind, kind="stable"), np.cumsum(sizes) - sizes
    left = np.ones(len(kinds), dtype=bool)
    while left.any():
        count = fits.sum(axis=1)
        known = np.flatnonzero(left & (count == sizes))
        if not known.size or (count < sizes)[left].any():
            return None
        for one in known:
            own = np.flatnonzero(fits[one])
            if own.size != sizes[one]:
                return None
            record[rows[starts[one] : starts[one] + sizes[one]]] = own
            fits[:, own] = False
        left[known] = False
    return record


def people_notes(setting: EvaluationSetting, people: Integers | None) -> list[str]:
    """What is counted where a person has several rows, in sentences; nothing where none has.

    Parameters
    ----------
    setting : EvaluationSetting
        The original table.
    people : ndarray of int, shape (rows,), or None
        The person of each row, if it is known.
    """
    if not setting.repeats:
        return []
    person = setting.records.person
    about = (
        f"people ({person}) are counted, not rows: {len(setting.records):,} rows of {setting.size:,} people. A "
        "person's rows are asked about together, and the person's success is the mean over them; links of two files "
        "are asked about one row of each person"
    )
    if people is not None:
        return [about, "k counts the people of a class"]
    return [
        about,
        f"k counts rows, not people ({person}): the release does not tell whose its rows are, and a class may hold "
        "fewer people",
    ]
