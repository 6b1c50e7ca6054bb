"""Attacks on curators by their answers: averaging, differencing, reconstruction and membership."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import (
    Attack,
    BinaryAttributes,
    Decisions,
    Knowledge,
    NotApplicable,
    ValueClaims,
    applicable,
    likelihood_ratio_scores,
)
from defenses.base.queries import BudgetSpent, Histogram, Query, QuerySession
from metrics.columns import Booleans, Floats, check_choice, check_integer, refuse


def ask(session: QuerySession, query: Query, epsilon: float | None = None) -> Floats | None:
    """The session's answer as an array, None if the budget is spent."""
    try:
        return np.asarray(session.answer(query, epsilon), dtype=float)
    except BudgetSpent:
        return None


def even_share(session: QuerySession, queries: int) -> float | None:
    """Epsilon for each query such that all queries together spend the budget; None if the budget is infinite or spent.

    One answer at epsilon is more informative than r answers at epsilon / r. An attacker who knows its queries therefore
    divides the budget by their number and asks each once.
    """
    if queries < 1 or not math.isfinite(session.remaining) or session.remaining <= 0:
        return None
    # The factor keeps rounding from making the last query too expensive.
    return session.remaining / queries * (1 - 1e-9)


# Knowledge of an attacker on statistics: which answers combine to a person's secret.


