"""Choice of the protocol with the least variance."""

from __future__ import annotations

import numpy as np

from defenses.ldp import (
    BinaryLocalHashing,
    CountMeanSketch,
    FrequencyOracle,
    GeneralizedRandomizedResponse,
    HadamardCountMeanSketch,
    HadamardResponse,
    OptimizedLocalHashing,
    OptimizedUnaryEncoding,
    SubsetSelection,
    SummationHistogramEncoding,
    SymmetricUnaryEncoding,
    ThresholdedHistogramEncoding,
)
from metrics.columns import check_integer, require

CANDIDATES: tuple[type[FrequencyOracle], ...] = (
    GeneralizedRandomizedResponse,
    SymmetricUnaryEncoding,
    OptimizedUnaryEncoding,
    SummationHistogramEncoding,
    ThresholdedHistogramEncoding,
    BinaryLocalHashing,
    OptimizedLocalHashing,
    SubsetSelection,
    HadamardResponse,
    CountMeanSketch,
    HadamardCountMeanSketch,
)
"""Protocols for a known domain of any size, with default parameters of the sketches."""

# Relative difference below which two variances count as equal.
_EQUAL = 1e-9


def best_protocol(
    epsilon: float, d: int, n: int, *, report_bits: int | None = None, server_steps: int | None = None
) -> FrequencyOracle:
    """Return the protocol of least mean variance of the estimated counts, for n persons spread evenly over d values.

    Of protocols with equal variance it returns the one with the shortest report.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    n : int
        Number of persons, at least 1; it matters to sketches, whose collisions are shared.
    report_bits : int, optional
        Largest length of a report, in bits; unlimited by default. Without a limit the result is `SubsetSelection` or,
        where its sets have one value, `GeneralizedRandomizedResponse`. Below d bits it is mostly
        `OptimizedLocalHashing` (64 bits and its bucket) or `HadamardResponse` (at least log2 d bits).
    server_steps : int, optional
        Largest number of elementary steps of the server; unlimited by default. Randomized response takes n steps;
        encodings, sets and local hashing n d; Hadamard response with K answers n + K log2 K. The two sketches take n m
        and n + k m log2 m, and both k d more to read the values.

    Raises
    ------
    ValueError
        If a parameter is out of range, or no protocol is within the limits.

    Examples
    --------
    >>> from defenses.ldp import best_protocol
    >>> type(best_protocol(epsilon=1.0, d=128, n=1000)).__name__
    'SubsetSelection'
    >>> type(best_protocol(epsilon=1.0, d=1024, n=1000, report_bits=70)).__name__
    'OptimizedLocalHashing'
    """
    check_integer("n", n, low=1)
    check_integer("report_bits", report_bits, low=1, optional=True)
    check_integer("server_steps", server_steps, low=1, optional=True)
    within = [
        protocol
        for protocol in (make(epsilon=epsilon, d=d) for make in CANDIDATES)
        if (report_bits is None or protocol.report_bits <= report_bits)
        and (server_steps is None or steps(protocol, n) <= server_steps)
    ]
    require(within, f"report_bits, server_steps: no protocol within {report_bits} bits and {server_steps} steps")
    variances = [float(protocol.variance(n, np.full(d, 1 / d)).mean()) for protocol in within]
    least = min(variances) * (1 + _EQUAL)
    equally_good = [protocol for protocol, variance in zip(within, variances, strict=True) if variance <= least]
    return min(equally_good, key=lambda protocol: protocol.report_bits)


def steps(protocol: FrequencyOracle, n: int) -> int:
    """Number of elementary steps, to first order, in which a server estimates all counts from n reports."""
    if isinstance(protocol, GeneralizedRandomizedResponse):
        return n + protocol.d
    if isinstance(protocol, HadamardResponse):
        answers = protocol.blocks * protocol.block_size
        return n + answers * answers.bit_length()
    if isinstance(protocol, CountMeanSketch):
        return n * protocol.m + protocol.k * protocol.d
    if isinstance(protocol, HadamardCountMeanSketch):
        return n + protocol.k * (protocol.m * int(protocol.m).bit_length() + protocol.d)
    return n * protocol.d
