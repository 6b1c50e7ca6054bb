"""PRAM with the matrix that changes a column's histogram least, in forms with and without differential privacy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.channel import Channel
from defenses.channel_parts import RetentionVector
from defenses.columns import category_codes, check_columns, filled
from defenses.defense import MicrodataDefense, chosen_columns, released_frame, rowwise_release
from defenses.guarantee import Guarantee
from defenses.microdata import Microdata
from defenses.parameters import check_real
from defenses.pram import (
    epsilon_for_k,
    k_for_epsilon,
    optimal_retention,
    replace,
    retention_epsilon,
    retention_pk,
)
from defenses.pram.conversions import check_epsilon
from defenses.pram.perturbation import noisy_histogram, retention_by_objective, retention_by_output
from defenses.release import MicrodataRelease
from metrics.cells import escape
from metrics.domains import Domain, NumericDomain

Floats = NDArray[np.float64]


class RetentionVectors(MicrodataDefense):
    """PRAM with a retention probability for each category; how these come about is the subclass's.

    A column takes the categories of its domain; one with numbers takes its public bins, and a number is released as
    its bin or another. In a column in which a value is missing, the missing value is one more category. Columns are
    randomized independently and share the budget evenly, or jointly: then their combinations are the categories.
    """

    columns: Sequence[str] | None
    jointly: bool

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the randomized columns."""
        frame = released_frame(records)
        groups = self._groups(records)
        parts = []
        for names, generator in zip(groups, rng.spawn(len(groups)), strict=True):
            domains = tuple(records.domain(name) for name in names)
            sizes = tuple(_size(records, name) for name in names)
            cells = np.ravel_multi_index(tuple(category_codes(records, name) for name in names), sizes)
            counts = np.bincount(cells, minlength=int(np.prod(sizes)))
            retention = self._retention(records, names, counts, len(groups), generator)
            released = np.unravel_index(replace(cells, retention, generator), sizes)
            for name, domain, codes in zip(names, domains, released, strict=True):
                frame[name] = pd.Series(_cells(domain)[codes], dtype=object)
            parts.append(RetentionVector(names, domains, sizes, tuple(retention.tolist())))
        return rowwise_release(frame, Channel(tuple(parts)))

    @abstractmethod
    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        """Retention probabilities of a group of columns that gets one of `share` parts of the budget."""

    def _groups(self, records: Microdata) -> tuple[tuple[str, ...], ...]:
        names = filled(records, chosen_columns(records, self.columns, records.quasi_identifiers))
        if self.jointly:
            return (names,) if names else ()
        return tuple((name,) for name in names)

    def _check_common(self, columns: Sequence[str] | None, jointly: bool) -> None:
        check_columns(columns)
        if not isinstance(jointly, bool):
            raise ValueError(f"jointly must be true or false, got {jointly!r}")

    def _not_public(self, records: Microdata) -> Guarantee | None:
        """Return the empty guarantee where the categories themselves are read from the records."""
        names = [name for group in self._groups(records) for name in group]
        if not names:
            return Guarantee(statement="none: no column is randomized")
        read = [name for name in names if name not in records.domains]
        if read:
            return Guarantee(statement=f"none: the domain of {', '.join(read)} is not public but read from the records")
        holes = [name for name in names if _size(records, name) > records.domain(name).size]
        if holes:
            return Guarantee(
                statement=f"none: that a value of {', '.join(holes)} is missing, which makes missing a category, is "
                "read from the records"
            )
        return None

    def _about(self, records: Microdata) -> str:
        names = ", ".join(name for group in self._groups(records) for name in group)
        return f"one record replaced by any other, of the columns {names} together; other columns are released as is"


