"""Reconstruction of hidden columns by forests and belief propagation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.attributes.belief_propagation import pairwise_beliefs
from attacks.attributes.hidden_columns import HiddenColumn, hidden_columns
from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import ValueClaims
from attacks.base.features import encode_features
from attacks.base.sides import shared_columns, shared_distance
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats

PSEUDO_TREES = 1.0
"""Weight of the released distribution in a forest's posterior, in trees."""
COVERED = 0.5
"""Weight of the covering rows in the posterior of a target that some released row covers."""
COVERS = 1e-9
"""Gower distance up to which a row covers a target."""


class FactorGraphReconstruction(Attack):
    """Reconstruction of all hidden columns at once: forest posteriors, joined by belief propagation.

    For every hidden column, forests trained on the released rows give the posterior of each target. Their trees are
    fully grown on all rows, so that they memorize. Pairwise factors from the released table tie the hidden columns of a
    target to each other. Belief propagation gives the marginals.

    The attack assumes nothing but the known columns of the targets. It claims the value whose posterior times rarity is
    largest, since the game weights a right value by its rarity.

    Parameters
    ----------
    trees : int
        Number of trees of each hidden column, at least 2. Half of them are extremely randomized trees, the others those
        of a random forest without bootstrap.
    iterations : int
        Largest number of rounds of belief propagation; with 0, every forest answers for itself.
    weigh_rarity : bool
        Whether to weight posteriors by rarity. Otherwise the attack claims the likeliest value.

    Notes
    -----
    Let p_j be the posterior of hidden column j. P_j and P_jk are the shares of values and of pairs of values in the
    release. The joint posterior of the m hidden columns is taken as proportional to

        prod_j p_j(x_j) prod_(j<k) [P_jk(x_j, x_k) / (P_j(x_j) P_k(x_k))]^(2/m).

    A tree of columns has the factors of its m - 1 edges with exponent 1. A random spanning tree of the complete graph
    holds each edge with probability 2/m, so the exponent 2/m gives the geometric mean over these trees. P_jk is shrunk
    to independence by as many rows as the geometric mean of the two numbers of values. The rarity of the value v is
    log2(1 / P_j(v)).

    Trees read a generalized cell as its midpoint, and so do not see which rows cover a target. Where rows cover it, the
    posterior is the mean of forest and covering rows.

    References
    ----------
    National Institute of Standards and Technology (2025), Collaborative Research Cycle, red team exercise, and the
    report of its winners, SoK: Reconstruction attacks on synthetic tabular data (2026), for forests joined by belief
    propagation; Wainwright, Jaakkola and Willsky (2005), A new class of upper bounds on the log partition function, for
    edges weighted by spanning trees; Geurts, Ernst and Wehenkel (2006), Extremely randomized trees.
    """

    goal: ClassVar[str] = "record_reconstruction"

    def __init__(self, *, trees: int = 50, iterations: int = 20, weigh_rarity: bool = True) -> None:
        self.trees = trees
        self.iterations = iterations
        self.weigh_rarity = weigh_rarity
        check_integer("trees", trees, low=2)
        check_integer("iterations", iterations, low=0)
        if not isinstance(weigh_rarity, bool):
            raise ValueError(f"weigh_rarity must be true or false, got {weigh_rarity!r}")

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim one record of hidden values for each target.

        The confidence is the mean posterior of the claimed values.
        """
        hidden = hidden_columns(release, knowledge)
        unary = forest_posteriors(release, knowledge, hidden, self.trees, rng)
        factors = association_factors(hidden) if self.iterations else {}
        posteriors = pairwise_beliefs(unary, factors, iterations=self.iterations)
        answers, confidence = {}, np.zeros(len(knowledge.candidates))
        for column, posterior in zip(hidden, posteriors, strict=True):
            # A column of one value has no rarity.
            weigh = self.weigh_rarity and column.support.size > 1
            position = np.argmax(posterior * -np.log2(column.frequency) if weigh else posterior, axis=1)
            answers[column.name] = column.named(position)
            confidence += posterior[np.arange(position.size), position] / len(hidden)
        return ValueClaims(pd.DataFrame(answers), np.minimum(confidence, 1.0))


def forest_posteriors(
    release: MicrodataRelease, knowledge: Knowledge, hidden: Sequence[HiddenColumn], trees: int, rng: Generator
) -> list[Floats]:
    """Positive posteriors of each hidden column from the known columns of the targets, shapes (targets, d).

    Notes
    -----
    A regression tree on the shares of a cell in each value splits by Gini impurity, as a classification tree does. Its
    predictions are distributions. It needs one row per generalized cell instead of one per value.
    """
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

    rows, targets = encode_features(shared_columns(release, knowledge))
    covering = shared_distance(release, knowledge).T <= COVERS
    counts = ((ExtraTreesRegressor, trees - trees // 2), (RandomForestRegressor, trees // 2))
    posteriors = []
    for column in hidden:
        if column.support.size == 1:
            posteriors.append(np.ones((len(targets), 1)))
            continue
        mass, with_value = column.mass, column.mass.any(axis=1)
        total = PSEUDO_TREES * np.tile(column.frequency, (len(targets), 1))
        for forest, count in counts:
            seed = int(rng.integers(1 << 31))
            model = forest(count, bootstrap=False, max_features="sqrt", random_state=seed)
            total += count * model.fit(rows[with_value], mass[with_value]).predict(targets)
        posterior = total / total.sum(axis=1, keepdims=True)
        covered = covering @ mass
        size = covered.sum(axis=1, keepdims=True)
        weight = COVERED * (size > 0)
        posteriors.append((1 - weight) * posterior + weight * covered / np.maximum(size, 1e-300))
    return posteriors


def association_factors(hidden: Sequence[HiddenColumn]) -> dict[tuple[int, int], Floats]:
    """Pairwise factors of the hidden columns from the released table; see `FactorGraphReconstruction`."""
    factors = {}
    for j, k in combinations(range(len(hidden)), 2):
        counts = hidden[j].mass.T @ hidden[k].mass
        independent = np.outer(hidden[j].frequency, hidden[k].frequency)
        prior = np.sqrt(independent.size)
        ratio = (counts / independent + prior) / (counts.sum() + prior)
        factors[j, k] = ratio ** (2 / len(hidden))
    return factors
