"""Synthetic rows drawn from a Gaussian copula."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from scipy import special

from defenses.synthetic.mixed_column import Drawn, MixedColumn, distribution
from defenses.synthetic.row_synthesizer import Draw, RowSynthesizer
from defenses.synthetic.structural_zero import Zeros
from metrics.columns import Floats


class GaussianCopula(RowSynthesizer):
    """Synthetic rows from a Gaussian copula, which keeps the distributions of columns and their rank correlations.

    There are as many rows as records. Each column is modelled as a transformed normal variable. Numbers are transformed
    by their interpolated empirical quantiles, categories by thresholds at their cumulative shares, in domain order.
    A missing value comes after all others. Associations of unordered categories are kept only as far as the order of
    the domain expresses them.

    Parameters
    ----------
    structural_zeros : sequence of mapping of str to str
        Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. Rows that hold one are drawn
        again.

    Raises
    ------
    ValueError
        If a structural zero has another form; on `apply`, if one cannot be read or avoided.

    Notes
    -----
    The score of a record in a column is z = Phi^-1(s). Here s is the share of records below it plus half the share of
    equal ones. Rows are drawn from the normal distribution with the correlation matrix R of these scores. Each z is
    mapped back by the quantile at Phi(z). Rows are computed as independent normal variables times the symmetric root
    R^(1/2), taken from the eigenvalues of R. A constant column is uncorrelated.

    There is no guarantee: distributions and correlations are those of the table, and its smallest and largest numbers
    may be released unchanged. No row stems from a record, and there is no channel.

    References
    ----------
    Nelsen (2006), An Introduction to Copulas, section 2.9.
    Patki, Wedge and Veeramachaneni (2016), The synthetic data vault, section 3.
    """

    called = ("Gaussian copula", "Copula")

    def __init__(self, *, structural_zeros: Zeros = ()) -> None:
        super().__init__(structural_zeros=structural_zeros)

    def fit(self, columns: Sequence[MixedColumn], rng: Generator) -> Draw:
        """Fit the distribution of each column, and the rank correlations."""
        distributions = [distribution(column) for column in columns]
        scores = np.column_stack([special.ndtri(law.shares()) for law in distributions])
        root = _root(_correlations(scores))

        def draw(rows: int, rng: Generator) -> list[Drawn]:
            normals = rng.standard_normal((rows, len(distributions))) @ root
            return [law.at(special.ndtr(normal)) for law, normal in zip(distributions, normals.T, strict=True)]

        return draw


def _correlations(scores: Floats) -> Floats:
    """Correlation matrix of the columns, shape (p, p); a constant column is uncorrelated."""
    centered = scores - scores.mean(axis=0)
    deviation = np.sqrt((centered**2).mean(axis=0))
    varies = deviation > 1e-12
    standard = centered / np.where(varies, deviation, 1.0) * varies
    correlations: Floats = standard.T @ standard / len(scores)
    np.fill_diagonal(correlations, 1.0)
    return correlations


def _root(matrix: Floats) -> Floats:
    """Symmetric square root of a correlation matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
