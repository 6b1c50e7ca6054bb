"""Unary encodings: closed forms, exact epsilon and best guess by enumeration, and blank reports."""

import math
from itertools import product

import numpy as np
import pytest

from defenses.ldp import OptimizedUnaryEncoding, ReportBatch, SymmetricUnaryEncoding

BOTH = [SymmetricUnaryEncoding, OptimizedUnaryEncoding]


def law(protocol):
    """Probability of each vector of bits under each value, shape (2^d, d)."""
    vectors = np.array(list(product([0, 1], repeat=protocol.d)))
    own = np.where(vectors == 1, protocol.p, protocol.unset)
    other = np.where(vectors == 1, protocol.q, 1 - protocol.q)
    return np.stack([own[:, v] * np.delete(other, v, axis=1).prod(axis=1) for v in range(protocol.d)], axis=1)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_epsilon_is_exact_and_the_best_guess_is_that_of_bayes(make, epsilon):
    protocol = make(epsilon=epsilon, d=4)
    table = law(protocol)
    assert table.sum(axis=0) == pytest.approx(np.ones(4))
    assert (table.max(axis=1) / table.min(axis=1)).max() == pytest.approx(math.exp(epsilon))
    assert protocol.support_odds == pytest.approx(epsilon)
    assert protocol.best_guess == pytest.approx(table.max(axis=1).sum() / 4)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_variances_of_rare_values_are_their_closed_forms(epsilon):
    rare = np.eye(9)[0]
    half = math.exp(epsilon / 2)
    # Wang et al. (2017), equations 9 and 10.
    symmetric = SymmetricUnaryEncoding(epsilon=epsilon, d=9).variance(300, rare)
    assert symmetric == pytest.approx([300 * half / (half - 1) ** 2] * 9)
    optimized = OptimizedUnaryEncoding(epsilon=epsilon, d=9).variance(300, rare)
    assert optimized[1:] == pytest.approx([300 * 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2] * 8)
    # A frequent value has p(1 - p)/(p - q)^2 more: 1/4 at p = 1/2, for each person who has it.
    assert optimized[0] == pytest.approx(300 * 0.25 / (0.5 - 1 / (math.exp(epsilon) + 1)) ** 2)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_other_probabilities_have_less_variance_for_rare_values(epsilon):
    p = np.linspace(0.01, 0.99, 981)
    # q with p(1 - q)/((1 - p) q) = e^epsilon.
    q = p / (p + (1 - p) * math.exp(epsilon))
    others = 100 * q * (1 - q) / (p - q) ** 2
    least = OptimizedUnaryEncoding(epsilon=epsilon, d=9).variance(100, np.eye(9)[0])[1]
    assert least == pytest.approx(others.min(), rel=1e-9)
    assert p[others.argmin()] == pytest.approx(0.5)


@pytest.mark.parametrize("make", BOTH)
def test_blank_reports_hold_no_value(make):
    # Bits of 20,000 blank reports: 11 shares within 5 standard errors, a false alarm in 10^5 runs of both encodings.
    protocol, n = make(epsilon=1.0, d=11), 20_000
    blank = protocol.blank_reports(n, np.random.default_rng(3))
    deviation = math.sqrt(n * protocol.q * (1 - protocol.q))
    assert (np.abs(protocol.support_counts(blank) - n * protocol.q) <= 5 * deviation).all()
    assert (np.abs(protocol.estimate(blank)) <= 5 * deviation / (protocol.p - protocol.q)).all()
    # Eleven bits take two bytes, of which the last five bits stay 0.
    assert blank.parts["bits"].shape == (n, 2)
    assert not (blank.parts["bits"][:, 1] & 0b11111).any()
    assert len(protocol.blank_reports(0, np.random.default_rng(3))) == 0


@pytest.mark.parametrize("make", BOTH)
def test_supports_and_estimates_by_hand(make):
    protocol = make(epsilon=1.0, d=10)
    reports = ReportBatch(protocol, {"bits": np.array([[0b10000001, 0b01000000], [0b10000000, 0]], dtype=np.uint8)})
    assert np.flatnonzero(protocol.supports(reports)[0]).tolist() == [0, 7, 9]
    assert protocol.support_counts(reports).tolist() == [2, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    gap = protocol.p - protocol.q
    assert protocol.estimate(reports)[[0, 1, 7]] == pytest.approx([(s - 2 * protocol.q) / gap for s in (2, 0, 1)])
    assert protocol.report_bits == 10


def test_symmetric_bits_are_flipped_alike():
    protocol = SymmetricUnaryEncoding(epsilon=2 * math.log(3), d=4)
    assert (protocol.p, protocol.q, protocol.unset) == pytest.approx((3 / 4, 1 / 4, 1 / 4))
    assert OptimizedUnaryEncoding(epsilon=math.log(3), d=4).q == pytest.approx(1 / 4)
