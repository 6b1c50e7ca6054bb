"""Columns of a table that reveal whose its rows are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attacks import Knowledge, SharedColumn, gower_distance, shared_columns
from defenses import MicrodataRelease
from scenarios.games.people import Drawn
from scenarios.tournament.rules.sheets import Sheet

NEAREST, WITHOUT = "nearest", "nearest_without:"


def nearest_originals(sheet: Sheet, people: Drawn) -> dict[str, float]:
    """Share of rows whose original is the nearest candidate, by all columns and without each one.

    The distance is Gower's. Rows declared to stem from no original do not count. Of k tied candidates, each counts 1/k.

    Parameters
    ----------
    sheet : Sheet
        The published table.
    people : Drawn
        Its candidates.
    """
    release = MicrodataRelease(sheet.frame, np.full(len(sheet.frame), -1))
    columns = shared_columns(release, Knowledge(people.candidates, people.others.take([])))
    rows = np.flatnonzero(sheet.origin >= 0)
    truth = people.answers[sheet.origin[rows]]

    def nearest(used: list[SharedColumn]) -> float:
        if not used or not rows.size:
            return 0.0
        distance = np.round(gower_distance(used)[rows], 9)
        best = distance == distance.min(axis=1, keepdims=True)
        return float((best[np.arange(rows.size), truth] / best.sum(axis=1)).mean())

    without = {
        WITHOUT + column.name: nearest([other for other in columns if other is not column]) for column in columns
    }
    return {NEAREST: nearest([*columns]), **without}


def leaking_columns(values: Mapping[str, float | None]) -> list[tuple[str, float, float]]:
    """Rate of nearest originals with all columns and without each one, the most informative column first.

    Parameters
    ----------
    values : mapping
        Contains the result of `nearest_originals`.

    Returns
    -------
    list of (str, float, float)
        Column (``(none)`` for all columns), rate without it, and the drop that leaving it out causes.
    """
    rate_of_all = float(values[NEAREST] or 0.0)
    rates = {
        name.removeprefix(WITHOUT): float(rate or 0.0) for name, rate in values.items() if name.startswith(WITHOUT)
    }
    drops = sorted(
        ((name, rate, rate_of_all - rate) for name, rate in rates.items()), key=lambda one: (-one[2], one[0])
    )
    return [("(none)", rate_of_all, 0.0), *drops]
