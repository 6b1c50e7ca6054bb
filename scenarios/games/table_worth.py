"""Utility of a released table, and its measured k and l."""

from __future__ import annotations

from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from metrics.classes import k_anonymity
from metrics.diversity import l_diversity
from metrics.table_utility import TableUtility


def table_worth(utility: TableUtility, roles: Microdata, release: MicrodataRelease) -> dict[str, float | None]:
    """Anchored utility of a released table (`metrics.table_utility.TableUtility`), and its measured k and l.

    Parameters
    ----------
    utility : TableUtility
        Measures the utility of releases of the originals.
    roles : Microdata
        The originals, which give the roles of the columns.
    release : MicrodataRelease
        The release: utility is that of its analyst's table, k and l are those of its released cells.

    Returns
    -------
    dict of str to float or None
        Components of utility, and ``k`` and ``l``. These are None without quasi-identifiers or rows; ``l`` also without
        a sensitive column.
    """
    measured: dict[str, float | None] = {"k": None, "l": None}
    if roles.quasi_identifiers and len(release.frame):
        measured["k"] = k_anonymity(release.frame, roles.quasi_identifiers)
        if roles.sensitive:
            measured["l"] = min(l_diversity(release.frame, roles.quasi_identifiers, name) for name in roles.sensitive)
    return {**utility.score(release.analyst_table), **measured}
