"""PRAM with retention probabilities: one for all categories, or one for each that is optimal or privately tuned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import (
    BlockwiseDefense,
    Channel,
    Guarantee,
    Microdata,
    Needs,
    RecordsInBlocks,
    ReleasePlan,
    Retention,
    RetentionVector,
    category_count,
    check_columns,
    chosen_columns,
    public_or_filled,
)
from defenses.pram.matrix import (
    check_epsilon,
    check_prior,
    epsilon_for_retention,
    given_epsilon,
    k_for_epsilon,
    prior_counts,
    public_tables,
    retention_epsilon,
    retention_for_epsilon,
    retention_pk,
    unless_public,
)
from defenses.pram.optimal import optimal_retention
from defenses.pram.perturbation import noisy_histogram, retention_by_objective, retention_by_output
from defenses.pram.randomized import Categories, histogram, randomized
from metrics.columns import Floats, check_boolean, check_real, require


class RetentionReplacement(BlockwiseDefense):
    """Retention-replacement PRAM: keep a value with probability p, otherwise draw another one uniformly.

    The categories of a column are those of its domain, or the public bins of numbers; a number is released as a bin.
    Missing values form a further category of columns that have any. With d categories p is at least 1/d: a smaller
    retention is raised to 1/d, at which a released value carries no information. Records and columns are randomized
    independently.

    Parameters
    ----------
    retention : float, optional
        Probability p in [0, 1], the same for all columns.
    epsilon : float, optional
        Epsilon of all columns of a record together, positive; it is split evenly over the columns.
    k : float, optional
        Pk-anonymity of the columns together, from 1 to the number of records. Give exactly one of the three.
    columns : sequence of str, optional
        All quasi-identifiers where not given.

    Raises
    ------
    ValueError
        If not exactly one of `retention`, `epsilon` and `k` is given, or it is out of range.

    Examples
    --------
    With four categories, e^epsilon = 0.7 * 3 / 0.3 = 7.

    >>> import pandas as pd
    >>> from defenses import Microdata
    >>> from metrics import CategoricalDomain
    >>> grades = CategoricalDomain(("A", "B", "C", "D"))
    >>> frame = pd.DataFrame({"grade": ["A", "B", "B", "D", "C"]})
    >>> records = Microdata(frame, quasi_identifiers=("grade",), domains={"grade": grades})
    >>> guarantee = RetentionReplacement(retention=0.7).guarantee(records)
    >>> round(guarantee.epsilon, 3), round(guarantee.pk, 3)
    (1.946, 1.082)

    Notes
    -----
    Reads before its noise. Public: the number of records, names and order of the columns, declared domains and their
    types; that no value of a randomized column is missing (otherwise nothing holds). Protected: the values of the
    randomized columns. Columns that are not randomized are released as they are, without guarantee.

    The decision to keep a value compares a multiple of 2^-53 with p. That is exact for p >= 1/2, and otherwise rounds p
    up by less than 2^-53. So epsilon exceeds the stated one by at most (d + 2) 2^-53 in each column, and by the
    rounding of p and epsilon themselves.

    In one column, the probabilities of a released value under two originals have a ratio of at most e^epsilon =
    p (d - 1) / (1 - p), which is attained. Columns are independent, so their epsilons add up. For two records a, b and
    two releases x, y, the smallest P(y|a) P(x|b) / (P(x|a) P(y|b)) is e^(-2 epsilon), at x = a and y = b. The columns
    together are therefore Pk-anonymous with k = 1 + (n - 1) e^(-2 epsilon) exactly.

    Sources: Agrawal, Srikant and Thomas (2005), "Privacy preserving OLAP", retention replacement; Ikarashi et al.
    (2015), Pk-anonymity; Warner (1965) for two categories.
    """

    called = ("Retention-replacement PRAM", "PRAM", "Post-randomization method")

    randomizes_records_independently = True

    def __init__(
        self,
        *,
        retention: float | None = None,
        epsilon: float | None = None,
        k: float | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        require(
            sum(given is not None for given in (retention, epsilon, k)) == 1,
            "give exactly one of retention, epsilon and k",
        )
        self.retention = check_real("retention", retention, low=0, high=1, optional=True)
        if epsilon is not None:
            check_epsilon(epsilon)
        self.k = check_real("k", k, low=1, optional=True)
        self.columns = check_columns(columns)
        self.epsilon = epsilon

    @classmethod
    def example(cls) -> Self:
        """Retention probability 0.7."""
        return cls(retention=0.7)

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """The retention of each column."""
        parts = self._parts(records.counted)
        steps = [
            randomized([Categories.of(records, part.column)], np.full(part.categories, part.retention))
            for part in parts
        ]
        return ReleasePlan(steps, Channel(parts))

    def guarantee(self, records: Microdata) -> Guarantee:
        """Epsilon and Pk of the randomized columns, computed from the probabilities in use."""
        parts = self._parts(records)
        names = [part.column for part in parts]
        epsilon = sum(epsilon_for_retention(part.retention, part.categories) for part in parts)
        pk = k_for_epsilon(epsilon, len(records)) if epsilon > 0 else float(len(records))
        about = (
            f"of the columns {', '.join(names)} together, {public_tables(names)}; other columns are released as they "
            "are"
        )
        private = Guarantee(epsilon=epsilon, pk=pk, statement=f"local, one record replaced by any other, {about}")
        return unless_public(records, names) or (Guarantee(pk=pk, statement=about) if np.isinf(epsilon) else private)

    def _parts(self, records: Microdata) -> tuple[Retention, ...]:
        names = public_or_filled(records, chosen_columns(records, self.columns, records.quasi_identifiers))
        budget = given_epsilon(self.epsilon, self.k, len(records)) / max(1, len(names))
        parts = []
        for name in names:
            count = category_count(records, name)
            if self.retention is not None:
                retention = max(float(self.retention), 1 / count)
            else:
                retention = retention_for_epsilon(budget, count) if budget > 0 else 1 / count
            parts.append(Retention(name, records.domain(name), retention if count > 1 else 1.0, count))
        return tuple(parts)


MOST_CELLS = 10_000_000
"""Largest number of combinations of categories that are randomized jointly."""


class RetentionVectors(BlockwiseDefense):
    """PRAM with one retention probability per category, which subclasses choose.

    The categories of a column are those of its domain, or the public bins of numbers; a number is released as a bin.
    Missing values form a further category of columns that have any. Columns are randomized independently and share the
    budget evenly, or jointly, with the combinations of their values as categories.

    - columns: All quasi-identifiers where not given.
    - jointly: Whether to randomize combinations of the columns' categories, instead of each column separately.
    """

    needs: Needs = "histograms"

    def __init__(self, *, columns: Sequence[str] | None, jointly: bool) -> None:
        self.columns = check_columns(columns)
        self.jointly = check_boolean("jointly", jointly)

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Choose the retention probabilities of each group of columns by its histogram."""
        groups = self._groups(records.counted)
        steps, parts = [], []
        for names, generator in zip(groups, rng.spawn(len(groups)), strict=True):
            columns = tuple(Categories.of(records, name) for name in names)
            retention = self._retention(records.counted, names, histogram(records, columns), len(groups), generator)
            steps.append(randomized(columns, retention))
            domains, sizes = tuple(column.domain for column in columns), tuple(column.size for column in columns)
            parts.append(RetentionVector(names, domains, sizes, tuple(retention.tolist())))
        return ReleasePlan(steps, Channel(tuple(parts)))

    @abstractmethod
    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        """Retention probabilities of a group of columns; its budget is one of `share` equal parts."""

    def _groups(self, records: Microdata) -> tuple[tuple[str, ...], ...]:
        names = public_or_filled(records, chosen_columns(records, self.columns, records.quasi_identifiers))
        if self.jointly and names:
            cells = np.prod([float(category_count(records, name)) for name in names])
            require(
                cells <= MOST_CELLS,
                f"jointly: the columns {', '.join(names)} have {cells:.3g} cells, at most {MOST_CELLS:,}",
            )
            return (names,)
        return tuple((name,) for name in names)

    def _not_public(self, records: Microdata) -> Guarantee | None:
        """The empty guarantee if categories derive from the records, else None."""
        return unless_public(records, self._names(records))

    def _names(self, records: Microdata) -> list[str]:
        """The columns of all groups."""
        return [name for group in self._groups(records) for name in group]

    def _about(self, records: Microdata) -> str:
        names = self._names(records)
        return (
            f"one record replaced by any other, of the columns {', '.join(names)} together, {public_tables(names)}; "
            "other columns are released as is"
        )


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
        # k = 1 + (n - 1) e^-spread for each group, and spreads of independent columns add up.
        pk = 1 + (len(records) - 1) * float(np.prod([retention_pk(retention, 2) - 1 for retention in retentions]))
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


