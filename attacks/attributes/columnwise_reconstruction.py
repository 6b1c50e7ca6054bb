"""Reconstruction of hidden columns one by one, each by attribute inference."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.attributes.hidden_columns import about_column, hidden_names
from attacks.attributes.majority_in_class import NearestRowInference
from attacks.base import Attack, Knowledge, NotApplicable, ValueClaims, applicable
from defenses.base import MicrodataRelease
from metrics.columns import Floats, Integers, require, scattered


class ColumnwiseReconstruction(Attack):
    """Reconstruction that infers every hidden column by itself, by an attack on a sensitive value.

    It makes attacks on a single sensitive value answer for whole records. It is the baseline of
    `FactorGraphReconstruction`, which infers the columns jointly. Of several values that the attack may claim, one is
    drawn with the probability that the attack states.

    Parameters
    ----------
    attack : Attack, optional
        An attack on the sensitive value; by default `NearestRowInference`.
    """

    goal = "record_reconstruction"

    def __init__(self, *, attack: Attack | None = None) -> None:
        self.attack = attack
        require(
            attack is None or (isinstance(attack, Attack) and (attack.kind, attack.goal) == ("microdata", "attribute")),
            f"attack must be an attack on the sensitive value in a table, got {attack!r}",
        )

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim one value for each target and hidden column.

        A column that the attack cannot infer stays without an answer. The confidence is the mean over the columns.

        Raises
        ------
        NotApplicable
            If no column is hidden, or the attack can infer none.
        """
        attack = self.attack or NearestRowInference()
        targets = len(knowledge.candidates)
        names = hidden_names(release, knowledge)
        answers, reasons, confidence = {}, [], np.zeros(targets)
        for name, column_rng in zip(names, rng.spawn(len(names)), strict=True):
            try:
                claims = ValueClaims.of(attack.run(release, about_column(knowledge, name), column_rng))
            except NotApplicable as reason:
                reasons.append(str(reason))
                continue
            claim = drawn_claims(claims.about, claims.weight, column_rng.random(targets))
            answers[name] = claims.values[name].reindex(claim).reset_index(drop=True)
            has_claim = claim >= 0
            confidence[has_claim] += claims.confidence[claim[has_claim]] / len(names)
        applicable(answers, reasons[0] if reasons else "the release has no hidden column")
        return ValueClaims(pd.DataFrame(answers), confidence)


def drawn_claims(person: Integers, share: Floats, uniform: Floats) -> Integers:
    """Position of one claim about each person, drawn by the shares; -1 for none, shape (persons,).

    Parameters
    ----------
    person : ndarray of int, shape (claims,)
        Person whom each claim is about.
    share : ndarray of float, shape (claims,)
        Probability of each claim. Those of one person add up to at most 1; the rest is no claim.
    uniform : ndarray of float, shape (persons,)
        A random number in [0, 1) for each person.
    """
    order = np.argsort(person, kind="stable")
    person, share = person[order], share[order]
    cumulative = np.cumsum(share)
    before = np.concatenate([[0.0], cumulative])[np.searchsorted(person, np.arange(uniform.size))]
    above = cumulative - before[person] > uniform[person] + 1e-12
    # Of a person's claims above the number, the first remains.
    return scattered(order[above][::-1], person[above][::-1], uniform.size)
