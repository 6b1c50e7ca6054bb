"""The three ways of splitting: unbiased estimates, and exact epsilons by enumeration."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from defenses.ldp import GeneralizedRandomizedResponse, OptimizedLocalHashing, OptimizedUnaryEncoding
from defenses.ldp.number_mechanisms import PiecewiseMechanism
from defenses.ldp.reported.reported_columns import ReportedColumn, ReportedNumericColumn
from defenses.ldp.reported.splitting import BudgetSplitting, ColumnSampling, ColumnSamplingAmongFakes
from metrics.columns.domains import CategoricalDomain, NumericDomain

DOMAINS = {"x": CategoricalDomain(("a", "b", "c")), "y": CategoricalDomain(("u", "v"))}


def columns(make, epsilon):
    return [ReportedColumn(name, domain, make(epsilon=epsilon, d=domain.size)) for name, domain in DOMAINS.items()]


def largest_ratio(strategy, epsilon):
    """Logarithm of the largest ratio of likelihoods of a row of randomized responses between two records."""
    both = columns(GeneralizedRandomizedResponse, strategy.column_epsilon(epsilon, 2))
    released = pd.DataFrame(list(product("abc", "uv")), columns=["x", "y"])
    logs = sum(part.bind(released, released).table() for part in strategy.parts(both))
    return float((logs.max(axis=1) - logs.min(axis=1)).max())


@pytest.mark.parametrize("strategy", [BudgetSplitting(), ColumnSamplingAmongFakes()])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_stated_epsilon_is_exact(strategy, epsilon):
    each = strategy.column_epsilon(epsilon, 2)
    assert strategy.record_epsilon(each, 2) == pytest.approx(epsilon)
    assert largest_ratio(strategy, epsilon) == pytest.approx(epsilon)


def test_the_published_amplification_does_not_hold_between_records():
    # Published: reports of epsilon' = ln(2 (e - 1) + 1) = 1.49 among fakes give epsilon = 1.
    strategy = ColumnSamplingAmongFakes(amplified=True)
    each = strategy.column_epsilon(1.0, 2)
    assert each == pytest.approx(np.log(2 * (np.e - 1) + 1))
    assert largest_ratio(strategy, 1.0) == pytest.approx(each)
    assert strategy.record_epsilon(each, 2) == each > 1.48


def test_the_published_amplification_holds_between_records_that_differ_in_one_column_of_equal_sizes():
    each = ColumnSamplingAmongFakes(amplified=True).column_epsilon(1.0, 2)
    both = [ReportedColumn(name, DOMAINS["y"], GeneralizedRandomizedResponse(epsilon=each, d=2)) for name in ("x", "y")]
    released = pd.DataFrame(list(product("uv", "uv")), columns=["x", "y"])
    (part,) = ColumnSamplingAmongFakes().parts(both)
    logs = part.bind(released, released).table()
    one_apart = (released["x"].to_numpy()[:, None] != released["x"].to_numpy()) ^ (
        released["y"].to_numpy()[:, None] != released["y"].to_numpy()
    )
    ratios = np.abs(logs[:, :, None] - logs[:, None, :])[:, one_apart]
    assert ratios.max() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("strategy", "make"),
    [
        (BudgetSplitting(), OptimizedLocalHashing),
        (ColumnSampling(), GeneralizedRandomizedResponse),
        (ColumnSamplingAmongFakes(), GeneralizedRandomizedResponse),
        (ColumnSamplingAmongFakes(), OptimizedUnaryEncoding),
        (ColumnSamplingAmongFakes(amplified=True), OptimizedLocalHashing),
        (ColumnSamplingAmongFakes(blank=True), OptimizedUnaryEncoding),
    ],
)
def test_estimates_are_unbiased(strategy, make):
    n = 60_000
    codes = [np.arange(n) % 4 % 3, (np.arange(n) % 5 == 0).astype(np.int64)]
    both = columns(make, strategy.column_epsilon(2.0, 2))
    sent = strategy.send(both, codes, np.random.default_rng(4))
    for one, truth in zip(sent, codes, strict=True):
        shares = strategy.shares(one, 2)
        # An estimate from n/2 reports or more has a deviation below 2 * sqrt(10 / n) here; 5 deviations.
        assert np.abs(shares - np.bincount(truth) / n).max() < 5 * 2 * np.sqrt(10 / n)


def test_sampling_sends_one_report_a_person():
    codes = [np.zeros(50, dtype=np.int64)] * 2
    sent = ColumnSampling().send(columns(GeneralizedRandomizedResponse, 1.0), codes, np.random.default_rng(0))
    assert sorted(np.concatenate([one.senders for one in sent])) == list(range(50))
    assert all(len(one.reports) == one.senders.size for one in sent)


def test_only_unary_encodings_report_no_value():
    both = columns(GeneralizedRandomizedResponse, 1.0)
    with pytest.raises(ValueError, match="fakes: GeneralizedRandomizedResponse cannot report no value"):
        ColumnSamplingAmongFakes(blank=True).parts(both)


def test_fakes_are_for_columns_of_values_alone():
    column = ReportedNumericColumn("x", NumericDomain(0, 1), PiecewiseMechanism(epsilon=1.0), False)
    with pytest.raises(ValueError, match=r"numbers: RS\+FD sends reports of random values as fakes"):
        ColumnSamplingAmongFakes().parts([column])
