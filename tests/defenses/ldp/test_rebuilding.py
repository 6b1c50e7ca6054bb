"""Tables rebuilt from reports: associations are found where they are, and nowhere else."""

import numpy as np
import pytest

from defenses.ldp import OptimizedUnaryEncoding, SubsetSelection
from defenses.ldp.rebuilding import rebuilt_rows
from defenses.ldp.reported.reported_columns import ReportedColumn
from defenses.ldp.reported.splitting import BudgetSplitting
from metrics.columns.domains import CategoricalDomain

SIZES = (3, 4, 2)


def rebuilt(codes, make, epsilon, seed):
    columns = [
        ReportedColumn(str(number), CategoricalDomain(tuple("abcd"[:size])), make(epsilon=epsilon, d=size))
        for number, size in enumerate(SIZES)
    ]
    rng = np.random.default_rng(seed)
    sent = BudgetSplitting().send(columns, codes, rng)
    shares = [BudgetSplitting().shares(one, len(SIZES)) for one in sent]
    return rebuilt_rows(sent, shares, codes[0].size, joint=True, rng=rng)


def association(first, second):
    """Total variation between the joint distribution and the product of the distributions."""
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), 1 / first.size)
    return float(np.abs(table - np.outer(table.sum(axis=1), table.sum(axis=0))).sum() / 2)


@pytest.mark.parametrize("make", [OptimizedUnaryEncoding, SubsetSelection])
def test_associations_and_distributions_are_rebuilt(make):
    n = 20_000
    rng = np.random.default_rng(1)
    first = rng.integers(3, size=n)
    second = np.where(rng.random(n) < 0.7, first, rng.integers(4, size=n))
    third = (rng.random(n) < 0.3).astype(np.int64)
    result = rebuilt([first, second, third], make, 3.0, seed=2)
    assert association(result[0], result[1]) == pytest.approx(association(first, second), abs=0.06)
    assert association(result[0], result[2]) < 0.03
    for codes, truth, size in zip(result, (first, second, third), SIZES, strict=True):
        expected = np.bincount(truth, minlength=size) / n
        assert np.abs(np.bincount(codes, minlength=size) / n - expected).max() < 0.04


def test_independent_columns_stay_independent():
    # Three pairs at 4 standard deviations in each of 20 tables. The sum of squares has a heavier tail than a Gaussian:
    # a false alarm is expected in about 1 of 100 tables. Three in 20 then have a probability below .001.
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 7])
        codes = [rng.integers(size, size=2000) for size in SIZES]
        result = rebuilt(codes, OptimizedUnaryEncoding, 1.0, seed)
        alarms += max(association(result[a], result[b]) for a, b in ((0, 1), (0, 2), (1, 2))) > 0.05
    assert alarms < 3


def test_an_empty_table_stays_empty():
    codes = [np.zeros(0, dtype=np.int64)] * 3
    assert [column.size for column in rebuilt(codes, SubsetSelection, 1.0, 0)] == [0, 0, 0]
