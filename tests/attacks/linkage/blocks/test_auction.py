"""The auction assigns as well as an exact solver, up to its increment."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from attacks.linkage.blocks.auction import EMPTY, FURTHEST, INCREMENT, auction


@pytest.mark.thorough_beyond(23)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("rows", "candidates"), [(60, 60), (40, 100), (1, 1), (80, 50)])
def test_the_total_is_that_of_an_exact_assignment(rows, candidates, seed):
    rng = np.random.default_rng(seed)
    depth = min(5, candidates)
    candidate = np.array([rng.choice(candidates, depth, replace=False) for _ in range(rows)])
    value = rng.normal(0, 3, (rows, depth))
    alternative = rng.normal(-4, 3, rows)
    assigned = auction(candidate, value, alternative, candidates)
    leave = np.maximum(alternative, value.max(axis=1) - FURTHEST)
    # Each row may leave, as if it had a candidate of its own.
    full = np.full((rows, candidates + rows), -1e6)
    full[np.arange(rows), candidates + np.arange(rows)] = leave
    np.put_along_axis(full, candidate, value, axis=1)
    best = full[linear_sum_assignment(full, maximize=True)].sum()
    matched = assigned >= 0
    total = np.where(matched, value[np.arange(rows), assigned], leave).sum()
    assert best - INCREMENT * rows <= total <= best + 1e-9
    used = candidate[matched, assigned[matched]]
    assert np.unique(used).size == used.size


def test_places_without_a_candidate_are_never_assigned():
    candidate = np.zeros((3, 2), dtype=int)
    value = np.array([[1.0, 10 * EMPTY], [10 * EMPTY] * 2, [2.0, 10 * EMPTY]])
    assert auction(candidate, value, np.array([0.5, 10 * EMPTY, -5.0]), 1).tolist() == [-1, -1, 0]


def test_rows_of_one_candidate_end_their_contest():
    value = np.zeros((50, 1))
    assigned = auction(np.zeros((50, 1), dtype=int), value, np.full(50, 10 * EMPTY), 1)
    assert (assigned >= 0).sum() == 1
