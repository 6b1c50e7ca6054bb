"""PRAM with the most informative transition matrix of any form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.random import Generator

from defenses.base import (
    BlockwiseDefense,
    Channel,
    Guarantee,
    Microdata,
    RecordsInBlocks,
    ReleasePlan,
    category_count,
    check_columns,
    chosen_columns,
    public_or_filled,
)
from defenses.base.channel_parts import TransitionTable
from defenses.pram.freedom import MOST_ENUMERATED, most_informative_matrix
from defenses.pram.matrix import (
    check_prior,
    epsilon,
    pk,
    prior_counts,
    public_tables,
    retention_for_epsilon,
    transition_matrix,
    unless_public,
)
from defenses.pram.randomized import Categories, Transitions, randomized
from metrics.columns import Floats, check_real


class OptimalMatrix(BlockwiseDefense):
    """PRAM with full freedom: the transition matrix of largest mutual information among all that epsilon allows.

    Other forms of PRAM keep a category with some probability and replace it uniformly. Here all d (d - 1) entries are
    free. Mutual information is that of a record and its release, if records follow a public histogram.

    Parameters
    ----------
    epsilon : float
        Epsilon of all columns of a record together, in (0, 30]; it is split evenly over the columns.
    prior : mapping of str to sequence of float, optional
        Public counts of each column's categories or bins, and of its missing values, if any. Columns without counts
        take equal ones.
    columns : sequence of str, optional
        All quasi-identifiers where not given.

    Raises
    ------
    ValueError
        If `epsilon` is out of range or a prior is not a histogram. On `apply` and `guarantee`, if a prior has another
        number of categories than its column.

    Notes
    -----
    The optimum is a linear program over the 2^d staircase patterns (`defenses.pram.freedom`), solved for up to 12
    categories. A column with more of them takes retention-replacement, which is optimal for large epsilon.

    Reads before its noise. Public: the number of records, names and order of the columns, declared domains and their
    types, and the prior; that no value of a randomized column is missing (otherwise nothing holds). Protected:
    the values of the randomized columns. Columns that are not randomized are released as they are, without
    guarantee.

    Guarantee: the matrices do not depend on the records. Epsilon is the sum of the columns' log-ratios, and Pk follows
    from the spreads, both computed from the final matrices. A matrix made of the records themselves has no guarantee;
    the degenerate one with the histogram in every column publishes the histogram.

    References
    ----------
    Kairouz, Oh and Viswanath (2016), Extremal mechanisms for local differential privacy, theorems 4 and 6. Miura and
    Hasegawa, section 5.3, asks for matrices with more freedom.
    """

    randomizes_records_independently = True

    @classmethod
    def example(cls) -> Self:
        """Epsilon 1 and equal priors."""
        return cls(epsilon=1.0)

    def __init__(
        self,
        *,
        epsilon: float,
        prior: Mapping[str, Sequence[float]] | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=0, high=30, open_low=True)
        if prior is not None:
            check_prior(prior)
        self.columns = check_columns(columns)
        self.prior = prior

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """The matrix of each column."""
        roles = records.counted
        matrices = self._matrices(roles)
        steps = [randomized([Categories.of(records, name)], Transitions.of(each)) for name, each in matrices.items()]
        parts = [
            TransitionTable(name, roles.domain(name), tuple(map(tuple, matrix.tolist())))
            for name, matrix in matrices.items()
        ]
        return ReleasePlan(steps, Channel(tuple(parts)))

    def guarantee(self, records: Microdata) -> Guarantee:
        """Epsilon and Pk of the randomized columns, computed from the matrices in use."""
        matrices = self._matrices(records)
        names = ", ".join(matrices)
        # k = 1 + (n - 1) e^-spread for each column, and spreads of independent columns add up.
        spread = float(np.prod([pk(matrix, 2) - 1 for matrix in matrices.values()]))
        return unless_public(records, list(matrices)) or Guarantee(
            epsilon=float(sum(epsilon(matrix) for matrix in matrices.values())),
            pk=1 + (len(records) - 1) * spread,
            statement=f"local, one record replaced by any other, of the columns {names} together, "
            f"{public_tables(list(matrices))}; other columns are released as they are",
        )

    def _matrices(self, records: Microdata) -> dict[str, Floats]:
        names = public_or_filled(records, chosen_columns(records, self.columns, records.quasi_identifiers))
        budget = float(self.epsilon) / max(1, len(names))
        return {name: _optimum(self._counts(name, category_count(records, name)), budget) for name in names}

    def _counts(self, name: str, categories: int) -> tuple[float, ...]:
        if self.prior is None or name not in self.prior:
            return (1.0,) * categories
        return tuple(prior_counts(self.prior, name, categories).tolist())


@lru_cache(64)
def _optimum(counts: tuple[float, ...], budget: float) -> Floats:
    """The matrix of one column; shared between calls and therefore read-only."""
    d = len(counts)
    if d == 1:
        matrix = np.ones((1, 1))
    elif d <= MOST_ENUMERATED:
        matrix = most_informative_matrix(counts, budget)
    else:
        matrix = transition_matrix(np.full(d, retention_for_epsilon(budget, d)))
    matrix.setflags(write=False)
    return matrix
