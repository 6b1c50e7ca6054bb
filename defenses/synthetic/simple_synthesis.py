"""Synthetic rows from independent marginals, from a Gaussian copula, and between neighbouring records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special

from defenses.base import Microdata, MicrodataDefense, MicrodataRelease, filled, released_frame
from defenses.synthetic.mixed_column import Drawn, MixedColumn, distribution, mixed_column
from defenses.synthetic.row_synthesizer import Draw, RowSynthesizer, Zeros
from metrics.columns import Floats, Integers, check_choice, check_integer, check_real, refuse


class IndependentMarginals(MicrodataDefense):
    """Synthetic rows from independent marginals: each cell is drawn from its column's smoothed distribution.

    There are as many rows as records. Numbers are drawn from their public bins, uniformly inside a bin. All
    associations between columns are lost. It is the baseline that other synthesizers should beat.

    Parameters
    ----------
    smoothing : float
        Number added to the count of every category and bin of the domain, at least 0. With a positive number, values
        that no record has may be drawn too. Nothing is added to missing values.

    Raises
    ------
    ValueError
        If the smoothing is not a finite number of at least 0; on `apply`, if a value is no category of its domain.

    Notes
    -----
    There is no guarantee: counts are exact. No row stems from a record, so there is no channel.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import IndependentMarginals, Microdata
    >>> records = Microdata(pd.DataFrame({"sex": list("FFFFFF"), "town": ["Ulm"] * 6}))
    >>> release = IndependentMarginals(smoothing=0).apply(records, np.random.default_rng(0))
    >>> release.frame.value_counts().to_dict()
    {('F', 'Ulm'): 6}
    >>> release.origin.tolist()
    [-1, -1, -1, -1, -1, -1]
    """

    called = ("Independent marginals", "Independent attributes")

    def __init__(self, *, smoothing: float = 1.0) -> None:
        self.smoothing = check_real("smoothing", smoothing, low=0)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Draw the rows."""
        frame = released_frame(records)
        for name in filled(records, records.released_columns):
            column = mixed_column(records, name)
            drawn = distribution(column).smoothed_at(rng.random(len(frame)), self.smoothing, rng)
            frame[name] = column.released(drawn)
        return MicrodataRelease(frame, np.full(len(frame), -1), None)


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


MOST_CELLS = 10_000_000
"""Largest number of votes that are counted at a time."""
MOST_DIMENSIONS = 256
"""Largest number of coordinates of a column; more categories than these get random directions."""


