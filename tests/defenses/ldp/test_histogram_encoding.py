"""Histogram encoding: likelihoods of noisy numbers, and the best threshold."""

import numpy as np

from defenses.ldp import (
    SummationHistogramEncoding,
    ThresholdedHistogramEncoding,
)


def test_likelihoods_of_histogram_encoding():
    # Binned by what the report claims; within a bin of width .02 claim and measurement differ by at most .01.
    protocol, n = SummationHistogramEncoding(epsilon=1.0, d=4), 300_000
    logs = [protocol.log_likelihood(protocol.privatize(np.full(n, v), np.random.default_rng(v))) for v in (0, 1)]
    edges = np.linspace(-1.01, 1.01, 102)
    counts = [np.histogram(part[:, 0] - part[:, 1], edges)[0] for part in logs]
    assert sum(part.sum() for part in counts) == 2 * n
    often = np.minimum(*counts) >= 200
    measured = np.log(counts[0][often] / counts[1][often])
    error = np.sqrt(1 / counts[0][often]) + np.sqrt(1 / counts[1][often])
    assert (np.abs(measured - (edges[:-1] + 0.01)[often]) <= 0.01 + 5 * error).all()


def test_threshold_is_the_best():
    for epsilon in (0.1, 1.0, 4.0, 20.0):
        protocol = ThresholdedHistogramEncoding(epsilon=epsilon, d=4)
        assert 0.5 < protocol.threshold < 1
        theta = np.linspace(0.5, 1, 2001)
        p, q = 1 - np.exp(epsilon * (theta - 1) / 2) / 2, np.exp(-epsilon * theta / 2) / 2
        own = protocol.q * (1 - protocol.q) / (protocol.p - protocol.q) ** 2
        assert own <= (q * (1 - q) / (p - q) ** 2).min() * (1 + 1e-6)
