"""Attribute inference from the target's class: its majority value, and the intersection of two releases' classes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import (
    Attack,
    ClassInference,
    Knowledge,
    NotApplicable,
    ReleasedClasses,
    ValueClaims,
    claims_from_scores,
    match,
    value_claims,
)
from defenses.base import MicrodataRelease
from metrics.columns import check_real

# Attribute inference by the nearest released row, as the GDPR's criterion of inference is tested.


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

    called = ("Attribute inference", "AIA", "Anonymeter inference")

    def claims(self, matching: ReleasedClasses) -> ValueClaims:
        """Claim the values of each target's nearest rows."""
        counts = matching.near_counts
        rows = np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
        # The share of rows without a value is an abstention.
        return value_claims(counts / rows, matching.column, matching.domain, (counts / rows).max(axis=1))


# Skewness attack: claims the value that is most over-represented in the target's class.


class Skewness(ClassInference):
    """Claims the value whose share in the target's class exceeds its share in the table the most.

    It answers only where the total variation distance of class and table, as t-closeness measures it, exceeds
    `distance`. A t-close table with a smaller t leaves it no answer. The class consists of the nearest rows, as in
    `MajorityInClass`, so strangers are answered too.

    The attack assumes only the target's quasi-identifiers. It prefers unusual values to frequent ones and abstains
    elsewhere, so it names fewer values than the baseline `MajorityInClass`. It shows what is peculiar to a class, which
    l-diversity does not limit.

    Parameters
    ----------
    distance : float
        Smallest distance between class and table for an answer, in [0, 1].

    References
    ----------
    Li, Li and Venkatasubramanian (2007), t-closeness, section 3.
    """

    called = ("Skewness attack",)

    def __init__(self, *, distance: float = 0.2) -> None:
        self.distance = check_real("distance", distance, low=0, high=1)

    def claims(self, matching: ReleasedClasses) -> ValueClaims:
        """Claim each target's most over-represented value."""
        counts = matching.near_counts
        size = counts.sum(axis=1, keepdims=True)
        excess = np.maximum(np.divide(counts, size, out=np.zeros_like(counts), where=size > 0) - matching.table, 0)
        far = (excess.sum(axis=1) > self.distance) & (size[:, 0] > 0)
        return claims_from_scores(excess * far[:, None], matching.column, matching.domain, excess.sum(axis=1))


# Homogeneity attack: a class with a single sensitive value discloses it.


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

    called = ("Homogeneity attack",)

    def claims(self, matching: ReleasedClasses) -> ValueClaims:
        """Claim the values of targets in homogeneous classes."""
        counts = matching.near_counts
        homogeneous = (counts > 0).sum(axis=1) == 1
        confidence = np.ones(len(counts))
        return claims_from_scores(counts * homogeneous[:, None], matching.column, matching.domain, confidence)


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


@dataclass(frozen=True)
class OtherRelease(Knowledge):
    """Knowledge of an attacker who sees a second release about some of the same people.

    - other: The second release, without origins and with its rows in an independent order.
    """

    other: MicrodataRelease = field(
        default_factory=lambda: MicrodataRelease(pd.DataFrame(), np.zeros(0, dtype=np.intp)), repr=False
    )


class CompositionAttack(Attack):
    """Claims the likeliest sensitive value that the target's classes share in two releases.

    Each release restricts the target to the values of one class, so a person in both tables has a value of the
    intersection. Let n and m be the counts of the two classes, and q the tables' shares of the values. If the other
    members are different people drawn with shares q, the value v has probability proportional to n(v) m(v) / q(v).

    The attack assumes that the target is in both tables. It extends `MajorityInClass` by the second release. If the two
    classes share no value, the target cannot be in both tables, and the first release's class answers.

    References
    ----------
    Ganta, Kasiviswanathan and Smith (2008), Composition attacks and auxiliary information in data privacy.
    """

    called = ("Composition attack", "Intersection attack")

    goal = "attribute"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Intersect the values of each candidate's two classes."""
        if not isinstance(knowledge, OtherRelease):
            raise NotApplicable("there is no second release")
        first, second = match(release, knowledge), match(knowledge.other, knowledge)
        first_counts, second_counts = first.near_counts, second.near_counts
        share = np.maximum((first.table + second.table) / 2, 1e-300)
        both = first_counts * second_counts / share
        empty = both.sum(axis=1) == 0
        return claims_from_scores(np.where(empty[:, None], first_counts, both), first.column, first.domain)
