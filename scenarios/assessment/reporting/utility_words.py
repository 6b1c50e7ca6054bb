"""What the parts of a utility measure, and why associations may be missing, 0 or 1."""

from __future__ import annotations

PARTS = {
    "marginals": "counts of single columns: 1 - distance of the distributions",
    "associations": "relations of pairs of columns (Cramer's V)",
    "queries": "counts of people in ranges of two columns",
    "classifier": "a classifier trained on the release, tested on control people",
}
"""Meaning of each part of `metrics.headline_utility.headline_utility`."""
SATURATED = 0.9995
"""Associations that are shown as 1."""
FEWEST = 3
"""Fewest columns whose pairs can differ in strength; a table without information relates all pairs alike."""


def association_words(value: float | None, columns: int) -> str:
    """Why associations are missing or 0, what 1 means, and an empty text otherwise.

    Parameters
    ----------
    value : float or None
        The part ``associations`` of a release's utility.
    columns : int
        Number of columns that were compared.
    """
    if value is None and columns < FEWEST:
        return f"Associations are not measured: that takes at least {FEWEST} columns, since pairs are compared."
    if value is None:
        return (
            "Associations are not measured: a second sample of as many people would come no closer to the original's "
            "than a release without information."
        )
    if value >= SATURATED:
        return (
            "Associations 1: in their bins, pairs are no further from the table than in a fresh sample of as many "
            "people. Numbers may still be less correlated."
        )
    if value == 0:
        return "Associations 0: the release relates columns no better than constants or random draws."
    return ""