class _PrivatelyTuned(RetentionVectors):
    """Base of PRAM defenses that spend one budget on the matrix and one on the release."""

    _step: ClassVar[str]

    @classmethod
    def example(cls) -> Self:
        """Epsilon 1 for the matrix and 1 for the release."""
        return cls(epsilon_matrix=1.0, epsilon_release=1.0)

    def __init__(
        self,
        *,
        epsilon_matrix: float,
        epsilon_release: float,
        columns: Sequence[str] | None = None,
        jointly: bool = False,
    ) -> None:
        self.epsilon_matrix = check_real("epsilon_matrix", epsilon_matrix, low=0, open_low=True)
        self.epsilon_release = check_real("epsilon_release", epsilon_release, low=0, open_low=True)
        super().__init__(columns=columns, jointly=jointly)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Sum of both epsilons, and the Pk that the release's epsilon implies (see the Notes of the class)."""
        return self._not_public(records) or Guarantee(
            epsilon=float(self.epsilon_matrix + self.epsilon_release),
            pk=k_for_epsilon(float(self.epsilon_release), len(records)),
            statement=f"{self.epsilon_matrix:g} for the matrix ({self._step}) and {self.epsilon_release:g} for the "
            f"release through it, number of records public, {self._about(records)}",
        )


class OptimalRetentionFromNoisyHistogram(_PrivatelyTuned):
    """PRAM with the matrix that is optimal for a differentially private histogram.

    Parameters
    ----------
    epsilon_matrix : float
        Epsilon spent on the histogram, for all columns of a record together; positive.
    epsilon_release : float
        Epsilon spent on the release through the matrix; positive.
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether to randomize combinations of the columns' categories, instead of each column separately.

    Raises
    ------
    ValueError
        If an epsilon is not positive and finite.

    Notes
    -----
    Reads before its noise. Public: the number of records, names and order of the columns, declared domains and their
    types; that no value of a randomized column is missing (otherwise nothing holds). Protected: the values of the
    randomized columns. Columns that are not randomized are released as they are, without guarantee.

    Replacing one record lowers one count by 1 and raises another by 1: the histogram's L1 sensitivity is 2. Integer
    noise z with probability proportional to e^(-epsilon_1 |z| / 2) makes it epsilon_1-private. The optimiser uses only
    the noisy counts and the public number of records, so the matrix is epsilon_1-private too. Given the matrix, the
    release is epsilon_2-private. By composition, the published matrix together with the release is
    (epsilon_1 + epsilon_2)-private.

    Pk-anonymity is k = 1 + (n - 1) e^(-2 epsilon_2). The noise on the matrix does not enter, because Pk-anonymity must
    hold against an adversary who knows the table. Proof. Released rows are in random order. Let a permutation assign
    one released row to each person. Given the table and the matrix A, all permutations are equally likely a priori: A
    depends on the table's histogram only. The posterior of a permutation is therefore proportional to the product of
    A[x, t] over persons with value t and their released values x. Exchanging the rows of two persons changes two
    factors. Entries of one row of A differ by a factor of at most e^epsilon_2, so the product changes by a factor of at
    most e^(2 epsilon_2). Exchange a person's row with each of the n - 1 others: the posterior p of a pair satisfies
    1 - p >= (n - 1) e^(-2 epsilon_2) p. An adversary who does not know the table averages such posteriors over tables,
    and so stays within the bound. The bound is attained where A is retention-replacement.
    """

    _step = "noise on its histogram"

    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        noisy = noisy_histogram(counts, self.epsilon_matrix / share, rng)
        return optimal_retention(noisy, self.epsilon_release / share)


