"""Control people who are in the release: rows that no record can have given, and that control people explain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from defenses.base.microdata import Microdata
from metrics.arrays import Integers
from metrics.domains import Domain
from scenarios.finished.row_origin import CellDistance

FEWEST = 20
"""Fewest rows without a record that are taken for evidence."""
MANY = 0.5
"""Share of the control people that must stand for such a row; a synthetic table of few kinds of rows has fewer."""
UNEXPLAINED = 0.05
"""Largest share of these rows that control people may leave unexplained."""
BEYOND_CHANCE = 2.0
"""How many times as many rows control people must explain as further copies of records do."""
MOST_PAIRS = 200_000_000
"""Largest number of pairs of a kind of row and a person that are compared; larger tables are not checked."""


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
    kinds, sizes = _kinds(released)
    drawn = np.random.default_rng(0).integers(len(records), size=len(control))
    people = pd.concat(
        [frame[list(kinds.columns)] for frame in (records.frame, control.frame, records.frame.iloc[drawn])],
        ignore_index=True,
    )
    if len(kinds) * len(people) > MOST_PAIRS:
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


def _kinds(released: pd.DataFrame) -> tuple[pd.DataFrame, Integers]:
    """Distinct rows, and how many there are of each."""
    code = released.groupby(list(released.columns), dropna=False, sort=False).ngroup().to_numpy()
    _, first, sizes = np.unique(code, return_index=True, return_counts=True)
    return released.iloc[first].reset_index(drop=True), sizes


def _held(
    kinds: pd.DataFrame, people: pd.DataFrame, domains: Mapping[str, Domain], sizes: tuple[int, int, int]
) -> list[Integers]:
    """Number of people of each of three groups whom each kind of row holds, each of shape (kinds,)."""
    everybody = np.arange(len(people))
    inside = np.ones((len(kinds), len(people)), dtype=bool)
    for name in kinds.columns:
        distance = CellDistance.of(kinds[name], people[name], domains[str(name)])
        # Whom a cell holds is asked once for each distinct cell.
        _, first, position = np.unique(distance.cells.codes, return_index=True, return_inverse=True)
        holds = np.array([distance(np.full(len(people), kind), everybody) == 0 for kind in first])
        inside &= holds[position]
    return [part.sum(axis=1) for part in np.split(inside, np.cumsum(sizes)[:-1], axis=1)]
