"""Pure protocols: estimates, variances and likelihoods follow from p, q and supports alone."""

import numpy as np
import pytest
from scipy.stats import binom

from defenses.ldp import GeneralizedRandomizedResponse, OptimizedUnaryEncoding, PureOracle, ReportBatch
from defenses.ldp.pure_oracle import guess_among_independent


class Fixed(GeneralizedRandomizedResponse):
    """Any p and q, with the supports of randomized response."""

    p, q = 0.7, 0.2


def batch(protocol, sent):
    return ReportBatch(protocol, {"value": np.array(sent, dtype=np.uint8)})


def test_estimates_invert_the_expected_supports():
    protocol = Fixed(d=3)
    # Ten persons with value 0 would send it 7 times on average, and each other value twice in all.
    sent = [0] * 7 + [1] * 2 + [2] * 2
    estimates = protocol.estimate(batch(protocol, sent))
    assert estimates == pytest.approx([(support - 11 * 0.2) / 0.5 for support in (7, 2, 2)])
    # Averages of supports give the counts without bias: c p + (n - c) q.
    counts = np.array([6, 3, 1])
    expected = counts * 0.7 + (10 - counts) * 0.2
    assert (expected - 10 * 0.2) / (0.7 - 0.2) == pytest.approx(counts)


def test_the_variance_is_that_of_independent_supports():
    protocol, counts = Fixed(d=3), np.array([6, 3, 1])
    by_person = (counts * 0.7 * 0.3 + (10 - counts) * 0.2 * 0.8) / 0.5**2
    assert protocol.variance(10, counts / 10) == pytest.approx(by_person)


def test_indicators_have_mean_one_for_the_own_value_and_else_zero():
    protocol = Fixed(d=3)
    indicators = protocol.indicators(batch(protocol, [1]))[0]
    assert indicators == pytest.approx([-0.4, 1.6, -0.4])
    supported, other = indicators[1], indicators[0]
    assert 0.7 * supported + 0.3 * other == pytest.approx(1)
    assert 0.2 * supported + 0.8 * other == pytest.approx(0)


def test_likelihoods_are_the_odds_of_supported_values():
    protocol = GeneralizedRandomizedResponse(epsilon=1.5, d=3)
    assert protocol.log_likelihood(batch(protocol, [2, 0])).tolist() == [[0, 0, 1.5], [1.5, 0, 0]]
    encoding = OptimizedUnaryEncoding(epsilon=1.5, d=3)
    bits = ReportBatch(encoding, {"bits": np.array([[0b10100000], [0]], dtype=np.uint8)})
    assert encoding.log_likelihood(bits) == pytest.approx(np.array([[1.5, 0, 1.5], [0, 0, 0]]))


def test_reports_of_others_are_refused():
    protocol = Fixed(d=3)
    stranger = batch(GeneralizedRandomizedResponse(d=3), [1])
    for read in (protocol.log_likelihood, protocol.indicators, protocol.estimate, protocol.supports):
        with pytest.raises(ValueError, match="another protocol"):
            read(stranger)


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.1), (0.9, 0.3), (0.999, 1e-12), (0.5, 1e-300)])
@pytest.mark.parametrize("d", [2, 3, 50])
def test_the_best_guess_is_a_sum_over_numbers_of_supported_values(p, q, d):
    others = np.arange(d)
    weights = binom.pmf(others, d - 1, q)
    expected = p * (weights / (1 + others)).sum() + (1 - p) * weights[0] / d
    assert guess_among_independent(p, q, d) == pytest.approx(expected)


def test_the_contract_itself_reports_nothing():
    with pytest.raises(TypeError, match="abstract"):
        PureOracle()
