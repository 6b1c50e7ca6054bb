"""Question of attribute inference: which sensitive value a person has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Claims, ValueClaims
from defenses import Microdata, MicrodataRelease
from metrics.columns import (
    Booleans,
    Domain,
    Floats,
    Integers,
    NumericDomain,
    check_integer,
    check_real,
    refuse,
    require,
)
from metrics.profile import original_profile, record_similarity
from metrics.score import Scores
from scenarios.games.people import Drawn, by_person
from scenarios.games.questions.question import CandidateQuestion, Question, controlled


class AttributeQuestion(CandidateQuestion):
    """Attribute inference: the adversary knows all candidates' quasi-identifiers and predicts their sensitive value.

    What an attack infers about people outside the table follows from statistics of the population alone. These people
    are the control group. A number is inferred correctly if the answer lies in the same public bin. The column to infer
    is the first sensitive one.

    Parameters
    ----------
    known, asked
        See `scenarios.games.questions.question.CandidateQuestion`; by default the quasi-identifiers are known.
    tolerance : float, optional
        Largest difference between a true number and a right answer, in the unit of the column, instead of public bins.
    matched : bool
        Whether the control group has one person for each person in the table: whoever outside it is most similar in the
        known columns. By default it is everybody outside the table.

    Examples
    --------
    >>> AttributeQuestion()
    AttributeQuestion()
    >>> AttributeQuestion(tolerance=5.0, matched=True)
    AttributeQuestion(tolerance=5.0, matched=True)
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"attribute": ValueClaims}

    def __init__(
        self,
        *,
        known: Sequence[str] | None = None,
        asked: Sequence[int] | None = None,
        tolerance: float | None = None,
        matched: bool = False,
    ) -> None:
        super().__init__(known=known, asked=asked)
        self.tolerance = check_real("tolerance", tolerance, low=0, optional=True)
        self.matched = matched

    def check(self, records: Microdata, originals: int, others: int) -> None:
        """Refuse a table without sensitive column or without quasi-identifier, and unknown columns."""
        super().check(records, originals, others)
        refuse(
            set(records.sensitive[:1]) & set(self.known or ()),
            f"known: column {records.sensitive[0]!r} is the one to infer; leave it out" if records.sensitive else "",
        )
        require(records.sensitive, "sensitive: the table has no sensitive column, so there is no value to infer")
        require(
            records.quasi_identifiers,
            "records: the table has no quasi-identifier, so the attacker would know nothing about the candidates",
        )

    def knows(self, records: Microdata) -> list[str]:
        """The quasi-identifiers, or the known columns."""
        return list(records.quasi_identifiers) if self.known is None else super().knows(records)

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
        exact = people.candidates[column].to_numpy() if self.tolerance is not None else None
        correct, answered = successes(claims, column, domain, truth, exact, self.tolerance or 0.0)
        has_value = (truth < domain.size) & (True if people.counted is None else people.counted)
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
        outside = ~people.member & has_value
        if not self.matched or not outside.any():
            return by_person(correct, outside, people.whose)
        candidates, member = people.candidates, people.member & has_value
        domains = {name: people.auxiliary.domain(name) for name in self.knows(people.records)}
        inside, others = (original_profile(candidates.loc[group], domains) for group in (member, outside))
        nearest = np.flatnonzero(outside)[record_similarity(inside, others, domains).argmax(axis=1)]
        hits, count = by_person(correct[nearest], np.ones(nearest.size, dtype=bool), people.whose[member])
        # Somebody who resembles several people in the table is one person of the control group.
        distinct = np.unique(people.whose[nearest]).size
        return hits / max(1, count) * distinct, distinct


def successes(
    claims: ValueClaims,
    column: str,
    domain: Domain,
    truth: Integers,
    exact: Any = None,
    tolerance: float = 0.0,
) -> tuple[Floats, Floats]:
    """Probabilities that each person's value is inferred, and that the attack answers; two arrays (people,).

    - claims: Claimed values of the column; a missing value is an abstention.
    - domain: Its categories or public bins.
    - truth, shape (people,): The true category or bin; `domain.size` where the value is missing.
    - exact, shape (people,), optional: The true values; answers about numbers may differ from them by `tolerance`.

    Raises ValueError if the claims lack the column, a claimed value is outside the domain, or a person does not exist.
    """
    refuse(column not in claims.values, f"the claims have no column {column!r}")
    if claims.about.size and claims.about.max() >= truth.size:
        raise ValueError(f"a claim is about person {claims.about.max()}, but the last person is {truth.size - 1}")
    values = claims.values[column]
    codes = domain.codes(values.astype(float) if isinstance(domain, NumericDomain) else values.astype(object))
    given = codes < domain.size
    matches = given & (codes == truth[claims.about])
    if exact is not None and isinstance(domain, NumericDomain):
        matches = given & (np.abs(values.to_numpy(dtype=float) - exact[claims.about].astype(float)) <= tolerance)
    correct, answered = (
        np.bincount(claims.about, claims.weight * part, truth.size).astype(float) for part in (matches, given)
    )
    return correct, answered


# Question of reconstruction: which values a person has in hidden columns.


