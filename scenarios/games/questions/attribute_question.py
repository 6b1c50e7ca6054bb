"""Question of attribute inference: which sensitive value a person has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base import Claims, ValueClaims
from defenses import Microdata, MicrodataRelease
from metrics.columns import Booleans, Domain, Floats, NumericDomain, refuse, require
from metrics.score import Scores
from scenarios.games.people import Drawn, by_person
from scenarios.games.questions.question import Question, controlled


class AttributeQuestion(Question):
    """Attribute inference: the adversary knows all candidates' quasi-identifiers and predicts their sensitive value.

    What an attack infers about people outside the table follows from statistics of the population alone. These people
    are the control group. A number is inferred correctly if the answer lies in the same public bin. The column to infer
    is the first sensitive one.

    Examples
    --------
    >>> AttributeQuestion()
    AttributeQuestion()
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"attribute": ValueClaims}

    def check(self, records: Microdata, originals: int, others: int) -> None:
        """Refuse a table without sensitive column or without quasi-identifier."""
        require(records.sensitive, "sensitive: the table has no sensitive column, so there is no value to infer")
        require(
            records.quasi_identifiers,
            "records: the table has no quasi-identifier, so the attacker would know nothing about the candidates",
        )

    def knows(self, records: Microdata) -> list[str]:
        """The quasi-identifiers."""
        return list(records.quasi_identifiers)

    def score(self, people: Drawn, published: MicrodataRelease, claims: ValueClaims, rng: Generator) -> Scores:
        """Count correctly inferred values.

        An abstention is a failure. People whose value is missing are not counted.

        Returns
        -------
        Scores
            ``attribute``: share of the people in the table whose value is inferred, in expectation over ties. Chance
            is the same share in the control group. Measures: ``risk``, ``risk_low``, ``risk_high``: the rate after
            control; ``answered``: share of the people in the table with an answer; ``precision``: correct / answered.

        Raises
        ------
        ValueError
            If the claims lack the sensitive column, or a claim is about a person who does not exist.
        """
        column = people.records.sensitive[0]
        domain = people.auxiliary.domain(column)
        truth = domain.codes(people.candidates[column])
        correct, answered = successes(claims, column, domain, truth)
        has_value = truth < domain.size
        member = people.member & has_value
        answers = float(answered[member].sum())
        return controlled(
            "attribute",
            *by_person(correct, member, people.whose),
            *self.control(people, correct, has_value),
            answered=answers / member.sum() if member.any() else None,
            precision=float(correct[member].sum()) / answers if answers else None,
        )

    def control(self, people: Drawn, correct: Floats, has_value: Booleans) -> tuple[float, int]:
        """Successes and trials without the release: the same attack on the people outside the table.

        Parameters
        ----------
        people : Drawn
            The people of the play.
        correct : ndarray of float, shape (candidates,)
            Probability that each candidate's value is inferred.
        has_value : ndarray of bool, shape (candidates,)
            Whether the value is known.
        """
        return by_person(correct, ~people.member & has_value, people.whose)


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
    refuse(column not in claims.values, f"the claims have no column {column!r}")
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
