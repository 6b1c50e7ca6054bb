"""Estimated distributions of reported numbers."""

import numpy as np
import pytest
from number_tools import MECHANISMS

from defenses.ldp import HybridMechanism, PiecewiseMechanism, TwoPointMechanism
from defenses.ldp.reported.reported_columns import NUMBERS, ReportedNumericColumn
from metrics.columns.domains import NumericDomain

AGES = NumericDomain(0, 99, integer=True, cuts=tuple(range(10, 100, 10)))


def distance(first, second):
    return np.abs(first - second).sum() / 2


def column_of(make, epsilon, domain=AGES, missing=False):
    return ReportedNumericColumn("age", domain, make(epsilon=epsilon), missing)


def test_names_are_those_of_the_classes():
    assert set(NUMBERS.values()) == set(MECHANISMS)


@pytest.mark.parametrize("make", [PiecewiseMechanism, HybridMechanism])
@pytest.mark.parametrize(("epsilon", "limit"), [(1.0, 0.15), (3.0, 0.05), (8.0, 0.02)])
def test_the_distribution_of_many_reports_is_near_the_true_one(make, epsilon, limit):
    rng = np.random.default_rng(1)
    values = np.minimum(rng.exponential(25, 20_000), 99).astype(int).astype(float)
    truth = np.bincount(AGES.codes(values), minlength=10) / values.size
    column = column_of(make, epsilon)
    shares = column.shares(column.privatize(values, rng))
    assert shares.sum() == pytest.approx(1)
    assert shares.min() >= 0
    # The limits are far above the noise of this seed; equal shares are .40 away.
    assert distance(shares, truth) < limit < distance(np.full(10, 0.1), truth)


def test_two_point_reports_estimate_the_mean_alone():
    rng = np.random.default_rng(2)
    values = np.repeat([15.0, 25.0], 20_000)
    column = column_of(TwoPointMechanism, 4.0)
    shares = column.shares(column.privatize(values, rng))
    # Bins are 10 wide; the estimate of the mean has a deviation of .2 by the noise, and EM ends a little early.
    assert shares @ (np.arange(10) * 10 + 4.5) == pytest.approx(20.0, abs=1.5)


def test_the_likelihood_rises_to_that_of_the_truth():
    rng = np.random.default_rng(3)
    values = rng.integers(40, 60, 5000).astype(float)
    column = column_of(PiecewiseMechanism, 3.0)
    reports = column.privatize(values, rng)
    likelihood = column._likelihood(reports)
    truth = np.bincount(AGES.codes(values), minlength=10) / values.size
    logs = [np.log(likelihood @ shares).sum() for shares in (np.full(10, 0.1), truth, column.shares(reports))]
    assert logs[0] < logs[1] < logs[2] + 0.5


def test_missing_values_have_a_share():
    rng = np.random.default_rng(4)
    values = np.where(np.arange(20_000) % 4 == 0, np.nan, rng.integers(0, 100, 20_000).astype(float))
    column = column_of(PiecewiseMechanism, 4.0, missing=True)
    shares = column.shares(column.privatize(values, rng))
    assert shares.size == column.size == 11
    assert shares[-1] == pytest.approx(0.25, abs=0.05)


def test_posteriors_average_to_the_distribution_and_show_no_association_of_independent_columns():
    rng = np.random.default_rng(5)
    column = column_of(PiecewiseMechanism, 3.0)
    reports = [column.privatize(rng.integers(0, 100, 5000).astype(float), rng) for _ in range(2)]
    tables = []
    for one in reports:
        shares = column.shares(one)
        tables.append(column.indicators(one, shares))
        np.testing.assert_allclose(tables[-1].sum(axis=1), 1)
        assert distance(tables[-1].mean(axis=0), shares) < 0.01
    joint = tables[0].T @ tables[1] / 5000
    apart = np.abs(joint - np.outer(tables[0].mean(axis=0), tables[1].mean(axis=0)))
    # Entries of at most 1 have a deviation of at most .5/sqrt(5000) = .007; that of posteriors is far smaller.
    assert apart.max() < 0.007


@pytest.mark.parametrize("make", MECHANISMS)
def test_no_report_one_report_and_one_bin(make):
    column = column_of(make, 1.0)
    assert column.shares(np.array([])).tolist() == [0.1] * 10
    assert column.indicators(np.array([]), np.full(10, 0.1)).shape == (0, 10)
    one = column.privatize(np.array([50.0]), np.random.default_rng(0))
    assert column.shares(one).sum() == pytest.approx(1)
    single = column_of(make, 1.0, domain=NumericDomain(0, 1))
    assert single.shares(single.privatize(np.array([0.0, 1.0]), np.random.default_rng(0))).tolist() == [1.0]
    assert column.cells(one).tolist() == one.tolist()