class OptimalRetentionByObjective(_PrivatelyTuned):
    """PRAM with a matrix tuned by objective perturbation.

    The flip probabilities minimise the expected distance plus a random linear function.

    Parameters
    ----------
    epsilon_matrix : float
        Epsilon spent on the objective, for all columns of a record together; positive.
    epsilon_release : float
        Epsilon spent on the release through the matrix; positive.
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether to randomize combinations of the columns' categories, instead of each column separately.

    Raises
    ------
    ValueError
        If an epsilon is not positive and finite.

    Notes
    -----
    The noise on the matrix is drawn in floating point: its epsilon holds for real numbers, not to the last digit.
    `OptimalRetentionFromNoisyHistogram` draws exactly.

    Reads before its noise. Public: the number of records, names and order of the columns, declared domains and their
    types; that no value of a randomized column is missing (otherwise nothing holds). Protected: the values of the
    randomized columns. Columns that are not randomized are released as they are, without guarantee.

    `defenses.pram.perturbation` proves that the matrix is epsilon_1-private. With the release, both epsilons add up.
    The full quadratic program is solved, so it suits at most a few hundred categories, each with many records.

    Pk-anonymity is 1 + (n - 1) e^(-2 epsilon_2), by the proof for `OptimalRetentionFromNoisyHistogram`.

    Source: objective perturbation is suggested by Miura and Hasegawa, 5.2.2.
    """

    _step = "noise on its objective"

    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        return retention_by_objective(counts, self.epsilon_matrix / share, self.epsilon_release / share, rng)


