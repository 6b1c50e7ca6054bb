"""Log-ratios of released to expected marginal frequencies at people's cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from attacks.base.attack import Knowledge
from attacks.base.sides import common_columns
from defenses.base.release import MicrodataRelease
from metrics.columns.arrays import Floats, Integers
from metrics.columns.cells import read_cells
from metrics.columns.domains import Domain

# Largest two-way marginal in cells, and largest number of two-way marginals.
MOST_CELLS, MOST_PAIRS = 100_000, 300
# Rows by which a released marginal is smoothed towards the expected one, and rows of all tables that a cell without any
# row is expected to have.
SMOOTHING, UNSEEN = 0.5, 0.25

Marginal = tuple[int, ...]
"""Positions of one or two columns."""


@dataclass(frozen=True)
class MarginalRatios:
    """One-way and two-way marginals of some tables over categories and public bins.

    Attributes
    ----------
    marginals : list of tuple of int
        One-way marginals of every column first, then pairs.
    shares : list of ndarray of float, shape (tables, cells)
        Frequencies in each table, for each marginal.
    population : list of ndarray of float, shape (cells,)
        Frequencies among the auxiliary people.
    sizes : list of int
        Number of values of each column, missing one included.
    rows : int
        Number of rows of the first table.
    """

    marginals: list[Marginal]
    shares: list[Floats]
    population: list[Floats]
    sizes: list[int]
    rows: int

    def log_ratios(self, table: int, others: Sequence[int], codes: Integers) -> Floats:
        """Log-ratios of a table's frequencies to those expected from other tables, shape (people, marginals).

        Parameters
        ----------
        table : int
            Position of the table.
        others : sequence of int
            Positions of the tables whose mean, with the population's frequencies as one more table, is expected.
        codes : ndarray of int, shape (people, columns)
            Value of each person in each column (`coded`).
        """
        result = np.empty((len(codes), len(self.marginals)))
        for number, marginal in enumerate(self.marginals):
            shares = self.shares[number]
            unseen = UNSEEN / (self.rows * (len(others) + 1))
            expected = (shares[list(others)].sum(axis=0) + self.population[number]) / (len(others) + 1) + unseen
            weight = SMOOTHING / self.rows
            ratio = np.log((shares[table] + weight * expected) / (1 + weight)) - np.log(expected)
            result[:, number] = ratio[self._cells(marginal, codes)]
        return result

    def _cells(self, marginal: Marginal, codes: Integers) -> Integers:
        """Each person's cell of a marginal, shape (people,)."""
        if len(marginal) == 1:
            return codes[:, marginal[0]]
        return codes[:, marginal[0]] * self.sizes[marginal[1]] + codes[:, marginal[1]]

    @property
    def single(self) -> Floats:
        """1 for one-way marginals and 0 for pairs, shape (marginals,)."""
        return np.array([float(len(marginal) == 1) for marginal in self.marginals])

    def information(self) -> Floats:
        """Mutual information of each pair in the expected frequencies, in nats, 0 for one-way marginals."""
        return np.array(
            [
                _information(shares.mean(axis=0).reshape([self.sizes[column] for column in marginal]))
                for marginal, shares in zip(self.marginals, self.shares, strict=True)
            ]
        )


def marginal_ratios(
    release: MicrodataRelease, tables: Sequence[MicrodataRelease], knowledge: Knowledge
) -> MarginalRatios:
    """Count the marginals of the release, which comes first, and of other tables.

    Of more than 300 pairs of columns, those of largest mutual information among the auxiliary people are counted. Pairs
    of more than 100,000 cells are left out.

    Raises
    ------
    ValueError
        If the release shares no column with the candidates, or a cell lies outside the column's domain.
    """
    names = common_columns(release, knowledge)
    domains = knowledge.domains(names)
    mass = [[_mass(table.frame[name], domains[name]) for name in names] for table in (release, *tables)]
    sizes = [domains[name].size + 1 for name in names]
    codes = coded(knowledge.auxiliary.frame, knowledge, names)
    people = [np.eye(size)[column] for size, column in zip(sizes, codes.T, strict=True)]
    pairs = [pair for pair in combinations(range(len(names)), 2) if sizes[pair[0]] * sizes[pair[1]] <= MOST_CELLS]
    if len(pairs) > MOST_PAIRS:
        strength = [_information(_share(people, pair).reshape(sizes[pair[0]], sizes[pair[1]])) for pair in pairs]
        pairs = [pairs[position] for position in np.sort(np.argsort(strength)[-MOST_PAIRS:])]
    marginals: list[Marginal] = [*((column,) for column in range(len(names))), *pairs]
    shares = [np.array([_share(table, marginal) for table in mass]) for marginal in marginals]
    population = [_share(people, marginal) for marginal in marginals]
    return MarginalRatios(marginals, shares, population, sizes, max(1, len(release.frame)))


def coded(people: pd.DataFrame, knowledge: Knowledge, names: Sequence[str]) -> Integers:
    """Category or public bin of each person in each column, shape (people, columns); the domain's size if missing."""
    domains = knowledge.domains(list(names))
    return np.column_stack([domains[name].codes(people[name]) for name in names])


def _mass(released: pd.Series[Any], domain: Domain) -> Floats:
    """Share of each row in each bin, shape (rows, domain.size + 1)."""
    cells = read_cells(released, domain)
    return cells.mass()[cells.codes]


def _share(mass: Sequence[Floats], marginal: Marginal) -> Floats:
    """Frequency of each cell of a marginal, shape (cells,)."""
    rows = max(1, len(mass[0]))
    if len(marginal) == 1:
        return np.asarray(mass[marginal[0]].sum(axis=0) / rows)
    return np.asarray((mass[marginal[0]].T @ mass[marginal[1]] / rows).ravel())


def _information(joint: Floats) -> float:
    """Mutual information of a two-way marginal, in nats; 0 for a one-way marginal."""
    if joint.ndim == 1:
        return 0.0
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    possible = joint > 0
    return float((joint[possible] * np.log(joint[possible] / independent[possible])).sum())
