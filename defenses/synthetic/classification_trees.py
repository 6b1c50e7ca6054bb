"""Synthetic rows from classification and regression trees, one column after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import Microdata
from defenses.synthetic.mixed_column import Drawn, LeafMembers, MixedColumn, split_ranks
from defenses.synthetic.row_synthesizer import Draw, RowSynthesizer
from defenses.synthetic.structural_zero import Zeros
from metrics.columns import Floats, Integers, check_integer, refuse

MOST_CLASSES = 64
"""Largest number of classes that a tree tells apart; it takes the rarer categories of a column for one class."""


class ClassificationTrees(RowSynthesizer):
    """Synthetic rows from sequential classification and regression trees (CART), as synthpop draws them.

    The first column is drawn from its records. Each further column is drawn by a tree that predicts it from the columns
    before it. A new row falls into a leaf and gets the value of a random record of that leaf. Numbers are split by
    variance and categories by Gini impurity. A missing value is a value of its own.

    Parameters
    ----------
    leaf_size : int
        Smallest number of records in a leaf, at least 1. With small leaves, new rows repeat combinations of values of
        single records.
    rows : int, optional
        Number of new rows, at least 0; by default as many as records.
    structural_zeros : sequence of mapping of str to str
        Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. Rows that hold one are drawn
        again. For example, ``{"age": "[0,15)", "income": "[1,1000000]"}`` says that no child has an income.

    Raises
    ------
    ValueError
        If a parameter is out of range; on `apply`, if `leaf_size` exceeds the number of records.
        On `apply`, if a value is no category of its domain or no finite number, or a structural zero cannot be read or
        avoided.

    Notes
    -----
    There is no guarantee. Released numbers are numbers of records: a unique number names its record. Rows stem from
    several records each, so there is no origin and no channel.

    The order of the columns matters: it is that of the table. A column without variation is copied. Trees split
    unordered categories in the order of `defenses.synthetic.mixed_column`. They are not pruned, and grow until
    leaves are pure or small. synthpop draws missing numbers by a tree of their own; here one tree predicts number and
    missingness together.

    References
    ----------
    Nowok, Raab and Dibben (2016), synthpop: bespoke creation of synthetic data in R, section 2.
    Reiter (2005), Using CART to generate partially synthetic public use microdata, section 2.
    Breiman, Friedman, Olshen and Stone (1984), Classification and regression trees.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import ClassificationTrees, Microdata
    >>> records = Microdata(pd.DataFrame({"smokes": ["no", "yes"] * 20, "packs": [0, 3] * 20}))
    >>> release = ClassificationTrees(rows=1000).apply(records, np.random.default_rng(0))
    >>> sorted(release.frame.value_counts().index)
    [('no', 0), ('yes', 3)]
    """

    called = ("CART", "synthpop", "Classification and regression trees")

    def __init__(self, *, leaf_size: int = 5, rows: int | None = None, structural_zeros: Zeros = ()) -> None:
        self.leaf_size = check_integer("leaf_size", leaf_size, low=1)
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
            0 < len(records) < self.leaf_size,
            (
                f"leaf_size must not exceed the number of records, got leaf_size = {self.leaf_size} "
                f"for n = {len(records)}"
            ),
        )

    def fit(self, columns: Sequence[MixedColumn], rng: Generator) -> Draw:
        """Fit one tree for each column but the first."""
        trees = [
            _fitted(columns[:number], columns[number], int(self.leaf_size), rng) for number in range(1, len(columns))
        ]
        n = columns[0].values.size

        def draw(rows: int, rng: Generator) -> list[Drawn]:
            donors = [rng.integers(n, size=rows)]
            for tree in trees:
                donors.append(tree.donors(donors, rng))
            return [column.values[donor] for column, donor in zip(columns, donors, strict=True)]

        return draw


@dataclass(frozen=True)
class _Tree:
    """A fitted tree of one column.

    Attributes
    ----------
    estimator : estimator
        The tree.
    features : ndarray of float, shape (n, columns before)
        Coded values of the records.
    members : LeafMembers
        Records of the leaves.
    """

    estimator: Any
    features: NDArray[np.float32]
    members: LeafMembers

    def donors(self, previous: Sequence[Integers], rng: Generator) -> Integers:
        """Draw a record from the leaf of each new row, given the records that its earlier values come from."""
        coded = np.column_stack([feature[donor] for feature, donor in zip(self.features.T, previous, strict=True)])
        leaf = self.estimator.apply(coded, check_input=False)
        return self.members.donors(leaf, 1, rng)[:, 0]


def _fitted(before: Sequence[MixedColumn], target: MixedColumn, leaf_size: int, rng: Generator) -> _Tree:
    """Fit the tree of a column, given the columns before it."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    responses = _responses(target)
    features = np.column_stack([split_ranks(column, responses) for column in before]).astype(np.float32)
    kind = DecisionTreeRegressor if target.numeric else DecisionTreeClassifier
    estimator = kind(min_samples_leaf=leaf_size, random_state=int(rng.integers(2**31)))
    estimator.fit(features, responses if target.numeric else responses.argmax(axis=1), check_input=False)
    leaf = estimator.apply(features, check_input=False)
    return _Tree(estimator, features, LeafMembers.of(leaf[:, None]))


def _responses(target: MixedColumn) -> Floats:
    """What the tree predicts: indicators of classes, or standardized number and missingness; shape (n, responses)."""
    if not target.numeric:
        _, codes, counts = np.unique(target.values, return_inverse=True, return_counts=True)
        by_frequency = np.argsort(np.argsort(-counts, kind="stable"))
        return np.asarray(np.eye(min(counts.size, MOST_CLASSES))[np.minimum(by_frequency, MOST_CLASSES - 1)[codes]])
    missing = np.isnan(target.values)
    numbers = np.where(missing, np.nanmean(target.values), target.values)
    parts = np.column_stack([numbers, missing.astype(float)]) if missing.any() else numbers[:, None]
    centered = parts - parts.mean(axis=0)
    deviation = centered.std(axis=0)
    return np.asarray(centered / np.where(deviation > 0, deviation, 1.0))
