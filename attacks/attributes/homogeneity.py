"""Homogeneity attack: a class with a single sensitive value discloses it."""

from __future__ import annotations

import numpy as np

from attacks.base import ClassInference, ReleasedClasses, ValueClaims, claims_from_scores


class Homogeneity(ClassInference):
    """Answers only where all released rows nearest to the target have one sensitive value.

    k-anonymity does not prevent it; l-diversity does. The nearest rows are those that cover the target, if any do. The
    answer is then certain, provided that the target is in the table and the cells hold the truth. A target whom no
    class covers is answered by the nearest class (Gower). Otherwise answers that are right by luck, because a value is
    frequent, would count as a leak.

    The attack assumes only the target's quasi-identifiers. It is `MajorityInClass` with abstentions, so it finds fewer
    values than that baseline.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007), l-diversity, section 2.

    Examples
    --------
    All people in their twenties have the flu, so the attack names it. It abstains on the second target:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import Homogeneity, Knowledge
    >>> from defenses import Microdata, MicrodataRelease
    >>> ages, illnesses = ["[20,29]", "[20,29]", "[30,39]", "[30,39]"], ["flu", "flu", "flu", "cold"]
    >>> release = MicrodataRelease(pd.DataFrame({"age": ages, "illness": illnesses}), origin=np.arange(4))
    >>> sample = pd.DataFrame({"age": [21, 38], "illness": ["flu", "cold"]})
    >>> auxiliary = Microdata(sample, quasi_identifiers=("age",), sensitive=("illness",))
    >>> knowledge = Knowledge(pd.DataFrame({"age": [25, 35]}), auxiliary)
    >>> claims = Homogeneity().run(release, knowledge, np.random.default_rng(0))
    >>> claims.about.tolist(), claims.values["illness"].tolist()
    ([0], ['flu'])
    """

    def claims(self, matching: ReleasedClasses) -> ValueClaims:
        """Claim the values of targets in homogeneous classes."""
        counts = matching.near_counts
        homogeneous = (counts > 0).sum(axis=1) == 1
        confidence = np.ones(len(counts))
        return claims_from_scores(counts * homogeneous[:, None], matching.column, matching.domain, confidence)
