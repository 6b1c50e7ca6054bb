"""Randomized response, local: closed forms, the law of reports, and estimates by hand."""

import math

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng

from defenses.ldp import (
    BinaryRandomizedResponse,
    GeneralizedRandomizedResponse,
    OptimizedUnaryEncoding,
    ReportBatch,
)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("d", [2, 10, 1000])
def test_the_variance_of_a_rare_value_is_its_closed_form(epsilon, d):
    protocol = GeneralizedRandomizedResponse(epsilon=epsilon, d=d)
    rare = protocol.variance(700, np.eye(d)[0])[1]
    # Wang et al. (2017), equation 6.
    assert rare == pytest.approx(700 * (d - 2 + math.exp(epsilon)) / math.expm1(epsilon) ** 2)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_it_beats_unary_encoding_below_the_stated_size(epsilon):
    limit = 3 * math.exp(epsilon) + 2
    for d in (math.floor(limit), math.floor(limit) + 1):
        rare = np.eye(d)[0]
        own, other = (
            make(epsilon=epsilon, d=d).variance(100, rare)[1]
            for make in (GeneralizedRandomizedResponse, OptimizedUnaryEncoding)
        )
        assert (own < other) == (d < limit)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_warners_variance_does_not_depend_on_the_share(epsilon):
    protocol = BinaryRandomizedResponse(epsilon=epsilon)
    truth = math.exp(epsilon) / (math.exp(epsilon) + 1)
    for share in (0.0, 0.3, 1.0):
        expected = 50 * truth * (1 - truth) / (2 * truth - 1) ** 2
        assert protocol.variance(50, [share, 1 - share]) == pytest.approx([expected] * 2)


@pytest.mark.parametrize("value", [0, 2, 4])
def test_reports_follow_their_law(value):
    # Three chi-square tests, each with a false alarm in 1 of 10,000 seeds.
    protocol = GeneralizedRandomizedResponse(epsilon=1.0, d=5)
    sent = protocol.privatize(np.full(20_000, value), rng(50, value)).parts["value"]
    law = np.full(5, protocol.q)
    law[value] = protocol.p
    assert law.sum() == pytest.approx(1)
    assert law.max() / law.min() == pytest.approx(math.e)
    assert protocol.lie == pytest.approx(4 * protocol.q)
    assert chi_square(np.bincount(sent, minlength=5), law) > ALARM


def test_estimates_by_hand():
    # e^epsilon = 4: p = 2/3 and q = 1/6 for three values.
    protocol = GeneralizedRandomizedResponse(epsilon=math.log(4), d=3)
    reports = ReportBatch(protocol, {"value": np.array([0, 0, 1, 0, 2, 0], dtype=np.uint8)})
    assert protocol.support_counts(reports).tolist() == [4, 1, 1]
    assert protocol.estimate(reports) == pytest.approx([6, 0, 0])


def test_lengths_of_reports():
    bits = [GeneralizedRandomizedResponse(d=d).report_bits for d in (2, 3, 128, 129, 2**32)]
    assert bits == [1, 2, 7, 8, 32]


def test_the_binary_protocol_takes_two_values_and_no_other_number_of_them():
    protocol = BinaryRandomizedResponse(epsilon=2.0)
    assert protocol.d == 2
    assert protocol.get_params() == {"epsilon": 2.0}
    with pytest.raises(TypeError, match="d"):
        BinaryRandomizedResponse(epsilon=2.0, d=3)
    with pytest.raises(ValueError, match=r"values must lie in 0\.\.1; row 1 does not"):
        protocol.privatize([0, 2], rng(1))
