"""Reconstruction of the histogram from a published matrix that is optimal for it."""

import numpy as np
import pytest

from attacks.pram.matrix_histogram import histogram_from_matrix


def test_counts_are_proportional_to_reciprocal_flip_probabilities():
    flips = np.array([0.1, 0.15, 0.2, 0.4, 0.7, 0.8])
    shares = histogram_from_matrix(np.diag(1 - flips))
    # The two smallest and the two largest may be at a bound; the others are as 1/0.2 to 1/0.4.
    assert np.isnan(shares[[0, 1, 4, 5]]).all()
    assert shares[[2, 3]] == pytest.approx([2 / 3, 1 / 3])


def test_four_categories_may_all_be_at_a_bound():
    assert np.isnan(histogram_from_matrix(np.eye(4) / 2)).all()


@pytest.mark.parametrize("matrix", [[[1.0, 0.0]], [1.0, 0.0]])
def test_a_matrix_that_is_not_square_is_refused(matrix):
    with pytest.raises(ValueError, match="matrix must be square"):
        histogram_from_matrix(matrix)
