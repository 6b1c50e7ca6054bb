"""Projection to the simplex."""

import numpy as np
import pytest

from defenses import project_to_simplex


def test_projection_is_the_nearest_point():
    rng = np.random.default_rng(4)
    for _ in range(100):
        counts = rng.normal(0, 5, rng.integers(1, 8))
        projected = project_to_simplex(counts, 10)
        assert projected.sum() == pytest.approx(10)
        assert (projected >= 0).all()
        others = 10 * rng.dirichlet(np.ones(counts.size), 200)
        assert (np.linalg.norm(others - counts, axis=1) >= np.linalg.norm(projected - counts) - 1e-9).all()
    np.testing.assert_allclose(project_to_simplex([3.0, 7], 10), [3, 7])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: project_to_simplex([1, np.nan], 1), "finite"),
        (lambda: project_to_simplex([1, 2], -1), "total"),
    ],
)
def test_bad_points_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
