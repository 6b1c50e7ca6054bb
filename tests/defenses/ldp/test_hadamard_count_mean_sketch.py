"""The Hadamard count-mean sketch: closed forms, and its transform on all reports of one value."""

import math

import numpy as np
import pytest

from defenses.ldp import HadamardCountMeanSketch, ReportBatch
from defenses.ldp.encoding import hadamard


def test_closed_forms_at_an_epsilon_of_ln_three():
    protocol = HadamardCountMeanSketch(epsilon=math.log(3), d=4, m=8, k=5)
    assert (protocol.c, protocol.p) == pytest.approx((2, 3 / 4))
    # Another value's sign agrees always in the same column, and in half of the coordinates of any other.
    assert protocol.q == pytest.approx(3 / 4 / 8 + 7 / 8 / 2)
    # One person: c^2 less the 1 of its own value, or less 1/m and with the collision's variance for the others.
    variance = protocol.variance(1, [1, 0, 0, 0])
    assert variance == pytest.approx((8 / 7) ** 2 * np.array([3, *[4 - 1 / 8 + 7 / 64] * 3]))


def test_lengths_of_reports():
    # Apple's m = 1,024 and k = 65,536: a sign, 10 bits and 16 bits.
    assert HadamardCountMeanSketch(m=1024, k=65_536).report_bits == 27
    assert HadamardCountMeanSketch(m=2, k=1).report_bits == 2


@pytest.fixture
def complete():
    """A protocol almost without noise, and one report of value 3 for each function and coordinate."""
    protocol = HadamardCountMeanSketch(epsilon=100.0, d=6, m=16, k=4)
    functions, coordinates = (part.ravel() for part in np.indices((4, 16)))
    columns = protocol.positions([3])[functions, 0]
    parts = {
        "hash": functions.astype(np.uint8),
        "coordinate": coordinates.astype(np.uint8),
        "negative": hadamard.minus(coordinates, columns),
    }
    return protocol, ReportBatch(protocol, parts)


def test_all_coordinates_of_one_value_transform_back_to_its_column(complete):
    protocol, reports = complete
    sketch = protocol.sketch(reports)
    expected = np.zeros((4, 16))
    expected[np.arange(4), protocol.positions([3])[:, 0]] = 4 * 16
    assert sketch == pytest.approx(expected)


def test_other_values_are_counted_by_their_collisions(complete):
    protocol, reports = complete
    positions = protocol.positions(np.arange(6))
    collisions = (positions == positions[:, [3]]).mean(axis=0)
    assert collisions[3] == 1
    assert protocol.estimate(reports) == pytest.approx(16 / 15 * 64 * (collisions - 1 / 16))
    assert protocol.supports(reports)[:, 3].all()


@pytest.mark.parametrize(("epsilon", "kept"), [(math.log(3), 3 / 4), (1e-6, 1 / 2), (100.0, 1)])
def test_signs_are_kept_as_often_as_stated(epsilon, kept):
    # 20,000 signs, 5 standard errors: a false alarm in 2 of 10^6 runs.
    protocol = HadamardCountMeanSketch(epsilon=epsilon, d=6, m=16, k=4)
    reports = protocol.privatize(np.full(20_000, 2), np.random.default_rng(5))
    assert protocol.supports(reports)[:, 2].mean() == pytest.approx(kept, abs=5 * math.sqrt(0.25 / 20_000))


@pytest.mark.parametrize("m", [3, 6, 1000, 2**31 + 1])
def test_columns_must_be_a_power_of_two(m):
    with pytest.raises(ValueError, match=r"m must be a power of two|at most 2\^31"):
        HadamardCountMeanSketch(m=m)