class ReconstructionQuestion(Question):
    """Reconstruction: the adversary knows some quasi-identifiers of all candidates and claims their hidden columns.

    A right value counts by its rarity. What an attack reconstructs of people outside the table follows from statistics
    of the population alone; these people are the control group. The difference is what the release memorizes. A number
    is right if it lies in the public bin of the true number, as in `AttributeQuestion`.

    Parameters
    ----------
    hidden : int or sequence of str
        The hidden columns, or their number. A number takes the sensitive columns first, and then quasi-identifiers
        evenly spread over the table. At least one quasi-identifier stays known.

    Notes
    -----
    The right value v of a column has the weight log2(1 / f(v)), its information in bits. Here f(v) is the share of v
    among all people of the play: candidates and the adversary's people. A value that everybody has weighs nothing.
    Weights 1 / f would leave much of the score to a few people. With five hidden columns of Adult and Bank Marketing,
    500 people would count as 200 and 140 equally weighted ones. With the logarithm they count as 430.

    References
    ----------
    National Institute of Standards and Technology (2025), Collaborative Research Cycle, red team exercise, which
    weights reconstructed values by rarity; Shannon (1948), A mathematical theory of communication; Kish (1965), Survey
    sampling, section 11.7, for the effective number.

    Examples
    --------
    >>> ReconstructionQuestion(hidden=["age", "job"]).hidden
    ['age', 'job']
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"record_reconstruction": ValueClaims}

    def __init__(self, *, hidden: int | Sequence[str] = 5) -> None:
        self.hidden = hidden
        if isinstance(hidden, Sequence) and not isinstance(hidden, str):
            refuse(not hidden or len(set(hidden)) < len(hidden), "hidden must name at least one column, each once")
        else:
            check_integer("hidden", hidden, low=1)

    def check(self, records: Microdata, originals: int, others: int) -> None:
        """Refuse hidden columns that are not released, and a table without a known quasi-identifier."""
        for name in self.columns(records):
            records.check_released("hidden", name)
        require(
            self.knows(records),
            "hidden: the table has no other quasi-identifier, so the attacker would know nothing about anybody",
        )
        require(
            self.columns(records),
            "hidden: the table has no sensitive column and one quasi-identifier, so nothing is hidden",
        )

    def columns(self, records: Microdata) -> list[str]:
        """Names of the hidden columns."""
        if not isinstance(self.hidden, int):
            return list(self.hidden)
        sensitive, quasi = list(records.sensitive)[: self.hidden], records.quasi_identifiers
        count = min(self.hidden - len(sensitive), max(0, len(quasi) - 1))
        return [quasi[(2 * i + 1) * len(quasi) // (2 * count)] for i in range(count)] + sensitive

    def knows(self, records: Microdata) -> list[str]:
        """The quasi-identifiers that are not hidden."""
        hidden = self.columns(records)
        return [name for name in records.quasi_identifiers if name not in hidden]

    def score(self, people: Drawn, published: MicrodataRelease, claims: ValueClaims, rng: Generator) -> Scores:
        """Weigh the right values.

        An abstention is a failure. Missing true values are not counted.

        Returns
        -------
        Scores
            ``record_reconstruction``: weight of the right values / weight of all hidden values of the people in the
            table. Chance is the same share in the control group. A person weighs as much as its hidden values. The
            numbers of trials are effective numbers of people, (sum of weights)² / sum of squared weights. Measures:
            ``risk``, ``risk_low``, ``risk_high``: the rate after control. ``right`` and ``answered``: shares of the
            hidden values of the people in the table that are right and that have an answer, without weights.

        Raises
        ------
        ValueError
            If a claim is about a person who does not exist, or a value is outside the domain.
        """
        candidates, everybody = people.candidates, people.auxiliary.frame
        count = len(candidates)
        weight, correct, right, answered, values = (np.zeros(count) for _ in range(5))
        for name in self.columns(people.records):
            domain = people.auxiliary.domain(name)
            codes = domain.codes(pd.concat([candidates[name], everybody[name]], ignore_index=True))
            truth = codes[:count]
            has_value = truth < domain.size
            bits = information(codes, domain.size)[truth] * has_value
            weight += bits
            values += has_value
            if name in claims.values:
                success, given = (share * has_value for share in successes(claims, name, domain, truth))
                correct += bits * success
                right += success
                answered += given
        member, control = people.member, ~people.member
        total = values[member].sum()
        return controlled(
            "record_reconstruction",
            *_weighted(correct, weight, member),
            *_weighted(correct, weight, control),
            right=float(right[member].sum() / total) if total else None,
            answered=float(answered[member].sum() / total) if total else None,
        )


def information(codes: Any, size: int) -> Floats:
    """Information of each value in bits, log2(1 / share), shape (size + 1,); 0 for missing values and unused ones."""
    counts = np.bincount(codes, minlength=size + 1)[: size + 1].astype(float)
    counts[size] = 0
    shares = counts / max(1.0, counts.sum())
    return np.asarray(-np.log2(shares, out=np.zeros_like(shares), where=shares > 0))


def _weighted(correct: Floats, weight: Floats, group: Booleans) -> tuple[float, int]:
    """Successes and effective number of people of a group, so that their ratio is the weighted rate."""
    total, squares = float(weight[group].sum()), float((weight[group] ** 2).sum())
    if squares == 0:
        return 0.0, 0
    people = max(1, int(total**2 / squares))
    return float(correct[group].sum()) / total * people, people
