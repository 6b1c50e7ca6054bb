"""The protocol of least variance, with and without limits."""

import math

import numpy as np
import pytest

from defenses.ldp import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    OptimizedLocalHashing,
    SubsetSelection,
    best_protocol,
)
from defenses.ldp.best import CANDIDATES, steps


def test_best_protocol():
    for epsilon, d in ((0.5, 128), (1.0, 16), (4.0, 10), (2.0, 1024)):
        best = best_protocol(epsilon, d, 1000)
        even = np.full(d, 1 / d)
        least = min(make(epsilon=epsilon, d=d).variance(1000, even).mean() for make in CANDIDATES)
        assert best.variance(1000, even).mean() == pytest.approx(least)
        assert (best.epsilon, best.d) == (epsilon, d)
    # Sets of one value are randomized response, with the same report.
    assert isinstance(best_protocol(4.0, 10, 1000), GeneralizedRandomizedResponse)
    assert isinstance(best_protocol(1.0, 128, 1000), SubsetSelection)
    assert isinstance(best_protocol(1.0, 1024, 1000, report_bits=70), OptimizedLocalHashing)
    assert isinstance(best_protocol(1.0, 1024, 1000, report_bits=12), HadamardResponse)
    quick = best_protocol(1.0, 1024, 10**6, server_steps=2 * 10**6)
    assert steps(quick, 10**6) <= 2 * 10**6
    with pytest.raises(ValueError, match="report_bits"):
        best_protocol(1.0, 1024, 1000, report_bits=1)
    for bad in ({"n": 0}, {"n": math.nan}, {"d": 1}, {"epsilon": 0}, {"report_bits": 0}, {"server_steps": -1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            best_protocol(**{"epsilon": 1.0, "d": 4, "n": 10, **bad})
