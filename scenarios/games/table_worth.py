"""What a released table is worth, and what it holds of its promise."""

from __future__ import annotations

import pandas as pd

from defenses.base.microdata import Microdata
from metrics.classes import k_anonymity
from metrics.diversity import l_diversity
from metrics.utility import TableUtility


def table_worth(utility: TableUtility, roles: Microdata, released: pd.DataFrame) -> dict[str, float | None]:
    """Anchored utility of a released table (`metrics.utility.TableUtility`), and its k and l as measured.

    Parameters
    ----------
    utility : TableUtility
        Scores releases of the originals.
    roles : Microdata
        The originals, for the roles of their columns.
    released : DataFrame, shape (rows, columns)
        Released cells.
    """
    measured: dict[str, float | None] = {"k": None, "l": None}
    if roles.quasi_identifiers and len(released):
        measured["k"] = k_anonymity(released, roles.quasi_identifiers)
        if roles.sensitive:
            measured["l"] = min(l_diversity(released, roles.quasi_identifiers, name) for name in roles.sensitive)
    return {**utility.score(released), **measured}
