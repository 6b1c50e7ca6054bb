"""Synthetic rows from trees: classification and regression trees, and adversarial random forests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special

from defenses.base import Microdata
from defenses.synthetic.mixed_column import Drawn, Features, LeafMembers, MixedColumn, PrunedForest, split_ranks
from defenses.synthetic.row_synthesizer import Draw, RowSynthesizer, Zeros
from metrics.columns import Booleans, Floats, Integers, check_choice, check_integer, check_real, refuse

MOST_CLASSES = 64
"""Largest number of classes that a tree tells apart; it takes the rarer categories of a column for one class."""


class TreeSynthesizer(RowSynthesizer):
    """A synthesizer that fits trees, whose leaves keep a fewest number of records."""

    leaf_size: int

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


class ClassificationTrees(TreeSynthesizer):
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

    - features of shape (n, columns before): Coded values of the records.
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


# Distribution of a column of numbers inside the leaves of a forest.


@dataclass(frozen=True)
class LeafNumbers:
    """A uniform or truncated normal distribution of numbers for each leaf.

    - low, high of shape (nodes,): Bounds of the numbers.
    - mean, deviation of shape (nodes,), optional: Mean and standard deviation before truncation; None for uniform
      distributions.
    """

    low: Floats
    high: Floats
    mean: Floats | None = None
    deviation: Floats | None = None

    @staticmethod
    def of(column: MixedColumn, low: Floats, high: Floats, members: LeafMembers, *, normal: bool) -> LeafNumbers:
        """Fit the distributions.

        - low, high of shape (nodes,): Bounds of the column's ranks in each node.
        - normal: Whether the distributions are truncated normal, or else uniform.
        """
        values = np.repeat(column.values, members.leaf.shape[1])
        present = ~np.isnan(values)
        leaf, values = members.leaf.ravel()[present], values[present]
        size = members.count.size
        count = np.maximum(np.bincount(leaf, minlength=size), 1)
        bounds = _between(column.distinct, low[:size]), _between(column.distinct, high[:size])
        if not normal:
            return LeafNumbers(*bounds)
        mean = np.bincount(leaf, weights=values, minlength=size) / count
        variance = np.bincount(leaf, weights=(values - mean[leaf]) ** 2, minlength=size) / count
        return LeafNumbers(*bounds, mean, np.sqrt(variance))

    def drawn(self, leaf: Integers, rng: Generator) -> Floats:
        """Draw a number in the leaf of each new row, shape (rows,)."""
        low, high, share = self.low[leaf], self.high[leaf], rng.random(leaf.size)
        if self.mean is None or self.deviation is None:
            return np.asarray(low + share * (high - low))
        mean, deviation = self.mean[leaf], self.deviation[leaf]
        scale = np.where(deviation > 0, deviation, 1.0)
        below, above = special.ndtr((low - mean) / scale), special.ndtr((high - mean) / scale)
        numbers = mean + scale * special.ndtri(below + share * (above - below))
        return np.where(deviation > 0, np.clip(numbers, low, high), mean)


def _between(distinct: Floats, ranks: Floats) -> Floats:
    """Numbers at bounds between ranks, which end at the smallest and the largest number."""
    inside = np.clip(ranks, 0, distinct.size - 1)
    return np.interp(inside, np.arange(distinct.size), distinct)


MOST_ROUNDS = 10
"""Largest number of forests that are fitted one after the other."""
MOST_INDICATORS = 64
"""Largest number of categories of a column by which those of other columns are ordered."""


class ForestSynthesis(TreeSynthesizer):
    """Synthetic rows from adversarial random forests (ARF): in the leaves of a forest, columns are independent.

    A forest learns to tell the records from rows with independent columns. Then new rows are drawn leaf by leaf, and
    another forest learns to tell these. That ends when a forest is no better than guessing, or no better than the one
    before. Rows are drawn from the leaves of the last forest.

    Parameters
    ----------
    leaf_size : int
        Smallest number of records in a leaf, at least 1.
    trees : int
        Number of trees, at least 1.
    delta : float
        Forests are fitted until one is right about at most a share 1/2 + delta of rows, in [0, 1/2).
    numbers : {"normal", "uniform", "resample"}
        Distribution of numbers in a leaf: normal, truncated to the leaf's bounds; uniform inside these bounds; or
        values of the leaf's records.
    rows : int, optional
        Number of new rows, at least 0; by default as many as records.
    structural_zeros : sequence of mapping of str to str
        Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. Rows that hold one are drawn
        again.

    Raises
    ------
    ValueError
        If a parameter is out of range; on `apply`, if `leaf_size` exceeds the number of records.
        On `apply`, if a value is no category of its domain or no finite number, or a structural zero cannot be read or
        avoided.

    Notes
    -----
    There is no guarantee. A leaf of few records shows them. Rows stem from several records each, so there is no origin
    and no channel.

    A row is drawn from a random tree, and there from a leaf with probability its share of the records. Inside the leaf,
    categories are drawn by their frequency, and so is whether a number is missing. Present numbers have the leaf's mean
    and standard deviation before truncation. Bounds end at the smallest and largest number of the column. The accuracy
    is that on rows that a tree has not seen. A leaf with too few records is merged with its sibling. Unordered
    categories are split in the order of `defenses.synthetic.mixed_column` by all other columns.

    References
    ----------
    Watson, Blesch, Kapar and Wright (2023), Adversarial random forests for density estimation and generative modeling,
    algorithms 1 (the forests) and 2 (drawing), section 4.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import ForestSynthesis, Microdata
    >>> records = Microdata(pd.DataFrame({"x": [0, 1] * 50, "y": ["a", "b"] * 50}))
    >>> frame = ForestSynthesis(rows=1000).apply(records, np.random.default_rng(0)).frame
    >>> bool(((frame["x"] == 1) == (frame["y"] == "b")).mean() > 0.9)
    True
    """

    called = ("ARF", "Adversarial random forest", "Adversarial random forests")

    def __init__(
        self,
        *,
        leaf_size: int = 2,
        trees: int = 10,
        delta: float = 0.0,
        numbers: Literal["normal", "uniform", "resample"] = "normal",
        rows: int | None = None,
        structural_zeros: Zeros = (),
    ) -> None:
        self.leaf_size = check_integer("leaf_size", leaf_size, low=1)
        self.trees = check_integer("trees", trees, low=1)
        self.delta = check_real("delta", delta, low=0, high=0.5, open_high=True)
        self.numbers = check_choice("numbers", numbers, ("normal", "uniform", "resample"))
        super().__init__(rows=rows, structural_zeros=structural_zeros)

    def fit(self, columns: Sequence[MixedColumn], rng: Generator) -> Draw:
        """Fit forests until one cannot tell new rows from records."""
        features = _features(columns)
        forest = self._adversarial(features, rng)
        pruned = PrunedForest.of(forest.estimators_, features, int(self.leaf_size))
        members = LeafMembers.of(pruned.leaves(features))
        numbers = self._numbers(columns, features, pruned, members)

        def draw(rows: int, rng: Generator) -> list[Drawn]:
            leaf = members.drawn(rows, rng)
            donors = members.donors(leaf, len(columns), rng)
            drawn = [column.values[donor] for column, donor in zip(columns, donors.T, strict=True)]
            for number, law in numbers.items():
                drawn[number] = np.where(np.isnan(drawn[number]), np.nan, law.drawn(leaf, rng))
            return drawn

        return draw

    def _adversarial(self, features: Features, rng: Generator) -> Any:
        """Fit forests until one does not tell new rows from records, and return it."""
        from sklearn.ensemble import RandomForestClassifier

        n, columns = features.shape
        new = np.column_stack([column[rng.integers(n, size=n)] for column in features.T])
        real = np.arange(2 * n) < n
        before = 1.0
        for _ in range(MOST_ROUNDS):
            rows = np.concatenate([features, new])
            forest = RandomForestClassifier(
                int(self.trees), min_samples_leaf=int(self.leaf_size), random_state=int(rng.integers(2**31))
            ).fit(rows, real)
            accuracy = _accuracy(forest, rows, real)
            if accuracy <= 0.5 + self.delta or accuracy >= before:
                break
            before = accuracy
            offsets = np.cumsum([0, *(tree.tree_.node_count for tree in forest.estimators_[:-1])])
            members = LeafMembers.of(forest.apply(features) + offsets)
            donors = members.donors(members.drawn(n, rng), columns, rng)
            new = np.take_along_axis(features, donors, axis=0)
        return forest

    def _numbers(
        self, columns: Sequence[MixedColumn], features: Features, forest: PrunedForest, members: LeafMembers
    ) -> dict[int, LeafNumbers]:
        """Distribution of each column of numbers in the leaves; none if values of records are drawn."""
        if self.numbers == "resample":
            return {}
        low, high = forest.bounds(features.shape[1])
        normal = self.numbers == "normal"
        return {
            number: LeafNumbers.of(column, low[:, number], high[:, number], members, normal=normal)
            for number, column in enumerate(columns)
            if column.numeric
        }


def _features(columns: Sequence[MixedColumn]) -> Features:
    """Columns as a forest splits them, shape (n, columns)."""
    indicators = [_indicators(column) for column in columns]
    result = np.empty((columns[0].values.size, len(columns)), dtype=np.float32)
    for number, column in enumerate(columns):
        others = [part for other, part in enumerate(indicators) if other != number]
        result[:, number] = split_ranks(column, np.column_stack(others or [np.zeros(column.values.size)]))
    return result


def _indicators(column: MixedColumn) -> Floats:
    """Standardized ranks, or indicators of the most frequent categories, shape (n, values)."""
    if column.numeric:
        centered = column.ranks - column.ranks.mean()
        return np.asarray(centered / (centered.std() or 1.0))[:, None]
    counts = np.bincount(column.ranks)
    frequent = np.argsort(-counts, kind="stable")[: min(MOST_INDICATORS, np.count_nonzero(counts))]
    return np.asarray(column.ranks[:, None] == frequent, dtype=float)


def _accuracy(forest: Any, rows: Features, real: Booleans) -> float:
    """Share of rows that the trees that have not seen them classify correctly by majority; ties count half."""
    votes = np.zeros(len(rows))
    for tree, seen in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        unseen = np.ones(len(rows), dtype=bool)
        unseen[seen] = False
        votes[unseen] += np.where(tree.predict(rows[unseen]) > 0.5, 1, -1) if unseen.any() else 0
    right = np.where(real, votes, -votes)
    return float(np.mean((right > 0) + 0.5 * (right == 0)))
