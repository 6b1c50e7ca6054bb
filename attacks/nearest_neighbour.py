"""Linkage to the nearest candidate."""

from __future__ import annotations

from numpy.random import Generator

from attacks.attack import Attack, Knowledge
from attacks.claims import RankedAnswers
from attacks.linkage import gower_distance, shared_columns
from defenses.release import MicrodataRelease


class NearestNeighbour(Attack):
    """Answers every released row with the candidate at the smallest Gower distance.

    The baseline of all linkage: it knows nothing of the mechanism and lets two rows have one candidate.

    References
    ----------
    Gower (1971), A general coefficient of similarity and some of its properties.
    """

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Rank candidates by distance; ties are broken at random."""
        return RankedAnswers.from_scores(-gower_distance(shared_columns(release, knowledge)), rng)
