"""What the parts of a utility measure, and why associations may be missing or 0."""

from __future__ import annotations

PARTS = {
    "marginals": "counts of single columns: 1 - distance of the distributions",
    "associations": "relations of pairs of columns (Cramer's V)",
    "queries": "counts of people in ranges of two columns",
    "classifier": "a classifier trained on the release, tested on control people",
}
"""Meaning of each part of `metrics.headline_utility.headline_utility`."""
FEWEST = 3
"""Fewest columns whose pairs can differ in strength; a table without information relates all pairs alike."""


def association_words(value: float | None, columns: int) -> str:
    """Why associations are missing or 0, and an empty text otherwise.

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
    if value == 0:
        return "Associations 0: the release relates columns no better than constants or random draws."
    return ""
