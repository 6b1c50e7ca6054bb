"""Parent sets of a Bayesian network, and the sensitivity of their score."""

from itertools import combinations
from math import prod

import numpy as np
import pytest

from defenses.synthetic.graphical.estimation import CountedColumns
from defenses.synthetic.priv_bayes import SCORE_SENSITIVITY, dependence, maximal_parent_sets


@pytest.mark.parametrize("cells", [0.5, 1, 2, 5.9, 6, 24, 100, 1e6])
@pytest.mark.parametrize("degree", [0, 1, 2, 3, 5])
def test_maximal_parent_sets_are_those_of_a_full_search(cells, degree):
    sizes = {0: 2, 2: 3, 3: 2, 5: 7, 8: 1}
    fitting = [
        set(parents)
        for count in range(degree + 1)
        for parents in combinations(sizes, count)
        if prod(sizes[parent] for parent in parents) <= cells
    ]
    expected = [one for one in fitting if not any(one < other for other in fitting)]
    found = maximal_parent_sets(sizes, cells, degree)
    assert len(found) == len(set(found))
    assert set(found) == ({tuple(sorted(one)) for one in expected} or {()})


def test_the_score_is_the_distance_from_independence():
    codes = [np.array([0, 0, 1, 1, -1]), np.array([0, 1, 0, 1, 0]), np.array([0, 0, 1, 1, 1])]
    table = CountedColumns(codes, (2, 2, 2))
    assert table.counts((2, 0)).tolist() == [[2, 0], [0, 2]]
    assert table.counts(()) == 5
    # Joint counts 2, 0, 0, 2; products 2/5 of (2, 2) and 2/5 of (3, 3).
    assert dependence(table, 0, (2,)) == pytest.approx((abs(2 - 0.8) + 0.8 + 1.2 + abs(2 - 1.2)) / 2)
    # The record without a first value counts for the second column alone.
    assert dependence(table, 1, (0,)) == pytest.approx((2 * abs(1 - 6 / 5) + 2 * abs(1 - 4 / 5)) / 2)


@pytest.mark.thorough
def test_replacing_a_record_moves_no_score_by_more_than_the_sensitivity():
    """Random small tables, in which changes are largest, also with missing values; some move it by almost 3."""
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(1500):
        n, sizes = int(rng.integers(1, 12)), tuple(rng.integers(1, 4, 3).tolist())
        codes = [rng.integers(-1, size, n) if rng.random() < 0.3 else rng.integers(0, size, n) for size in sizes]
        if rng.random() < 0.5:
            codes = [np.where(np.arange(n) < n // 2, code, code[0]) for code in codes]
        other = [code.copy() for code in codes]
        for code, size in zip(other, sizes, strict=True):
            code[0] = rng.integers(-1, size)
        neighbours = [CountedColumns(part, sizes) for part in (codes, other)]
        for parents in ((), (1,), (1, 2)):
            scores = [dependence(table, 0, parents) for table in neighbours]
            largest = max(largest, abs(scores[0] - scores[1]))
    assert 1.2 < largest <= SCORE_SENSITIVITY
