"""Default hierarchies of quasi-identifiers, which a note names where they are used."""

from __future__ import annotations

from defenses.base.defense import MicrodataDefense
from defenses.base.pipeline import Pipeline
from scenarios.tables.dataset import Dataset

USERS = frozenset(("GlobalRecoding", "Incognito"))
"""Defenses that release levels of hierarchies."""


def hierarchy_notes(dataset: Dataset, defense: MicrodataDefense | None = None) -> list[str]:
    """A note on the quasi-identifiers that declare no hierarchy.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    defense : MicrodataDefense, optional
        The defense that will be applied. If it uses no hierarchy, there is no note.
    """
    if not dataset.bare or (defense is not None and not uses_hierarchies(defense)):
        return []
    return [
        f"{', '.join(dataset.bare)}: no hierarchy declared, so GlobalRecoding and Incognito coarsen by default steps: "
        "each joins two neighbouring bins or ordered categories; categories without an order become * at once"
    ]


def uses_hierarchies(defense: MicrodataDefense) -> bool:
    """Return whether a defense, or a step of a pipeline, releases levels of hierarchies."""
    if type(defense) is Pipeline:
        return any(map(uses_hierarchies, defense.steps))
    # Incognito takes SciPy, which other defenses do not need.
    return not USERS.isdisjoint(kind.__name__ for kind in type(defense).__mro__)
