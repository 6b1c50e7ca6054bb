"""Attribute inference by the nearest released row, as the GDPR's criterion of inference is tested."""

from __future__ import annotations

import numpy as np

from attacks.base import ClassInference, ReleasedClasses, ValueClaims, value_claims


class NearestRowInference(ClassInference):
    """Attribute inference by the sensitive value of the released row nearest to the target (Gower's distance).

    Among equally near rows one is drawn. The claims state its probability, so that the rate is exact and carries no
    sampling error. Rows need not stem from records, so the attack also measures inference risk in synthetic data.

    The attack assumes only the target's known columns. Where several rows are equally near, as always in k-anonymous
    tables, the baseline `MajorityInClass` names more values.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4.3; Article 29 Data Protection Working Party (2014), Opinion 05/2014 on anonymisation techniques.
    """

    def claims(self, matching: ReleasedClasses) -> ValueClaims:
        """Claim the values of each target's nearest rows."""
        counts = matching.near_counts
        rows = np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
        # The share of rows without a value is an abstention.
        return value_claims(counts / rows, matching.column, matching.domain, (counts / rows).max(axis=1))
