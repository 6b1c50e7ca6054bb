"""Noisy marginals of records, and estimation of a graphical model from them (Private-PGM)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.random import Generator

from defenses.base.queries.column_queries import counted
from defenses.dp.exact import discrete_gaussian
from defenses.synthetic.graphical.clique_tree import CliqueTree, Columns
from metrics.columns import Booleans, Floats, Integers

# Belief propagation on a junction tree, in log space.

Factors = Mapping[Columns, Floats]
"""Arrays by their columns, which ascend; one axis for each column."""


class BeliefPropagation:
    """Marginals of the distribution that is proportional to e^(sum of potentials), exact up to rounding.

    - sets: Columns of the potentials, which are also those of the marginals; each set ascends and is part of a clique.

    Notes
    -----
    Messages go to the root and back once. A clique's potentials and its children's messages are added, exponentiated
    and divided by their sum over the new columns. The result is the distribution of the new columns given the
    separator. Logarithms are shifted by their maximum for each entry of the separator. So no distribution vanishes,
    however far apart potentials are. On the way back it is multiplied by the separator's marginal distribution.

    References
    ----------
    Lauritzen and Spiegelhalter (1988), Local computations with probabilities on graphical structures.
    """

    def __init__(self, tree: CliqueTree, sets: Iterable[Columns]) -> None:
        self.tree = tree
        ordered = sorted(set(sets), key=lambda columns: (math.prod(tree.shape(columns)), len(columns), columns))
        cells = [math.prod(tree.shape(clique)) for clique in tree.cliques]
        self._sources: dict[Columns, tuple[Placement, Columns | None, int]] = {}
        for number, columns in enumerate(ordered):
            held = set(columns)
            # Sums and products go through the smallest larger set where there is one.
            larger = next((other for other in ordered[number + 1 :] if held < set(other)), None)
            home = -1
            if larger is None:
                home = min(
                    (place for place, clique in enumerate(tree.cliques) if held <= set(clique)), key=cells.__getitem__
                )
            axes = tree.cliques[home] if larger is None else larger
            self._sources[columns] = Placement(columns, axes, tree.sizes), larger, home
        self._messages = [
            Placement(separator, tree.cliques[parent], tree.sizes) if parent >= 0 else None
            for separator, parent in zip(tree.separators, tree.parents, strict=True)
        ]

    def beliefs(self, potentials: Factors) -> list[Floats]:
        """Return the distribution of each clique, one axis for each of its columns, in the tree's order.

        - potentials: Logarithms of factors; sets without an entry have the factor 1.
        """
        tree = self.tree
        conditionals = self._logarithms(potentials)
        for number in reversed(range(len(tree.cliques))):
            log = conditionals[number]
            table = log.reshape(math.prod(tree.shape(tree.separators[number])), -1)
            highest = table.max(axis=1)
            table -= highest[:, None]
            np.exp(table, out=table)
            totals = table.sum(axis=1)
            table /= totals[:, None]
            placement = self._messages[number]
            if placement is not None:
                message = (np.log(totals) + highest).reshape(tree.shape(tree.separators[number]))
                conditionals[tree.parents[number]] += placement.spread(message)
        for number, placement in enumerate(self._messages):
            if placement is not None:
                marginal = placement.summed(conditionals[tree.parents[number]])
                table = conditionals[number].reshape(marginal.size, -1)
                table *= marginal.reshape(-1, 1)
        return conditionals

    def marginals(self, beliefs: list[Floats]) -> dict[Columns, Floats]:
        """Return the distribution of each set, from the distributions of the cliques."""
        result: dict[Columns, Floats] = {}
        for columns in reversed(self._sources):
            placement, larger, home = self._sources[columns]
            result[columns] = placement.summed(beliefs[home] if larger is None else result[larger])
        return result

    def _logarithms(self, potentials: Factors) -> list[Floats]:
        """Sum of the potentials of each clique; new arrays."""
        logs = [np.zeros(self.tree.shape(clique)) for clique in self.tree.cliques]
        sums: dict[Columns, Floats] = {}
        for columns, (placement, larger, home) in self._sources.items():
            total = potentials.get(columns)
            if columns in sums:
                total = sums[columns] if total is None else sums[columns] + total
            if total is None:
                continue
            if larger is None:
                logs[home] += placement.spread(total)
            elif larger in sums:
                sums[larger] += placement.spread(total)
            else:
                sums[larger] = np.zeros(self.tree.shape(larger)) + placement.spread(total)
        return logs


class Placement:
    """A set of columns among the axes of a larger array.

    Parameters
    ----------
    columns : tuple of int
        Columns of the smaller array, in the order of its axes.
    axes : tuple of int
        Columns of the larger array, in the order of its axes.
    sizes : tuple of int
        Number of values of each column.
    """

    def __init__(self, columns: Columns, axes: Columns, sizes: Columns) -> None:
        inner = [column for column in axes if column in columns]
        self._order = tuple(columns.index(column) for column in inner)
        self._back = tuple(inner.index(column) for column in columns)
        self._shape = tuple(sizes[column] if column in columns else 1 for column in axes)
        self._others = tuple(position for position, column in enumerate(axes) if column not in columns)

    def spread(self, array: Floats) -> Floats:
        """View of the smaller array that broadcasts over the larger one."""
        return array.transpose(self._order).reshape(self._shape)

    def summed(self, array: Floats) -> Floats:
        """Sum of the larger array over the other columns."""
        return np.asarray(array.sum(axis=self._others)).transpose(self._back)


# Step sizes are multiplied by these after an accepted and after a refused step.
GROWTH, SHRINKAGE = 1.5, 0.5
# Steps that lower the loss by a smaller share end the descent.
TOLERANCE = 1e-7
# Logarithm of a factor that makes a cell impossible; finite, so that conditional distributions exist everywhere.
LOG_ZERO = -1000.0


@dataclass(frozen=True)
class NoisyMarginal:
    """A noisy marginal.

    Parameters
    ----------
    columns : tuple of int
        The columns, ascending.
    counts : ndarray of float
        Noisy counts, one axis for each column.
    variance : float or ndarray of float
        Variance of the noise on each count; an array broadcasts to the shape of the counts.
    present : float
        Estimated share of the records that have a value in each of the columns; counts are divided by it already.
    """

    columns: Columns
    counts: Floats
    variance: float | Floats
    present: float = 1.0


@dataclass(frozen=True)
class GraphicalModel:
    """A distribution on all columns that factors over a junction tree.

    - beliefs: Distribution of each clique, in the order of the tree; each sums to 1.
    - marginals: Distribution of each measured set of columns.
    - potentials: Logarithms of the factors, with which a later estimation may start.
    """

    tree: CliqueTree
    beliefs: list[Floats] = field(repr=False)
    marginals: dict[Columns, Floats] = field(repr=False)
    potentials: dict[Columns, Floats] = field(repr=False)
    step: float


def estimated(
    sizes: tuple[int, ...],
    measurements: Iterable[NoisyMarginal],
    n: int,
    *,
    iterations: int,
    start: GraphicalModel | None = None,
    impossible: Mapping[Columns, Booleans] | None = None,
) -> GraphicalModel:
    """Find the graphical model whose marginals are nearest to noisy ones, by mirror descent with line search.

    The loss is half the sum of squared differences between expected and noisy counts, divided by the noise's variance.
    It is convex in the marginals. Mirror descent with negative entropy adds multiples of the gradient to the
    potentials, so that every step stays among the marginals of distributions on all columns.

    Parameters
    ----------
    sizes : tuple of int
        Number of values of each column.
    measurements : iterable of NoisyMarginal
        Noisy marginals; several of the same columns are averaged by their variances.
    n : int
        Number of records, at least 1; it is public.
    iterations : int
        Largest number of steps, accepted or refused; fewer if the loss settles.
    start : GraphicalModel, optional
        A model with whose potentials to start. The default is the uniform distribution.
    impossible : mapping of tuple of int to ndarray of bool, optional
        Cells of sets of columns that get probabilities of nearly 0: True where a row cannot hold the values.

    References
    ----------
    McKenna, Sheldon and Miklau (2019), Graphical-model based estimation and inference for differential privacy,
    algorithms 1 and 2.
    Beck and Teboulle (2003), Mirror descent and nonlinear projected subgradient methods.
    """
    targets = averaged(measurements)
    fixed = {columns: np.where(cells, LOG_ZERO, 0.0) for columns, cells in (impossible or {}).items()}
    tree = CliqueTree.of(sizes, [*targets, *fixed])
    inference = BeliefPropagation(tree, [*targets, *fixed])
    potentials = {
        columns: np.zeros(target.counts.shape)
        if start is None or columns not in start.potentials
        else start.potentials[columns]
        for columns, target in targets.items()
    }
    weights = {columns: n / target.variance for columns, target in targets.items()}
    wanted = {columns: target.counts / n for columns, target in targets.items()}

    def evaluated(logs: Factors) -> tuple[list[Floats], dict[Columns, Floats], float]:
        beliefs = inference.beliefs({**logs, **{part: logs.get(part, 0.0) + log for part, log in fixed.items()}})
        marginals = inference.marginals(beliefs)
        # In units of n, so that a step of 1 / weight moves potentials by differences of shares.
        gaps = {columns: marginals[columns] - wanted[columns] for columns in targets}
        loss = sum(0.5 * float(np.vdot(weights[columns] * gap, gap)) for columns, gap in gaps.items())
        return beliefs, marginals, loss

    beliefs, marginals, loss = evaluated(potentials)
    step = 1.0 / sum(float(np.max(weight)) for weight in weights.values()) if start is None else start.step
    for _ in range(iterations):
        gradient = {columns: weights[columns] * (marginals[columns] - wanted[columns]) for columns in targets}
        moved = {columns: potentials[columns] - step * gradient[columns] for columns in targets}
        candidate = evaluated(moved)
        descent = sum(float(np.vdot(gradient[c], marginals[c] - candidate[1][c])) for c in targets)
        if loss - candidate[2] >= 0.5 * descent and descent > 0:
            settled = loss - candidate[2] <= TOLERANCE * loss
            potentials = moved
            beliefs, marginals, loss = candidate
            step *= GROWTH
            if settled:
                break
        elif descent <= TOLERANCE * loss:
            break
        else:
            step *= SHRINKAGE
    return GraphicalModel(tree, beliefs, marginals, potentials, step)


def averaged(measurements: Iterable[NoisyMarginal]) -> Mapping[Columns, NoisyMarginal]:
    """Average the measurements of the same columns by their variances."""
    result: dict[Columns, NoisyMarginal] = {}
    for measurement in measurements:
        other = result.get(measurement.columns)
        if other is None:
            result[measurement.columns] = measurement
            continue
        variance = 1 / (1 / measurement.variance + 1 / other.variance)
        counts = variance * (measurement.counts / measurement.variance + other.counts / other.variance)
        result[measurement.columns] = NoisyMarginal(measurement.columns, counts, variance, other.present)
    return result


# The records as exact and as noisy counts of sets of columns.


@dataclass(frozen=True)
class CountedColumns:
    """Records as positions of values in public domains.

    - codes, each of shape (n,): Position of each record's value in each column; -1 where it is missing or not in the
      domain.
    - sizes: Number of values of each column.
    """

    codes: list[Integers] = field(repr=False)
    sizes: Columns

    @property
    def n(self) -> int:
        """Number of records, which is public."""
        return int(self.codes[0].size)

    def cells(self, columns: Columns) -> int:
        """Number of combinations of values of the columns."""
        return math.prod(self.sizes[column] for column in columns)

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """Number of values of each of the columns."""
        return tuple(self.sizes[column] for column in columns)

    def counts(self, columns: Columns) -> Floats:
        """Exact counts, one axis for each column; n for no column. They are private."""
        if not columns:
            return np.array(float(self.n))
        return counted([self.codes[column] for column in columns], self.shape(columns))


# Deficits of a noisy total within so many standard deviations of its noise count as noise.
DEVIATIONS = 3.0


@dataclass(frozen=True)
class MeasuredTable(CountedColumns):
    """Counted columns that are read through noise only.

    - codes, each of shape (n,): Position of each record's value in each column; -1 where it is missing or not in the
      domain.
    - sizes: Number of values of each column.
    - impossible: Publicly known combinations of values that no row holds: True in the cells of these columns.
    """

    impossible: Mapping[Columns, Booleans] = field(default_factory=dict)

    def measured(self, columns: Columns, variance: Fraction, rng: Generator) -> NoisyMarginal:
        """Counts with discrete Gaussian noise of this variance.

        Replacing a record changes one count by 1 and another by -1, so that a measurement costs
        rho = 1 / variance of zero-concentrated differential privacy (L2 sensitivity sqrt 2).

        Where values are missing, counts sum to fewer than n. Counts are scaled to the sum n if the noisy sum lies more
        than three standard deviations of its noise below n. Values are taken to be missing at random.
        """
        noise = discrete_gaussian(variance, self.cells(columns), rng).reshape(self.shape(columns))
        counts = self.counts(columns) + noise
        return to_total(NoisyMarginal(columns, counts, float(variance)), self.n)


def to_total(measurement: NoisyMarginal, n: int) -> NoisyMarginal:
    """Scale a measurement to the total `n` if its sum is far below what noise explains."""
    total = float(measurement.counts.sum())
    noise = math.sqrt(np.broadcast_to(measurement.variance, measurement.counts.shape).sum())
    if n - total <= DEVIATIONS * noise or total <= 0.1 * n:
        return measurement
    factor = n / total
    return NoisyMarginal(measurement.columns, measurement.counts * factor, measurement.variance * factor**2, 1 / factor)


# Rows drawn from a graphical model by column-wise rounding.

GOLDEN = (math.sqrt(5) - 1) / 2


def sampled_rows(model: GraphicalModel, n: int, rng: Generator) -> list[Integers]:
    """Draw the value of each column for each row; one array of shape (n,) for each column.

    Columns are drawn one after the other along the junction tree. Rows that agree in the columns of the clique drawn so
    far form a group. Each value is given to the expected number of the group's rows, rounded down or up at random. So
    the drawn rows deviate from the model's marginals by rounding, and not by independent sampling.

    - rng: Draws the rounding, and which rows of a group get which value.

    References
    ----------
    McKenna, Miklau and Sheldon (2021), Winning the NIST contest, section 4.3 (generation of rows).
    """
    tree = model.tree
    drawn: list[Integers] = [np.zeros(n, dtype=np.intp) for _ in tree.sizes]
    for clique, separator, belief in zip(tree.cliques, tree.separators, model.beliefs, strict=True):
        for position in range(len(separator), len(clique)):
            column = clique[position]
            table = belief.sum(axis=tuple(range(position + 1, belief.ndim))).reshape(-1, tree.sizes[column])
            given = combined([drawn[other] for other in clique[:position]], tree.shape(clique[:position]), n)
            drawn[column] = rounded(table, given, rng)
    return drawn


def rounded(weights: Floats, given: Integers, rng: Generator) -> Integers:
    """Draw a value for each row given its group, by systematic sampling from the group's weights; shape (rows,).

    Parameters
    ----------
    weights : ndarray of float, shape (groups, values)
        Weights of the values in each group. A group whose weights are all 0 gets equal ones.
    given : ndarray of int, shape (rows,)
        Group of each row.
    rng : Generator
        Draws the rounding and the rows that get each value.

    Notes
    -----
    In a group of m rows, let C_v be m times the cumulative share of the values up to v, and u uniform on [0, 1).
    The value v gets floor(C_v + u) - floor(C_{v-1} + u) rows: the expected number, rounded down or up without bias.
    The u of successive groups are multiples of the golden ratio modulo 1, after a random start. They are
    equidistributed, so that the rounding errors of many groups nearly cancel.

    References
    ----------
    Madow (1949), On the theory of systematic sampling, II.
    """
    groups, rows = np.unique(given, return_counts=True)
    shares = np.maximum(weights[groups], 0.0)
    totals = shares.sum(axis=1, keepdims=True)
    shares = np.divide(shares, totals, out=np.full_like(shares, 1 / shares.shape[1]), where=totals > 0)
    cumulative = np.cumsum(shares, axis=1) * rows[:, None]
    # The last value takes all that is left, whatever rounding does.
    cumulative[:, -1] = rows
    start = np.mod(rng.random() + GOLDEN * np.arange(groups.size), 1.0)
    ends = np.minimum(np.floor(cumulative + start[:, None]).astype(np.intp), rows[:, None])
    counts = np.diff(ends, axis=1, prepend=0)
    values = np.repeat(np.tile(np.arange(shares.shape[1]), groups.size), counts.ravel())
    result = np.empty(given.size, dtype=np.intp)
    result[np.lexsort((rng.random(given.size), given))] = values
    return result


def combined(columns: Sequence[Integers], sizes: Sequence[int], n: int) -> Integers:
    """Number of each row's combination of values, shape (n,)."""
    return np.ravel_multi_index(tuple(columns), tuple(sizes)) if columns else np.zeros(n, dtype=np.intp)
