"""Numbers to which curators add noise move by at most the stated sensitivity, on bounds of any size and place.

The numbers are compared as the exact rationals that they store. The reference is rational arithmetic too.
"""

from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest

from defenses import Curator, Microdata
from defenses.base.queries import Condition, Correlation, Covariance, Mean, Sum, Variance
from defenses.curators.answer_plan import AnswerNoise
from defenses.curators.planning import PLANNERS, plan_of
from metrics.columns.domains import NumericDomain

BOUNDS = [
    (0, 1),
    (-1, 3),
    (0.1, 0.3),
    (1e12, 1e12 + 1),
    (-1e12 - 1, -1e12),
    (2.0**41 + 1 / 3, 2.0**41 + 4),
    (1e15, 1e15 + 2**13),
    (-1e60, 1e60),
    (-1e60, 1.0),
    (0, 1e-60),
    (1.0, 1.0 + 2.0**-40),
    (5, 5),
]
TOO_CLOSE = [(1e15, 1e15 + 1), (2**53, 2**53 + 2), (-(2**53) - 2, -(2**53)), (1, 1 + 2.0**-45), (0, 5e-324), (0, 1e-61)]
QUERIES = [
    Sum("x"),
    Sum("x", members=np.arange(1001) < 5),
    Mean("x"),
    Mean("x", members=np.arange(1001) < 5),
    Variance("x"),
    Covariance("x", "y"),
    Correlation("x", "y"),
]
SELECTIVE = [Sum, Mean]


UNUSED = np.random.default_rng(0)


class Recorder(AnswerNoise):
    """Records the numbers to which noise would be added, and their sensitivities."""

    def __init__(self):
        super().__init__(UNUSED)
        self.numbers, self.sensitivities = [], []

    def split(self, parts):
        return self

    def number(self, value, sensitivity):
        self.numbers.append(Fraction(value))
        self.sensitivities.append(Fraction(sensitivity))
        return value

    def counts(self, values, replaced):
        return values

    def selection(self):
        return 1.0

    def number_bound(self, sensitivity, confidence):
        return 0.0

    def count_bound(self, replaced, confidence):
        return 0.0


def recorded(query, records, neighbours="replace"):
    noise = Recorder()
    plan_of(query, records, neighbours)(records, noise)
    return noise


def table(x, y, domain):
    return Microdata(pd.DataFrame({"x": x, "y": y}), domains={"x": domain, "y": domain})


@cache
def neighbours(low, high, n):
    """Pairs of columns that differ in row 0: ends, values next to them, and values anywhere within the bounds."""
    generator, pairs = np.random.default_rng(n), []
    domain = NumericDomain(low, high)
    for share in (0.0, 0.5, 1.0):
        values = np.where(generator.random((2, n)) < share, low, high)
        for inside in (values, np.clip(generator.uniform(low, high, (2, n)), low, high)):
            for ends in ((low, high), (high, low), (np.nextafter(low, high), np.nextafter(high, low))):
                one, other = inside.astype(float), inside.astype(float)
                one[:, 0], other[:, 0] = ends[0], ends[1]
                pairs.append((table(*one, domain), table(*other, domain)))
    return pairs


def test_every_query_with_a_sensitivity_is_among_them():
    """All others count records or select a candidate, in integers."""
    others = {"Count", "Histogram", "ContingencyTable", "Mode", "Maximum", "Minimum", "Median", "Quantile"}
    assert {kind.__name__ for kind in PLANNERS} - others == {type(query).__name__ for query in QUERIES}