class OptimalRetentionByOutput(_PrivatelyTuned):
    """PRAM with a matrix tuned by output perturbation: noise on the flip probabilities of a regularised optimum.

    Parameters
    ----------
    epsilon_matrix : float
        Epsilon spent on the noise, for all columns of a record together; positive.
    epsilon_release : float
        Epsilon spent on the release through the matrix; positive.
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether to randomize combinations of the columns' categories, instead of each column separately.

    Raises
    ------
    ValueError
        If an epsilon is not positive and finite.

    Notes
    -----
    The noise on the matrix is drawn in floating point: its epsilon holds for real numbers, not to the last digit.
    `OptimalRetentionFromNoisyHistogram` draws exactly.

    Reads before its noise. Public: the number of records, names and order of the columns, declared domains and their
    types; that no value of a randomized column is missing (otherwise nothing holds). Protected: the values of the
    randomized columns. Columns that are not randomized are released as they are, without guarantee.

    `defenses.pram.perturbation` proves that the matrix is epsilon_1-private. With the release, both epsilons add up.
    The full quadratic program is solved, so it suits at most a few hundred categories, each with many records.

    Pk-anonymity is 1 + (n - 1) e^(-2 epsilon_2), by the proof for `OptimalRetentionFromNoisyHistogram`.

    Source: output perturbation is suggested by Miura and Hasegawa, 5.2.2.
    """

    _step = "noise on its entries"

    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        return retention_by_output(counts, self.epsilon_matrix / share, self.epsilon_release / share, rng)
