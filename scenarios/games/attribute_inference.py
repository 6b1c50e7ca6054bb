"""The attribute inference game: name the sensitive value of people whose quasi-identifiers are known."""

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
    """The attacker knows people's quasi-identifiers and the release, and names their sensitive value.

    Everybody in the table is a target, and so are as many strangers, which the attacker cannot tell from them: what it
    finds out about people who are not in the table follows from statistics alone and is no leak. A number counts as
    named if the answer lies in its public bin.

    Parameters
    ----------
    records, originals, strangers, auxiliary, attacker_knows
        See `ControlGroupGame`.
    sensitive : str, optional
        The column to infer; it is then sensitive to the defenses too. By default the first sensitive one.

    Raises
    ------
    ValueError
        If a number is out of range, the population too small, the sensitive column missing, or no quasi-identifier is
        left.
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
            raise ValueError("records: there is no quasi-identifier, so that nothing is known about the targets")

    @cached_property
    def population(self) -> Microdata:
        """The records, the column to infer being the first sensitive one."""
        return with_sensitive(self.records, self.sensitive)

    def knowledge(self, secret: ControlGroupSecret, defense: Defense) -> Knowledge:
        """Hand over everybody's quasi-identifiers, other people, and the mechanism where the game discloses it."""
        targets = secret.people()[list(secret.records.quasi_identifiers)]
        return Knowledge(targets, secret.auxiliary, self.simulation(defense))

    def score(self, secret: ControlGroupSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Count whose value is named; an abstention is no success, and people without a value are no targets.

        Returns
        -------
        Scores
            ``attribute``: share of the table's people whose value is named, in expectation over the attack's ties;
            chance is the same among the strangers. Measures: ``risk``, ``risk_low``, ``risk_high``: the rate after
            control; ``answered``: share of the table's people with an answer; ``precision``: correct / answered.

        Raises
        ------
        TypeError
            If the claims are no values.
        ValueError
            If they lack the sensitive column or are about people that there are not.
        """
        column = secret.records.sensitive[0]
        domain = self.population.domain(column)
        truth = domain.codes(secret.people()[column])
        correct, answered = successes(self.taken(claims), column, domain, truth)
        named = truth < domain.size
        member = secret.member & named
        control = ~secret.member & named
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
    """Probability that each person's value is named, and that the attack answers at all, two arrays (people,).

    Parameters
    ----------
    claims : ValueClaims
        Values of the column; missing ones are abstentions.
    column : str
        The sensitive column.
    domain : Domain
        Its categories or public bins.
    truth : ndarray of int, shape (people,)
        The true category or bin; `domain.size` where the value is missing.

    Raises
    ------
    ValueError
        If they lack the column, name a value that it cannot have, or are about people that there are not.
    """
    if column not in claims.values:
        raise ValueError(f"the claims have no column {column!r}")
    if claims.about.size and claims.about.max() >= truth.size:
        raise ValueError(f"a claim is about person {claims.about.max()}, there are {truth.size} from 0")
    values = claims.values[column]
    codes = domain.codes(values.astype(float) if isinstance(domain, NumericDomain) else values.astype(object))
    given = codes < domain.size
    right = given & (codes == truth[claims.about])
    correct, answered = np.zeros(truth.size), np.zeros(truth.size)
    np.add.at(correct, claims.about, claims.weight * right)
    np.add.at(answered, claims.about, claims.weight * given)
    return correct, answered
