"""Releases of grouping methods: from counted combinations, or part by part where these do not fit."""

from __future__ import annotations

from defenses.grouping.counted_table import CountedDefense
from defenses.grouping.mondrian.mondrian import Mondrian
from scenarios.tables.parts.combinations import TooManyCombinations
from scenarios.tables.parts.counted_release import counted_release
from scenarios.tables.parts.mondrian_parts import parted_release
from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.released_blocks import LargeRelease


def grouped_release(defense: CountedDefense, records: LargeRecords) -> LargeRelease:
    """Release a table from its distinct combinations of values; `Mondrian` goes part by part if these do not fit.

    Parameters
    ----------
    defense : CountedDefense
        The defense.
    records : LargeRecords
        The records.

    Raises
    ------
    TooManyCombinations
        If there are too many combinations for a method other than `Mondrian`.
    ValueError
        If the parameters do not fit the records.
    """
    try:
        return counted_release(defense, records)
    except TooManyCombinations:
        if isinstance(defense, Mondrian):
            return parted_release(defense, records)
        raise