class OptimalRetention(RetentionVectors):
    """PRAM with the matrix that is optimal for the very histogram to be released.

    Parameters
    ----------
    epsilon : float, optional
        Differential privacy of the fixed matrix, for a record's columns together; positive.
    k : float, optional
        Pk-anonymity of the fixed matrix, from 1 to the number of records. Give one of the two.
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether combinations of the columns' categories are randomized, instead of each column by itself.

    Raises
    ------
    ValueError
        If not exactly one of `epsilon` and `k` is given, or it is out of range.

    Notes
    -----
    A matrix that is fixed beforehand has this epsilon. Here it is made of the records, and tells of them (away from
    its bounds, flip probabilities are proportional to 1/count): the procedure as a whole is not differentially
    private, whether the matrix is published or not, and promises nothing.

    Source: Miura and Hasegawa, Algorithm 1.
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        k: float | None = None,
        columns: Sequence[str] | None = None,
        jointly: bool = False,
    ) -> None:
        if (epsilon is None) == (k is None):
            raise ValueError("give exactly one of epsilon and k")
        if epsilon is not None:
            check_epsilon(epsilon)
        if k is not None:
            check_real("k", k, low=1)
        self._check_common(columns, jointly)
        self.epsilon = epsilon
        self.k = k
        self.columns = columns
        self.jointly = jointly

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return nothing for the procedure; the statement says what the matrix would have, were it fixed."""
        budget = self._budget(len(records))
        if not self._groups(records):
            return Guarantee(statement="none: no column is randomized")
        fixed = f"ε={budget:.4g} and Pk={k_for_epsilon(budget, len(records)):.4g}" if budget > 0 else "ε=0"
        return Guarantee(
            statement=f"none: the matrix is made of these records and tells of them; held fixed, it would have {fixed}"
        )

    def _budget(self, size: int) -> float:
        if self.k is None or size == 0:
            return float("inf") if self.epsilon is None else float(self.epsilon)
        if self.k > size:
            raise ValueError(f"k must be at most the number of records, {size}, got {self.k:g}")
        return epsilon_for_k(self.k, size)

    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        budget = self._budget(len(records)) / share
        return optimal_retention(counts, budget) if budget > 0 else np.full(counts.size, 1 / counts.size)


class OptimalRetentionWithPrior(RetentionVectors):
    """PRAM with the matrix that is optimal for a public histogram, such as a former year's.

    Parameters
    ----------
    prior : mapping of str to sequence of float
        For each column the counts of its categories or bins (and of missing, where a value is), from public knowledge.
        Jointly randomized columns take the product of theirs.
    epsilon : float
        Differential privacy of a record's columns together; positive.
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether combinations of the columns' categories are randomized, instead of each column by itself.

    Raises
    ------
    ValueError
        If a prior is no histogram or `epsilon` is not positive.

    Notes
    -----
    The matrix P does not depend on the records, so of two records in a column the probabilities of one release differ
    by at most the largest ratio in a row of P, e^epsilon; independent columns multiply. The guarantee is recomputed
    from the final matrices.
    """

    def __init__(
        self,
        *,
        prior: Mapping[str, Sequence[float]],
        epsilon: float,
        columns: Sequence[str] | None = None,
        jointly: bool = False,
    ) -> None:
        check_epsilon(epsilon)
        if not isinstance(prior, Mapping):
            raise ValueError(f"prior must map columns to counts, got {prior!r}")
        for name, counts in prior.items():
            _check_prior(name, counts)
        self._check_common(columns, jointly)
        self.prior = prior
        self.epsilon = epsilon
        self.columns = columns
        self.jointly = jointly

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return epsilon and Pk of the matrices in use."""
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
            if name not in self.prior:
                raise ValueError(f"prior has no column {name!r}; it has {', '.join(self.prior) or 'none'}")
            column = np.asarray(self.prior[name], dtype=float)
            if column.size != _size(records, name):
                raise ValueError(
                    f"prior of column {name!r} has {column.size} counts, the column {_size(records, name)} categories"
                )
            counts = np.multiply.outer(counts, column / column.sum())
        return optimal_retention(counts.ravel(), self.epsilon / share)

    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        return self._fixed(records, names, share)


class _PrivatelyTuned(RetentionVectors):
    """PRAM whose matrix is tuned to the records by a differentially private step of its own."""

    _step: ClassVar[str]

    def __init__(
        self,
        *,
        epsilon_matrix: float,
        epsilon_release: float,
        columns: Sequence[str] | None = None,
        jointly: bool = False,
    ) -> None:
        check_real("epsilon_matrix", epsilon_matrix, low=0, open_low=True)
        check_real("epsilon_release", epsilon_release, low=0, open_low=True)
        self._check_common(columns, jointly)
        self.epsilon_matrix = epsilon_matrix
        self.epsilon_release = epsilon_release
        self.columns = columns
        self.jointly = jointly

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return the sum of both epsilons, and the Pk that it implies."""
        missing = self._not_public(records)
        if missing is not None:
            return missing
        total = float(self.epsilon_matrix + self.epsilon_release)
        return Guarantee(
            epsilon=total,
            pk=k_for_epsilon(total, len(records)),
            statement=f"{self.epsilon_matrix:g} for the matrix ({self._step}) and {self.epsilon_release:g} for the "
            f"release through it, number of records public, {self._about(records)}",
        )


