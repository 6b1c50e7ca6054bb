"""Sampling of releases under PRAM."""

import numpy as np
import pytest

from defenses.pram import (
    draw,
    replace,
    transition_matrix,
)


def test_sampling_follows_the_matrix():
    # Pearson's statistic against its 1 - 1e-6 quantile for 3 x 3 degrees of freedom, fixed seed.
    rng = np.random.default_rng(5)
    retention = np.array([0.9, 0.2, 0.5, 0.0])
    matrix = transition_matrix(retention)
    codes = np.repeat(np.arange(4), 20_000)
    for released in (replace(codes, retention, rng), draw(codes, matrix, rng)):
        seen = np.zeros((4, 4))
        np.add.at(seen, (released, codes), 1)
        expected = 20_000 * matrix
        assert (seen[expected == 0] == 0).all()
        positive = expected > 0
        assert ((seen - expected)[positive] ** 2 / expected[positive]).sum() < 50


def test_sampling_leaves_its_input_alone_and_handles_the_ends():
    rng = np.random.default_rng(6)
    codes = np.array([0, 2, 1])
    assert replace(codes, [0.0, 0, 0], rng).tolist() != codes.tolist()
    assert codes.tolist() == [0, 2, 1]
    assert replace(codes, [1.0, 1, 1], rng).tolist() == [0, 2, 1]
    assert draw(codes, np.eye(3), rng).tolist() == [0, 2, 1]
    assert replace([0, 0], [1.0], rng).tolist() == [0, 0]
    assert replace([], [0.5, 0.5], rng).size == draw([], np.eye(2), rng).size == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: replace([0, 3], [0.5, 0.5], rng), "row 1 has an unknown category"),
        (lambda rng: replace([-1], [0.5, 0.5], rng), "row 0"),
        (lambda rng: replace([0.5], [0.5, 0.5], rng), "vector of integers,"),
        (lambda rng: draw([2], np.eye(2), rng), "row 0"),
    ],
)
def test_bad_codes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))