class NeighbourInterpolation(RowSynthesizer):
    """Synthetic rows by SMOTE: each lies between a random record and one of its k nearest neighbours.

    SMOTE was made to enlarge small classes of training data. As a protection it is a mistake: every row lies next to a
    record. It is here so that attacks can show this.

    Parameters
    ----------
    k : int
        Number of nearest neighbours of a record, at least 1 and less than the number of records.
    categories : {"vote", "pick"}
        Category of a new row: the most frequent one among the k neighbours, or that of one of the two records.
    rows : int, optional
        Number of new rows, at least 0; by default as many as records.
    structural_zeros : sequence of mapping of str to str
        Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. Rows that hold one are drawn
        again.

    Raises
    ------
    ValueError
        If a parameter is out of range; on `apply`, if `k` is not less than the number of records.
        On `apply`, if a value is no category of its domain or no finite number, or a structural zero cannot be read or
        avoided.

    Notes
    -----
    There is no guarantee. Rows stem from two records each, so there is no origin and no channel.

    A row is drawn from a random record x and a random one y of its k nearest neighbours. With u uniform in [0, 1), a
    number is x + u (y - x), rounded where the domain holds integers. Where either is missing, and for categories that
    are picked, it is y's value with probability u and x's otherwise. Ties of votes go to the smaller code.

    Distances are Euclidean. Numbers are divided by their standard deviation. Two different categories are one standard
    deviation apart; with more than 256 categories in a column, up to a few percent. A missing number is the mean, one
    standard deviation aside. That is the distance of SMOTE-NC on standardized numbers. There are no classes.

    References
    ----------
    Chawla, Bowyer, Hall and Kegelmeyer (2002), SMOTE: synthetic minority over-sampling technique, sections 4.2 and 6.1.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Microdata, NeighbourInterpolation
    >>> records = Microdata(pd.DataFrame({"height": [1.50, 1.52, 1.90, 1.94]}))
    >>> heights = NeighbourInterpolation(k=1, rows=100).apply(records, np.random.default_rng(0)).frame["height"]
    >>> bool((heights.between(1.50, 1.52) | heights.between(1.90, 1.94)).all())
    True
    """

    called = ("SMOTE", "Synthetic minority oversampling")

    def __init__(
        self,
        *,
        k: int = 5,
        categories: Literal["vote", "pick"] = "vote",
        rows: int | None = None,
        structural_zeros: Zeros = (),
    ) -> None:
        self.k = check_integer("k", k, low=1)
        self.categories = check_choice("categories", categories, ("vote", "pick"))
        super().__init__(rows=rows, structural_zeros=structural_zeros)

    def check(self, records: Microdata) -> None:
        """Check that the parameters fit these records.

        Raises
        ------
        ValueError
            If they do not; names the parameter.
        """
        super().check(records)
        refuse(
            0 < len(records) <= self.k,
            f"k must be less than the number of records, got k = {self.k} for n = {len(records)}",
        )

    def fit(self, columns: Sequence[MixedColumn], rng: Generator) -> Draw:
        """Place the records in space, in which neighbours are searched."""
        points = np.column_stack([_coordinates(column, rng) for column in columns]).astype(np.float32)
        n, k = len(points), int(self.k)

        def draw(rows: int, rng: Generator) -> list[Drawn]:
            record = rng.integers(n, size=rows)
            distinct, position = np.unique(record, return_inverse=True)
            neighbours = _neighbours(points, distinct, k)[position]
            other = neighbours[np.arange(rows), rng.integers(k, size=rows)]
            share = rng.random(rows)
            nearer = np.where(rng.random(rows) < share, other, record)
            drawn = []
            for column in columns:
                if column.cells is None:
                    between = column.values[record] + share * (column.values[other] - column.values[record])
                    drawn.append(np.where(np.isnan(between), column.values[nearer], between))
                elif self.categories == "pick":
                    drawn.append(column.values[nearer])
                else:
                    drawn.append(_votes(column.values, neighbours))
            return drawn

        return draw


def _coordinates(column: MixedColumn, rng: Generator) -> Floats:
    """Coordinates of a column's values, shape (n, dimensions)."""
    if column.cells is not None:
        occurring, codes = np.unique(column.values, return_inverse=True)
        # Two different indicators are sqrt(2) apart, and so are random directions up to a few percent.
        if occurring.size <= MOST_DIMENSIONS:
            directions = np.eye(occurring.size)
        else:
            directions = rng.choice([-1.0, 1.0], (occurring.size, MOST_DIMENSIONS)) / np.sqrt(MOST_DIMENSIONS)
        return np.asarray(directions[codes] / np.sqrt(2))
    missing = np.isnan(column.values)
    deviation = float(np.nanstd(column.values)) or 1.0
    centered = (column.values - np.nanmean(column.values)) / deviation
    numbers = np.where(missing, 0.0, centered)[:, None]
    return np.column_stack([numbers, missing]) if missing.any() else numbers


def _neighbours(points: NDArray[np.float32], records: Integers, k: int) -> Integers:
    """The k nearest other records of each of the given records, shape (records, k)."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(points)
    nearest = search.kneighbors(points[records], return_distance=False)
    # Of more than k equal records, the record itself may not be among the nearest.
    itself = nearest == records[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(nearest[~itself].reshape(records.size, k))


def _votes(codes: Integers, neighbours: Integers) -> Integers:
    """The most frequent code among the neighbours of each row, shape (rows,)."""
    occurring, positions = np.unique(codes, return_inverse=True)
    result = np.empty(len(neighbours), dtype=np.intp)
    block = max(1, MOST_CELLS // occurring.size)
    for start in range(0, len(neighbours), block):
        part = positions[neighbours[start : start + block]]
        rows = np.arange(len(part))[:, None]
        counts = np.bincount((rows * occurring.size + part).ravel(), minlength=len(part) * occurring.size)
        result[start : start + block] = occurring[counts.reshape(len(part), -1).argmax(axis=1)]
    return result
