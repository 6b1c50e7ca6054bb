"""Local hashing: reports made under an equal epsilon are accepted."""

import numpy as np

from defenses.ldp import (
    OptimizedLocalHashing,
)


def test_the_same_epsilon_written_otherwise_is_the_same_protocol():
    reports = OptimizedLocalHashing(epsilon=1, d=4).privatize([0], np.random.default_rng(0))
    assert OptimizedLocalHashing(epsilon=1.0, d=4).estimate(reports).shape == (4,)
