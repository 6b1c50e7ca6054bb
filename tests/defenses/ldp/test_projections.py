"""Projections of estimated counts: nonnegative, with the right sum."""

import math

import numpy as np
import pytest

from defenses import project_to_simplex
from defenses.ldp import (
    norm_sub,
)


def test_projections():
    counts = np.array([5.0, -1.0, 3.0, 0.5])
    exact = project_to_simplex(counts, 6)
    # Shift 1 leaves 4, 2 and nothing of .5.
    assert exact == pytest.approx([4, 0, 2, 0])
    assert norm_sub(counts, 6) == pytest.approx(exact)
    rng = np.random.default_rng(0)
    for d in (1, 2, 7, 100):
        noisy = rng.normal(3, 5, d)
        projected = project_to_simplex(noisy, 3.0 * d)
        assert projected.min() >= 0
        assert projected.sum() == pytest.approx(3.0 * d)
        others = 3.0 * d * rng.dirichlet(np.ones(d), 200)
        assert (np.linalg.norm(others - noisy, axis=1) >= np.linalg.norm(projected - noisy) - 1e-9).all()
        shifted = norm_sub(noisy, 3.0 * d)
        assert shifted.min() >= 0
        assert shifted.sum() == pytest.approx(3.0 * d)
        if noisy[noisy > 0].sum() >= 3.0 * d:
            assert shifted == pytest.approx(projected)
    # Raising: only what is positive already.
    assert norm_sub([-1.0, 0.5], 10) == pytest.approx([0, 10])
    assert project_to_simplex([-1.0, 0.5], 10) == pytest.approx([4.25, 5.75])
    assert norm_sub([-2.0, -1.0], 1) == pytest.approx([0, 1])
    assert norm_sub([2.0, 1.0], 0) == pytest.approx([0, 0])
    for function in (norm_sub, project_to_simplex):
        for bad in ([], [math.nan], [math.inf, 1], [[1.0]]):
            with pytest.raises(ValueError, match="counts"):
                function(bad, 1)
        for total in (-1, math.nan, "1"):
            with pytest.raises(ValueError, match="total"):
                function([1.0], total)
