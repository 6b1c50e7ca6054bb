"""Linkage by the cheapest one-to-one assignment."""

from __future__ import annotations

from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import RankedAnswers
from attacks.base.sides import gower_distance, shared_columns
from attacks.linkage.linkage_answers import assignment_answers
from attacks.linkage.row_matching import matching_posterior
from defenses.base.parameters import check_real
from defenses.base.release import MicrodataRelease


class AssignmentLinkage(Attack):
    """Assigns released rows to different candidates so that Gower distances add up to the least.

    It knows that two rows cannot stem from one candidate, which helps where rows are noisy copies. It hurts, against
    `NearestNeighbour`, where several rows are equal (microaggregation): all but one of them are pushed away from
    candidates that are as near. Distances are no probabilities, so that its answers state no confidence.

    A candidate's missing value disagrees in full with a released cell that is none (`gower_distance`), which pushes a
    row to others; that they are other rows' helps it back (`NearestNeighbour` has the figures).

    Parameters
    ----------
    sharpness : float
        Answers beyond the assigned one are ranked, and members found, as if likelihoods fell by
        ``exp(-sharpness * distance)``; the assignment does not depend on it.

    References
    ----------
    Kuhn (1955), The Hungarian method for the assignment problem.
    """

    def __init__(self, *, sharpness: float = 100.0) -> None:
        self.sharpness = sharpness
        check_real("sharpness", sharpness, low=0, open_low=True)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Assign one to one."""
        scores = -gower_distance(shared_columns(release, knowledge))
        return assignment_answers(scores, matching_posterior(self.sharpness * scores), rng, calibrated=False)
