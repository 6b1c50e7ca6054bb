"""PRAM with matrices tuned to the records under differential privacy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import Guarantee, Microdata
from defenses.pram.conversions import k_for_epsilon
from defenses.pram.optimal import optimal_retention
from defenses.pram.perturbation import noisy_histogram, retention_by_objective, retention_by_output
from defenses.pram.retention_vectors import RetentionVectors
from metrics.columns import Floats, check_real


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
