"""Draws from a transition matrix with a guide."""

import numpy as np
import pytest

from defenses.pram.randomized import Transitions


@pytest.mark.parametrize("d", [1, 2, 3, 10, 49, 257])
@pytest.mark.parametrize("concentration", [0.02, 1.0])
def test_guided_draws_are_those_of_the_search(d, concentration):
    rng = np.random.default_rng(d)
    matrix = rng.dirichlet(np.full(d, concentration), d).T
    codes = rng.integers(0, d, 20_000)
    levels = np.cumsum(matrix, axis=0)
    uniform = np.random.default_rng(1).random(codes.size)
    searched = (levels / levels[-1])[:, codes] <= uniform
    drawn = Transitions.of(matrix).draw(codes, np.random.default_rng(1))
    assert np.array_equal(drawn, searched.sum(axis=0))


def test_an_impossible_release_is_never_drawn():
    matrix = np.array([[0.0, 1 / 3, 0.0], [1.0, 1 / 3, 0.5], [0.0, 1 / 3, 0.5]])

    class Ends:
        def random(self, size):
            return np.tile([0.0, 1 / 3, 0.5, np.nextafter(1, 0)], size // 4)

    codes = np.repeat([0, 1, 2], 4)
    assert Transitions.of(matrix).draw(codes, Ends()).tolist() == [1, 1, 1, 1, 0, 1, 1, 2, 1, 1, 2, 2]


def test_a_matrix_that_is_none_is_refused():
    with pytest.raises(ValueError, match="column 0 sums to"):
        Transitions.of([[0.5, 0.5], [0.4, 0.5]])
