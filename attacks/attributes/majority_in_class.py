"""The most frequent sensitive value of the target's class."""

from __future__ import annotations

from typing import ClassVar

from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import ValueClaims
from attacks.base.released_classes import claims_from_scores, match
from defenses.base.release import MicrodataRelease


class MajorityInClass(Attack):
    """Answers every target with the most frequent sensitive value among the released rows nearest to it.

    These are the rows that cover it, where there are any, and those at the smallest Gower distance otherwise, so that
    strangers get an answer too and the control group is a fair one. Values of equal count share the answer.

    References
    ----------
    Gower (1971), A general coefficient of similarity and some of its properties.
    """

    goal: ClassVar[str] = "attribute"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim the majority's value."""
        matching = match(release, knowledge)
        return claims_from_scores(matching.near_counts, matching.column, matching.domain)
