"""PRAM with the optimal matrix for the records' histogram, or for a public one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import Guarantee, Microdata, category_count
from defenses.pram.conversions import given_epsilon, k_for_epsilon
from defenses.pram.matrix import check_prior, prior_counts, retention_epsilon, retention_pk
from defenses.pram.optimal import optimal_retention
from defenses.pram.retention_vectors import RetentionVectors
from metrics.columns import Floats, check_real, require


class OptimalRetention(RetentionVectors):
    """PRAM with the matrix that is optimal for the records' own histogram.

    Parameters
    ----------
    epsilon : float, optional
        Epsilon of the fixed matrix, for all columns of a record together; positive.
    k : float, optional
        Pk-anonymity of the fixed matrix, from 1 to the number of records. Give exactly one of the two.
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether to randomize combinations of the columns' categories, instead of each column separately.

    Raises
    ------
    ValueError
        If not exactly one of `epsilon` and `k` is given, or it is out of range.

    Notes
    -----
    A matrix fixed in advance has this epsilon. Here it depends on the records and leaks information about them: away
    from their bounds, flip probabilities are proportional to 1/count. The procedure as a whole is therefore not
    differentially private, whether the matrix is published or not, and has no guarantee.

    Source: Miura and Hasegawa, Algorithm 1.
    """

    called = ("Optimal PRAM",)

    @classmethod
    def example(cls) -> Self:
        """Epsilon 1 for the fixed matrix."""
        return cls(epsilon=1.0)

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        k: float | None = None,
        columns: Sequence[str] | None = None,
        jointly: bool = False,
    ) -> None:
        require((epsilon is None) != (k is None), "give exactly one of epsilon and k")
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True, optional=True)
        self.k = check_real("k", k, low=1, optional=True)
        super().__init__(columns=columns, jointly=jointly)

    def guarantee(self, records: Microdata) -> Guarantee:
        """No guarantee for the procedure; the statement gives the fixed matrix's epsilon and Pk."""
        budget = given_epsilon(self.epsilon, self.k, len(records))
        if not self._groups(records):
            return Guarantee(statement="none: no column is randomized")
        fixed = "ε=0"
        if np.isinf(budget):
            fixed = "no ε"
        elif budget > 0:
            fixed = f"ε of at most {budget:.4g} and Pk of at least {k_for_epsilon(budget, len(records)):.4g}"
        return Guarantee(
            statement=f"none: the matrix is made of these records and leaks information about them; as a "
            f"fixed matrix it has {fixed}"
        )

    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        budget = given_epsilon(self.epsilon, self.k, len(records)) / share
        return optimal_retention(counts, budget) if budget > 0 else np.full(counts.size, 1 / counts.size)


class OptimalRetentionWithPrior(RetentionVectors):
    """PRAM with the matrix that is optimal for a public histogram, such as last year's.

    Parameters
    ----------
    prior : mapping of str to sequence of float
        Public counts of each column's categories or bins, and of its missing values, if any. Jointly
        randomized columns use the product of their priors.
    epsilon : float
        Epsilon of all columns of a record together; positive.
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether to randomize combinations of the columns' categories, instead of each column separately.

    Raises
    ------
    ValueError
        If a prior is not a histogram or `epsilon` is not positive.

    Notes
    -----
    Reads before its noise. Public: the number of records, names and order of the columns, declared domains and their
    types, and the prior; that no value of a randomized column is missing (otherwise nothing holds). Protected:
    the values of the randomized columns. Columns that are not randomized are released as they are, without
    guarantee.

    The matrix P does not depend on the records. For two records, the probabilities of a column's released value differ
    at most by the largest ratio in a row of P, e^epsilon. Ratios of independent columns multiply. The guarantee is
    recomputed from the final matrices.
    """

    def __init__(
        self,
        *,
        prior: Mapping[str, Sequence[float]],
        epsilon: float,
        columns: Sequence[str] | None = None,
        jointly: bool = False,
    ) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        self.prior = check_prior(prior)
        super().__init__(columns=columns, jointly=jointly)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Epsilon and Pk, computed from the matrices in use."""
        missing = self._not_public(records)
        if missing is not None:
            return missing
        groups = self._groups(records)
        retentions = [self._fixed(records, names, len(groups)) for names in groups]
        epsilon = sum(retention_epsilon(retention) for retention in retentions)
        n = len(records)
        # k = 1 + (n - 1) e^-spread for each group, and spreads of independent columns add up.
        pk = 1 + (n - 1) * float(np.prod([retention_pk(retention, 2) - 1 for retention in retentions]))
        if np.isinf(epsilon):
            return Guarantee(pk=pk, statement=self._about(records))
        return Guarantee(epsilon=float(epsilon), pk=pk, statement=f"local, {self._about(records)}")

    def _fixed(self, records: Microdata, names: tuple[str, ...], share: int) -> Floats:
        counts = np.ones(())
        for name in names:
            require(name in self.prior, f"prior has no column {name!r}; it has {', '.join(self.prior) or 'none'}")
            column = prior_counts(self.prior, name, category_count(records, name))
            counts = np.multiply.outer(counts, column / column.sum())
        return optimal_retention(counts.ravel(), self.epsilon / share)

    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        return self._fixed(records, names, share)
