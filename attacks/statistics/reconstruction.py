"""Reconstruction attack: solves for all values from the sums of random groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from attacks.base import NotApplicable
from attacks.statistics.query_budget import ask, even_share
from attacks.statistics.statistical_disclosure import StatisticalDisclosure, StatisticsKnowledge
from defenses.base.queries import QuerySession
from metrics.columns import Floats, check_choice, check_integer

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