@pytest.mark.thorough_beyond(6)
@pytest.mark.usefixtures("tables_of_the_module_are_read_once")
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_no_number_moves_by_more_than_its_sensitivity(query, low, high):
    largest = Fraction(0)
    for n in (1, 2, 3, 1001) if query.members is None else (1001,):
        for one, other in neighbours(float(low), float(high), n):
            first, second = recorded(query, one), recorded(query, other)
            assert first.sensitivities == second.sensitivities
            for a, b, sensitivity in zip(first.numbers, second.numbers, first.sensitivities, strict=True):
                assert abs(a - b) <= sensitivity
                if sensitivity:
                    largest = max(largest, abs(a - b) / sensitivity)
    # The sensitivity is attained, up to the allowance for rounding.
    assert largest > 0.99 or low == high


@pytest.mark.thorough_beyond(9)
@pytest.mark.parametrize("kind", SELECTIVE)
@pytest.mark.parametrize("relation", ["replace", "add or remove"])
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_sums_over_a_selection_of_unknown_size_move_by_at_most_their_sensitivity(kind, relation, low, high):
    query = kind("x", where=Condition("z", values=(1,)))
    domain = NumericDomain(low, high)
    for n in (1, 2, 1001):
        for value in (low, high, low + (high - low) / 3):
            frame = pd.DataFrame({"x": np.full(n, high, dtype=float), "z": np.ones(n)})
            frame.loc[0, "x"] = value
            one = Microdata(frame, domains={"x": domain, "z": NumericDomain(0, 1)})
            other = frame.copy()
            other.loc[0, "z"] = 0
            two = one.with_frame(other) if relation == "replace" else one.take(np.arange(1, n))
            first, second = recorded(query, one, relation), recorded(query, two, relation)
            assert first.sensitivities == second.sensitivities
            assert abs(first.numbers[0] - second.numbers[0]) <= first.sensitivities[0]


@pytest.mark.thorough_beyond(37)
@pytest.mark.parametrize(("low", "high"), BOUNDS)
@pytest.mark.parametrize("n", [1, 2, 3, 1001])
def test_variances_agree_with_rational_arithmetic(low, high, n):
    generator = np.random.default_rng(n)
    x, y = np.clip(generator.uniform(low, high, (2, n)), low, high)
    records = table(x, y, NumericDomain(low, high))
    first, second = ([Fraction(value) for value in column] for column in (x.tolist(), y.tolist()))
    width = Fraction(float(high)) - Fraction(float(low))
    # Numbers are rounded once, when the middle is subtracted.
    tolerance = width**2 * (Fraction(1, 2**47) + Fraction(1, 2**50))
    for query, a, b in ((Variance("x"), first, first), (Covariance("x", "y"), first, second)):
        reference = sum(p * q for p, q in zip(a, b, strict=True)) / n - sum(a) / n * sum(b) / n
        assert abs(Fraction(query.exact(records)) - reference) <= tolerance


@pytest.mark.parametrize("query", QUERIES[:1] + QUERIES[2:3] + QUERIES[4:], ids=lambda query: type(query).__name__)
@pytest.mark.parametrize(("low", "high"), TOO_CLOSE)
def test_bounds_too_close_for_their_numbers_are_refused_before_anything_is_spent(query, low, high):
    records = table([float(low), float(high)], [float(low), float(high)], NumericDomain(low, high))
    session = Curator(epsilon=1.0).session(records, np.random.default_rng(0))
    with pytest.raises(ValueError, match="bounds of column 'x' are too close"):
        session.answer(query)
    assert session.remaining == 1.0


def test_answers_far_from_zero_come_near_the_truth():
    low = 1e12
    x = low + np.arange(1001) / 1000
    records = table(x, x, NumericDomain(low, low + 1))
    for query, truth in ((Mean("x"), low + 0.5), (Variance("x"), (1001**2 - 1) / 12 / 1e6)):
        answer = Curator(epsilon=1000.0, queries=1).session(records, np.random.default_rng(0)).answer(query)
        assert answer == pytest.approx(truth, rel=1e-12, abs=1e-3)
    total = Curator(epsilon=1000.0, queries=1).session(records, np.random.default_rng(0)).answer(Sum("x"))
    assert total == pytest.approx(1001 * low + 500.5, abs=256)
