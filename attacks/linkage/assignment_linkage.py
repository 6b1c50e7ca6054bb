"""Linkage by the one-to-one assignment of least total distance."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, RankedAnswers, shared_columns, shared_distance
from attacks.linkage.expectation_maximization_linkage import ExpectationMaximizationLinkage
from attacks.linkage.likeliest_candidates import TABLE
from attacks.linkage.linkage_answers import assignment_answers, distance_posterior
from attacks.linkage.sparse_matching import answers_among_kept, nearest_candidates
from defenses.base import Microdata, MicrodataRelease
from metrics.columns import Integers, check_real


class AssignmentLinkage(Attack):
    """Hungarian assignment: matches rows to different candidates with the least sum of Gower distances.

    Two rows cannot stem from one candidate. The constraint helps where rows are noisy copies. It hurts, compared with
    `NearestNeighbour`, where several rows are equal (microaggregation): all but one of them are assigned to candidates
    that are less likely. Distances are no probabilities, so that its answers state no confidence.

    More than five million pairs are compared in chunks, and each row is assigned among its 40 nearest candidates.

    Parameters
    ----------
    sharpness : float
        The likelihood of a pair is taken as ``exp(-sharpness * distance)`` to rank the answers beyond the assigned one
        and to score membership. The assignment does not depend on it.

    References
    ----------
    Kuhn (1955), The Hungarian method for the assignment problem.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from attacks import Knowledge
    >>> from defenses import Microdata, MicrodataRelease
    >>> people = pd.DataFrame({"age": [21, 35, 60], "job": ["nurse", "judge", "cook"]})
    >>> release = MicrodataRelease(pd.DataFrame({"age": ["[30,40]", "22"], "job": ["*", "nurse"]}), np.array([1, 0]))
    >>> rng = np.random.default_rng(0)
    >>> claims = AssignmentLinkage().run(release.view(rng), Knowledge(people, Microdata(people)), rng)
    >>> claims.best(rng)
    array([1, 0])
    """

    called = ("Hungarian assignment", "Hungarian algorithm", "Kuhn-Munkres", "Optimal assignment")

    def __init__(self, *, sharpness: float = 100.0) -> None:
        self.sharpness = check_real("sharpness", sharpness, low=0, open_low=True)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Assign one to one."""
        rows, candidates = len(release.frame), len(knowledge.candidates)
        if rows * candidates > TABLE:
            near = nearest_candidates(shared_columns(release, knowledge), self.sharpness, rng)
            return answers_among_kept(near, candidates, rng)
        scores = -shared_distance(release, knowledge)
        posterior = distance_posterior(release, knowledge, self.sharpness)
        return assignment_answers(scores, posterior, rng, calibrated=False)


# One-to-one assignments of released rows to people, for measures that need one and play no attack.


def nearest_assignment(released: pd.DataFrame, people: Microdata, rng: Generator) -> Integers:
    """Assignment of least total Gower distance, shape (rows,); -1 for rows that it leaves over.

    `rng` breaks ties, so that a table of equal rows reveals nobody.
    """
    return _assigned(AssignmentLinkage(), released, people, rng)


def learned_assignment(released: pd.DataFrame, people: Microdata, rng: Generator) -> Integers:
    """Assignment that learns the mechanism of each column (`ExpectationMaximizationLinkage`), shape (rows,)."""
    return _assigned(ExpectationMaximizationLinkage(), released, people, rng)


def _assigned(linkage: Attack, released: pd.DataFrame, people: Microdata, rng: Generator) -> Integers:
    release = MicrodataRelease(released, np.full(len(released), -1))
    return RankedAnswers.of(linkage.run(release, Knowledge(people.frame, people.take([])), rng)).best(rng)
