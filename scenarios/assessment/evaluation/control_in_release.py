"""Control people who are in the release: rows that no record can have given, and that control people explain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from defenses.base.microdata import Microdata
from metrics.arrays import Integers
from metrics.domains import Domain
from scenarios.assessment.evaluation.row_origin import MOST_PAIRS, held_people, kinds_of_rows

FEWEST = 20
"""Fewest rows without a record that are taken for evidence."""
MANY = 0.5
"""Share of the control people that must stand for such a row; a synthetic table of few kinds of rows has fewer."""
UNEXPLAINED = 0.05
"""Largest share of these rows that control people may leave unexplained."""
BEYOND_CHANCE = 2.0
"""How many times as many rows control people must explain as further copies of records do."""


def refuse_control_in_release(
    name: str, released: pd.DataFrame, records: Microdata, control: Microdata, domains: Mapping[str, Domain]
) -> None:
    """Refuse a release that holds the control people.

    Parameters
    ----------
    name : str
        The release, which the error names.
    released : DataFrame, shape (rows, columns)
        Released cells.
    records, control : Microdata
        The original records and the control people.
    domains : mapping of str to Domain
        Domains of the released columns.

    Raises
    ------
    ValueError
        If rows remain that no record can have given, most control people explain nearly all of them, and further copies
        of records do not.

    Notes
    -----
    Rows of one kind are equal in all cells. A kind has as many rows too many as it has more rows than people whom its
    cells hold. The control people explain the difference of the rows too many without and with them. As many records,
    drawn with replacement, explain what people of the same population explain by chance. Noise and synthesis give rows
    that neither explains.
    """
    kinds, kind = kinds_of_rows(released)
    sizes = np.bincount(kind)
    drawn = np.random.default_rng(0).integers(len(records), size=len(control))
    people = pd.concat(
        [frame[list(kinds.columns)] for frame in (records.frame, control.frame, records.frame.iloc[drawn])],
        ignore_index=True,
    )
    if len(kinds) * len(people) > MOST_PAIRS:
        # Larger tables are not checked.
        return
    of_records, of_control, of_copies = _held(kinds, people, domains, (len(records), len(control), len(control)))
    too_many, with_control, with_copies = (
        int(np.maximum(sizes - held, 0).sum()) for held in (of_records, of_records + of_control, of_records + of_copies)
    )
    explained, by_chance = too_many - with_control, too_many - with_copies
    many = too_many >= FEWEST and explained >= MANY * len(control)
    if many and with_control <= UNEXPLAINED * too_many and explained > BEYOND_CHANCE * by_chance:
        raise ValueError(
            f"{name}: {too_many:,} rows stem from no record of the original table, and the control people fit "
            f"{explained:,} of them (copies of records: {by_chance:,}): control people are in the release. Hold them "
            "back before the release is made, as `tokumei split` does"
        )


def _held(
    kinds: pd.DataFrame, people: pd.DataFrame, domains: Mapping[str, Domain], sizes: tuple[int, int, int]
) -> list[Integers]:
    """Number of people of each of three groups whom each kind of row holds, each of shape (kinds,)."""
    inside = held_people(kinds, people, domains)
    return [part.sum(axis=1) for part in np.split(inside, np.cumsum(sizes)[:-1], axis=1)]
