"""Pruned forests: leaf sizes, bounds, and records drawn from leaves."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from defenses.synthetic.mixed_column import LeafMembers, PrunedForest


def forest(n=300, columns=4, trees=5):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 12, (2 * n, columns)).astype(np.float32)
    real = np.arange(2 * n) < n
    rows[real, 1] = rows[real, 0]
    fitted = RandomForestClassifier(trees, min_samples_leaf=1, random_state=0).fit(rows, real)
    return fitted, rows[real]


@pytest.mark.parametrize("fewest", [1, 2, 7, 60, 300])
def test_every_leaf_holds_enough_records_inside_its_bounds(fewest):
    fitted, rows = forest()
    pruned = PrunedForest.of(fitted.estimators_, rows, fewest)
    leaf = pruned.leaves(rows)
    assert np.unique(leaf, return_counts=True)[1].min() >= fewest
    assert (pruned.left[leaf] == leaf).all()
    low, high = pruned.bounds(rows.shape[1])
    for tree in leaf.T:
        assert (low[tree] < rows).all()
        assert (rows <= high[tree]).all()
    if fewest == 300:
        assert np.unique(leaf).size == 5
        assert np.isinf(low[leaf]).all()


@pytest.mark.parametrize("fewest", [1, 7])
def test_the_leaves_of_a_tree_divide_the_space(fewest):
    fitted, rows = forest()
    pruned = PrunedForest.of(fitted.estimators_, rows, fewest)
    points = np.random.default_rng(1).uniform(-1, 13, (200, rows.shape[1])).astype(np.float32)
    low, high = pruned.bounds(rows.shape[1])
    for records, reached in zip(pruned.leaves(rows).T, pruned.leaves(points).T, strict=True):
        leaf = np.union1d(records, reached)
        inside = ((low[leaf] < points[:, None]) & (points[:, None] <= high[leaf])).all(axis=2)
        assert (inside.sum(axis=1) == 1).all()
        assert (leaf[inside.argmax(axis=1)] == reached).all()


def test_without_small_leaves_the_leaves_are_those_of_the_trees():
    fitted, rows = forest()
    leaf = PrunedForest.of(fitted.estimators_, rows, 1).leaves(rows)
    own = fitted.apply(rows)
    for pruned, original in zip(leaf.T, own.T, strict=True):
        # Leaves without any record are dropped; no two leaves with records are merged.
        assert np.unique(pruned).size == np.unique(original).size
        assert len(set(zip(pruned, original, strict=True))) == np.unique(original).size


def test_records_are_drawn_from_their_leaf_and_leaves_by_their_share():
    leaf = np.array([[0, 5], [0, 6], [2, 6], [2, 6]])
    members = LeafMembers.of(leaf)
    rng = np.random.default_rng(0)
    drawn = members.drawn(8000, rng)
    # Deviation 0.0056 at most; false alarm 1e-4 by four deviations.
    shares = np.bincount(drawn, minlength=7) / 8000
    assert shares == pytest.approx([2 / 8, 0, 2 / 8, 0, 0, 1 / 8, 3 / 8], abs=0.023)
    donors = members.donors(drawn, 3, rng)
    tree = (drawn >= 5).astype(int)[:, None]
    assert (leaf[donors, tree] == drawn[:, None]).all()
    assert {tuple(row) for row in donors[drawn == 0]} == {(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)}