class OptimalRetentionFromNoisyHistogram(_PrivatelyTuned):
    """PRAM with the matrix that is optimal for a differentially private histogram.

    Parameters
    ----------
    epsilon_matrix : float
        Spent on the histogram, for a record's columns together; positive.
    epsilon_release : float
        Spent on the release through the matrix; positive.
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether combinations of the columns' categories are randomized, instead of each column by itself.

    Raises
    ------
    ValueError
        If an epsilon is not positive and finite.

    Notes
    -----
    One record replaced by another moves one count down by 1 and one up: the histogram's L1 sensitivity is 2. Integer
    noise z with probability proportional to e^(-epsilon_1 |z| / 2) makes it epsilon_1-private. The optimiser sees the
    noisy counts and the public number of records alone, so the matrix is epsilon_1-private too. Given the matrix, the
    release is epsilon_2-private. By composition the pair, and so the published matrix with the release, is
    (epsilon_1 + epsilon_2)-private.
    """

    _step = "noise on its histogram"

    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        noisy = noisy_histogram(counts, self.epsilon_matrix / share, rng)
        return optimal_retention(noisy, self.epsilon_release / share)


class OptimalRetentionByObjective(_PrivatelyTuned):
    """PRAM with a matrix that minimises the distance plus a random linear function of the flip probabilities.

    Parameters
    ----------
    epsilon_matrix : float
        Spent on the objective, for a record's columns together; positive.
    epsilon_release : float
        Spent on the release through the matrix; positive.
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether combinations of the columns' categories are randomized, instead of each column by itself.

    Raises
    ------
    ValueError
        If an epsilon is not positive and finite.

    Notes
    -----
    `defenses.pram.perturbation` proves that the matrix is epsilon_1-private; with the release, as the sum. Solves the
    full program: for at most a few hundred categories, and needs many records for each.

    Source: objective perturbation is suggested by Miura and Hasegawa, 5.2.2.
    """

    _step = "noise on its objective"

    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        return retention_by_objective(counts, self.epsilon_matrix / share, self.epsilon_release / share, rng)


class OptimalRetentionByOutput(_PrivatelyTuned):
    """PRAM with the flip probabilities of a regularised optimum, plus noise.

    Parameters
    ----------
    epsilon_matrix : float
        Spent on the noise, for a record's columns together; positive.
    epsilon_release : float
        Spent on the release through the matrix; positive.
    columns : sequence of str, optional
        All quasi-identifiers where not given.
    jointly : bool
        Whether combinations of the columns' categories are randomized, instead of each column by itself.

    Raises
    ------
    ValueError
        If an epsilon is not positive and finite.

    Notes
    -----
    `defenses.pram.perturbation` proves that the matrix is epsilon_1-private; with the release, as the sum. Solves the
    full program: for at most a few hundred categories, and needs many records for each.

    Source: output perturbation is suggested by Miura and Hasegawa, 5.2.2.
    """

    _step = "noise on its entries"

    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        return retention_by_output(counts, self.epsilon_matrix / share, self.epsilon_release / share, rng)


def _size(records: Microdata, name: str) -> int:
    """Categories of a column, with one for missing values where there are any."""
    return records.domain(name).size + int(records.frame[name].isna().any())


def _cells(domain: Domain) -> NDArray[np.object_]:
    """Each category or bin as a released cell, and the missing one."""
    names = domain.cells() if isinstance(domain, NumericDomain) else [escape(name) for name in domain.categories]
    return np.array([*names, None], dtype=object)


def _check_prior(name: str, counts: Sequence[float]) -> None:
    from defenses.pram.matrix import check_histogram

    try:
        check_histogram(counts)
    except (TypeError, ValueError) as error:
        raise ValueError(f"prior of column {name!r}: {error}") from None
