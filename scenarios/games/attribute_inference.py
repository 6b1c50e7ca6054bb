"""The attribute inference game: infer sensitive values from quasi-identifiers and a release."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Knowledge
from attacks.base.claims import Claims, ValueClaims
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from metrics.domains import Domain, NumericDomain
from metrics.score import Scores
from scenarios.games.control_group import ControlGroupGame, ControlGroupSecret, controlled, with_sensitive


class AttributeInference(ControlGroupGame):
    """Attribute inference: the adversary knows quasi-identifiers and infers the sensitive value.

    The targets are all people in the table and a control group of strangers, in random order. What an attack infers
    about strangers follows from statistics of the population alone and is not a leak. A number is inferred correctly if
    the answer lies in the same public bin.

    Parameters
    ----------
    records, originals, strangers, auxiliary, attacker_knows
        See `ControlGroupGame`.
    sensitive : str, optional
        The column to infer, by default the first sensitive one. Defenses treat it as sensitive too.

    Raises
    ------
    ValueError
        If a number is out of range, the population is too small, the sensitive column is missing, or no
        quasi-identifier is left.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"attribute": ValueClaims}

    def __init__(
        self,
        *,
        records: Microdata,
        sensitive: str | None = None,
        originals: int = 500,
        strangers: int = 500,
        auxiliary: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(
            records=records,
            originals=originals,
            strangers=strangers,
            auxiliary=auxiliary,
            attacker_knows=attacker_knows,
        )
        self.sensitive = sensitive
        if not with_sensitive(records, sensitive).quasi_identifiers:
            raise ValueError(
                "records: the table has no quasi-identifier, so the attacker would know nothing about the targets"
            )

    @cached_property
    def population(self) -> Microdata:
        """The records, with the column to infer as the first sensitive one."""
        return with_sensitive(self.records, self.sensitive)

    def knowledge(self, secret: ControlGroupSecret, defense: Defense) -> Knowledge:
        """Give the targets' quasi-identifiers, the auxiliary population, and the mechanism if the game discloses it."""
        targets = secret.people()[list(secret.records.quasi_identifiers)]
        return Knowledge(targets, secret.auxiliary, self.simulation(defense))

    def score(self, secret: ControlGroupSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Count correctly inferred values.

        An abstention is a failure. People whose value is missing are not targets.

        Returns
        -------
        Scores
            ``attribute``: share of the people in the table whose value is inferred, in expectation over ties. Chance
            is the same share among the strangers. Measures: ``risk``, ``risk_low``, ``risk_high``: the
            rate after control; ``answered``: share of the people in the table with an answer; ``precision``: correct /
            answered.

        Raises
        ------
        TypeError
            If the claims are not values.
        ValueError
            If the claims lack the sensitive column, or a claim is about a person who does not exist.
        """
        column = secret.records.sensitive[0]
        domain = self.population.domain(column)
        truth = domain.codes(secret.people()[column])
        correct, answered = successes(self.taken(claims), column, domain, truth)
        has_value = truth < domain.size
        member = secret.member & has_value
        control = ~secret.member & has_value
        answers = float(answered[member].sum())
        return controlled(
            "attribute",
            float(correct[member].sum()),
            int(member.sum()),
            float(correct[control].sum()),
            int(control.sum()),
            answered=answers / member.sum() if member.any() else None,
            precision=float(correct[member].sum()) / answers if answers else None,
        )


def successes(
    claims: ValueClaims, column: str, domain: Domain, truth: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities that each person's value is inferred, and that the attack answers; two arrays (people,).

    Parameters
    ----------
    claims : ValueClaims
        Claimed values of the column; a missing value is an abstention.
    column : str
        The sensitive column.
    domain : Domain
        Its categories or public bins.
    truth : ndarray of int, shape (people,)
        The true category or bin; `domain.size` where the value is missing.

    Raises
    ------
    ValueError
        If the claims lack the column, a claimed value is outside the domain, or a person does not exist.
    """
    if column not in claims.values:
        raise ValueError(f"the claims have no column {column!r}")
    if claims.about.size and claims.about.max() >= truth.size:
        raise ValueError(f"a claim is about person {claims.about.max()}, but the last person is {truth.size - 1}")
    values = claims.values[column]
    codes = domain.codes(values.astype(float) if isinstance(domain, NumericDomain) else values.astype(object))
    given = codes < domain.size
    matches = given & (codes == truth[claims.about])
    correct, answered = np.zeros(truth.size), np.zeros(truth.size)
    np.add.at(correct, claims.about, claims.weight * matches)
    np.add.at(answered, claims.about, claims.weight * given)
    return correct, answered
