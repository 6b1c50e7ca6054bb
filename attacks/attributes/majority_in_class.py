"""Attribute inference by the majority value of the target's class."""

from __future__ import annotations

from attacks.base import ClassInference, ReleasedClasses, ValueClaims, claims_from_scores


class MajorityInClass(ClassInference):
    """Attribute inference by the most frequent sensitive value among the released rows nearest to the target.

    These are the rows that cover the target, if any do, and otherwise those at the smallest Gower distance. Strangers
    therefore get an answer too, which makes the control group a fair one. Values of equal count share the answer.

    The attack assumes only the target's quasi-identifiers. It is the baseline of the other attribute attacks.

    References
    ----------
    Gower (1971), A general coefficient of similarity and some of its properties.
    """

    def claims(self, matching: ReleasedClasses) -> ValueClaims:
        """Claim each target's majority value."""
        return claims_from_scores(matching.near_counts, matching.column, matching.domain)