@dataclass(frozen=True)
class LinearSecret:
    """Secret that is a weighted sum of exact answers; for histograms, the largest entry of this sum."""

    queries: tuple[Query, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class StatisticsKnowledge(Knowledge):
    """Knowledge of an attacker who infers persons' values from statistics.

    - targets: One for each secret, in the order of the claims.
    - low, high: Public bounds of numeric secrets.
    - categories: Public categories of categorical secrets; empty for numeric ones.
    - total: ``total(mask)``, with a mask of shape (targets,), is the sum of the secrets of a non-empty group, as the
      answer to one query. None if the game has no such query.
    """

    targets: Sequence[LinearSecret] = ()
    low: float = 0.0
    high: float = 1.0
    categories: tuple[str, ...] = ()
    total: Callable[[Booleans], LinearSecret] | None = field(default=None, repr=False)

    def claims(self, estimates: Sequence[Floats | None]) -> ValueClaims:
        """Claim estimated secrets: numbers clipped to the public bounds, or the category of the largest entry.

        An estimate of None abstains.
        """
        values = [None if estimate is None else self._claim(np.asarray(estimate)) for estimate in estimates]
        confidence = [float(value is not None) for value in values]
        return ValueClaims(pd.DataFrame({"value": pd.Series(values, dtype=object)}), np.array(confidence))

    def _claim(self, estimate: Floats) -> Any:
        if self.categories:
            return self.categories[int(np.argmax(estimate))]
        return float(np.clip(estimate, self.low, self.high))


class StatisticalDisclosure(Attack):
    """Base class of attacks that infer each target's secret from the answers of a curator."""

    kind = "statistics"
    goal = "disclosure"

    @abstractmethod
    def secrets(self, session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator) -> Sequence[Floats | None]:
        """Query the session and estimate each target's secret; None where there is no estimate."""

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim the estimated secrets.

        `NotApplicable` is raised for knowledge that is no `StatisticsKnowledge`, or lacks the queries that the attack
        needs.
        """
        if not isinstance(knowledge, StatisticsKnowledge):
            raise NotApplicable("the game does not say which statistics hold the secret")
        return knowledge.claims(self.secrets(release, knowledge, rng))


class Differencing(StatisticalDisclosure):
    """Asks for a statistic with and without each person, and takes the difference.

    Exact answers give each value exactly. If 100 people spend 10,000 on average and 101 people 20,000, the additional
    person spends 2,020,000 - 1,000,000 = 1,020,000. Noise of scale s in each sum leaves an error of about 2 s. A budget
    is divided evenly among the queries.

    The attack assumes queries that differ in one person. It is the baseline of `Averaging` and `Reconstruction`.

    References
    ----------
    Denning and Schlörer (1980), A fast procedure for finding a tracker in a statistical database.

    Examples
    --------
    An exact curator discloses the value of the last person:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import Differencing
    >>> from attacks.statistics.disclosure_by_queries import LinearSecret, StatisticsKnowledge
    >>> from defenses import ExactCurator, Microdata
    >>> from defenses.base.queries import Sum
    >>> records = Microdata(pd.DataFrame({"income": [30, 50, 90]}))
    >>> queries = (Sum("income"), Sum("income", members=np.array([True, True, False])))
    >>> nobody = records.take([])
    >>> knowledge = StatisticsKnowledge(nobody.frame, nobody, targets=(LinearSecret(queries, (1.0, -1.0)),), high=100.0)
    >>> session = ExactCurator().apply(records, np.random.default_rng(0)).open(np.random.default_rng(1))
    >>> Differencing().run(session, knowledge, np.random.default_rng(2)).values["value"].tolist()
    [90.0]
    """

    called = ("Differencing attack",)

    def secrets(self, session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator) -> list[Floats | None]:
        """Ask each distinct query once."""
        queries = {query for target in knowledge.targets for query in target.queries}
        return estimates(session, knowledge, rng, repeats=1, epsilon=even_share(session, len(queries)))


def estimates(
    session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator, *, repeats: int, epsilon: float | None
) -> list[Floats | None]:
    """Each target's weighted sum of mean answers, None if one of its queries was never answered.

    Targets are processed in random order, so that a budget that runs out favours nobody.

    - repeats: Number of times each distinct query is asked; the queries of a target alternate.
    - epsilon: Budget of each query; the curator's share for one query if None.
    """
    means: dict[Query, Floats | None] = {}
    secrets: list[Floats | None] = [None] * len(knowledge.targets)
    for position in rng.permutation(len(knowledge.targets)):
        target = knowledge.targets[position]
        means |= _mean_answers(session, [query for query in target.queries if query not in means], repeats, epsilon)
        answers = [means[query] for query in target.queries]
        terms = [weight * answer for weight, answer in zip(target.weights, answers, strict=True) if answer is not None]
        if len(terms) == len(answers):
            secrets[position] = np.sum(terms, axis=0)
    return secrets


def _mean_answers(
    session: QuerySession, queries: list[Query], repeats: int, epsilon: float | None
) -> dict[Query, Floats | None]:
    answers: dict[Query, list[Floats]] = {query: [] for query in queries}
    for _ in range(repeats):
        for query in queries:
            answer = ask(session, query, epsilon)
            if answer is not None:
                answers[query].append(answer)
    return {query: np.mean(received, axis=0) if received else None for query, received in answers.items()}


# Averaging attack: repeats queries so that independent noise cancels.


class Averaging(StatisticalDisclosure):
    """Differencing with every query repeated and its answers averaged.

    Fresh noise of standard deviation s on each answer leaves s / sqrt(repeats) on their mean. The attack assumes a
    curator who spends a budget on each answer but keeps no account of the total. Such a curator becomes as good as
    exact after enough queries.

    It extends `Differencing` and beats it on such curators. A curator who keeps account refuses at some point, and the
    attack uses the answers so far. It then does not beat `Differencing`, since one answer at epsilon is more
    informative than r answers at epsilon / r.

    Parameters
    ----------
    repeats : int
        Number of times each query is asked, at least 1.

    Raises
    ------
    ValueError
        If `repeats` is not an integer of at least 1.

    References
    ----------
    Dwork and Roth (2014), The algorithmic foundations of differential privacy, section 1.1.
    """

    def __init__(self, *, repeats: int = 1000) -> None:
        self.repeats = check_integer("repeats", repeats, low=1)

    def secrets(self, session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator) -> list[Floats | None]:
        """Ask each target's queries repeatedly and average the answers."""
        return estimates(session, knowledge, rng, repeats=self.repeats, epsilon=None)


SOLVERS = ("least_squares", "linear_program")


class Reconstruction(StatisticalDisclosure):
    r"""Asks for the sums of random groups of persons and solves for all values at once.

    Let A be the 0/1 matrix of groups and b the answers. The solution x lies within public bounds and minimises the
    misfit A x - b in one of two norms. Bounded least squares minimise its squares. The linear program minimises its
    absolute values, that is the sum of t over x and t with -t <= A x - b <= t, low <= x <= high. A budget is divided
    evenly among the groups.

    The attack assumes that sums over chosen groups are answered. It extends `Differencing` to noisy answers. If each
    answer's error is of order below sqrt(n), a few times n groups determine all but a vanishing share of n bits.

    Parameters
    ----------
    queries_per_person : int
        Number of groups per person, at least 1.
    solver : {"least_squares", "linear_program"}
        The minimised misfit. The linear program is robust to a few outlying answers. Least squares are faster and more
        accurate where the noise has the same scale everywhere.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Dinur and Nissim (2003), Revealing information while preserving privacy.
    Dwork, McSherry and Talwar (2007), The price of privacy and the limits of LP decoding.
    """

    called = ("Dinur-Nissim", "Linear reconstruction")

    def __init__(self, *, queries_per_person: int = 4, solver: str = "least_squares") -> None:
        self.queries_per_person = check_integer("queries_per_person", queries_per_person, low=1)
        self.solver = check_choice("solver", solver, SOLVERS)

    def secrets(self, session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator) -> Sequence[Floats | None]:
        """Query the groups and solve for the values.

        Raises
        ------
        NotApplicable
            If the game has no sums over groups of persons.
        """
        persons = len(knowledge.targets)
        if knowledge.total is None or not persons:
            raise NotApplicable("the game has no sums over groups of persons")
        groups, answers = [], []
        queries = self.queries_per_person * persons
        epsilon = even_share(session, queries)
        for _ in range(queries):
            mask = rng.random(persons) < 0.5
            if not mask.any():
                continue
            total = knowledge.total(mask)
            answer = ask(session, total.queries[0], epsilon)
            if answer is None:
                break
            groups.append(mask)
            answers.append(total.weights[0] * float(answer))
        if not groups:
            return [None] * persons
        solve = _least_squares if self.solver == "least_squares" else _linear_program
        return list(solve(np.array(groups, dtype=float), np.array(answers), knowledge.low, knowledge.high))


def _least_squares(groups: Floats, answers: Floats, low: float, high: float) -> Floats:
    from scipy.optimize import lsq_linear

    # A weak ridge towards the middle of the bounds makes the solution unique if there are fewer answers than persons.
    persons, middle = groups.shape[1], (low + high) / 2
    ridge = 1e-3
    matrix = np.concatenate([groups, ridge * np.eye(persons)])
    right = np.concatenate([answers - groups.sum(axis=1) * middle, np.zeros(persons)])
    return np.asarray(middle + lsq_linear(matrix, right, (low - middle, high - middle)).x)


def _linear_program(groups: Floats, answers: Floats, low: float, high: float) -> Floats:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    count, persons = groups.shape
    matrix, unit = csr_array(groups), eye_array(count)
    misfit = vstack([hstack([matrix, -unit]), hstack([-matrix, -unit])], format="csr")
    solution = linprog(
        np.repeat([0.0, 1.0], [persons, count]),
        A_ub=misfit,
        b_ub=np.concatenate([answers, -answers]),
        bounds=[(low, high)] * persons + [(0, None)] * count,
        method="highs",
    )
    if solution.x is None:
        raise ArithmeticError(f"the linear program was not solved: {solution.message}")
    return np.asarray(solution.x[:persons])


class HomerByQueries(Attack):
    """Membership inference from the histograms of all columns that a curator answers.

    The score is that of `MarginalLikelihoodRatio`. The answers are the released shares, with negative counts read as 0;
    the auxiliary people's shares are the population's. A budget is divided evenly among the columns. A refused column
    counts with the population's shares and so contributes nothing.

    The attack assumes auxiliary people of the same population. It extends `MarginalLikelihoodRatio` from released
    tables to curators.

    References
    ----------
    Homer and others (2008), Resolving individuals contributing trace amounts of DNA to highly complex mixtures;
    Sankararaman, Obozinski, Jordan and Halperin (2009), Genomic privacy and limits of individual detection in a pool.
    """

    kind = "statistics"
    goal = "membership"

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attacker has no people.
        ValueError
            If the candidates lack a column, or a value lies outside its domain.
        """
        people = knowledge.auxiliary
        applicable(len(people), "the attacker has no people of its own to compare with")
        columns = list(people.released_columns)
        for name in columns:
            refuse(name not in knowledge.candidates, f"the candidates have no column {name!r}")
        attributes = BinaryAttributes(dict(knowledge.domains(columns)))
        population = attributes.shares(people.frame[columns])
        published = population.copy()
        share = even_share(release, len(columns))
        for name, part in zip(columns, np.split(np.arange(population.size), attributes.ends), strict=True):
            answer = ask(release, Histogram(name), share)
            if answer is None:
                continue
            counts = np.maximum(answer, 0.0)
            if counts.sum() > 0:
                # The last attribute of a column is the missing value, which histograms do not count.
                published[part[:-1]] = counts / counts.sum() * (1 - population[part[-1]])
        floor = 1 / len(knowledge.candidates)
        return Decisions(likelihood_ratio_scores(attributes, knowledge.candidates, published, population, floor))
