"""Local differential privacy: each person randomizes a value before sending it, and the server estimates counts.

The contract of protocols
    FrequencyOracle: Frequency oracle: the report that a person's device sends, and the server's estimates of
        counts.
    PureOracle: Pure protocol: a report supports its person's own value with probability p and every other value
        with q < p.
    ReportBatch: Reports of one protocol, one a person.

Randomized response, unary encoding and histogram encoding
    BinaryRandomizedResponse: Warner's randomized response on two values, 0 and 1: the truth with probability
        e^epsilon/(e^epsilon + 1).
    GeneralizedRandomizedResponse: Generalized randomized response (GRR), also called direct encoding.
    OptimizedUnaryEncoding: Optimized unary encoding (OUE): sets the own bit with p = 1/2 and each other bit with q
        = 1/(e^epsilon + 1).
    SummationHistogramEncoding: Summation with histogram encoding: a noisy number for each value, 1 for the own
        value and 0 for others.
    SymmetricUnaryEncoding: Symmetric unary encoding (basic RAPPOR): every bit is flipped with probability
        1/(e^(epsilon/2) + 1).
    ThresholdedHistogramEncoding: Thresholding with histogram encoding: one bit for each noisy number, set if the
        number exceeds a threshold.

Hashing, Hadamard transforms and subsets
    BinaryLocalHashing: Binary local hashing (BLH): local hashing into two buckets, one randomized bit.
    HadamardResponse: Hadamard response: each person sends one of K = B b answers, log2 K bits.
    OptimizedLocalHashing: Optimized local hashing (OLH): local hashing into g = round(e^epsilon) + 1 buckets.
    SubsetSelection: Subset selection: each person sends a set of w = round(d/(e^epsilon + 1)) of the d values.

Sketches for large domains
    CountMeanSketch: Count-mean sketch: each person hashes the value to one of m columns and sends m randomized
        signs.
    draw_estimates: Estimates of all counts from reports of many persons, drawn from their joint law; the time
        depends on no person.
    HadamardCountMeanSketch: Hadamard count-mean sketch: each person hashes the value to a column and sends one
        randomized sign.
    mean_estimate: Count-mean estimator of counts from a sketch: m/(m - 1) (mean over rows l of sketch[l, position]
        - n/m).
    SequenceFragmentPuzzle: Sequence fragment puzzle: discovers frequent words without a dictionary.

Longitudinal collection: several rounds of reports
    LongitudinalOptimizedUnaryEncoding: Longitudinal optimized unary encoding (L-OSUE): optimized bits are memoized,
        and flipped symmetrically.
    LongitudinalSymmetricUnaryEncoding: Longitudinal symmetric unary encoding (L-SUE), basic RAPPOR: symmetric bits
        are memoized and reported.

Amplification by shuffling
    attained_delta: Delta of shuffled randomized response where one person has x_0 or x_1 and all others have one
        third value.
    clones_epsilon: Closed form of the general bound on the central epsilon; None where it does not hold.
    shuffled_delta: Upper bound on delta of n shuffled local reports for a given epsilon, between tables that differ
        in one person.
    shuffled_epsilon: Central epsilon of n shuffled local reports for a given delta, an upper bound rounded up; 0 if
        none is needed.
    ShuffledResponse: Randomized response whose reports are shuffled: the server sees how many persons reported each
        value.

Numbers
    HybridMechanism: Hybrid mechanism (HM): a piecewise report with probability alpha, else a two-point report.
    NumberMechanism: Mechanism for one number in [-1, 1]: an unbiased report under local differential privacy.
    PiecewiseMechanism: Piecewise mechanism (PM): an unbiased report of a number whose density has two levels.
    TwoPointMechanism: Two-point mechanism of Duchi, Jordan and Wainwright: an unbiased report of a number by one
        bit.

Choice of a protocol, and projection of estimates
    best_protocol: Return the protocol of least mean variance of the estimated counts, for n persons spread evenly
        over d values.
    norm_sub: Norm-sub: set negative counts to 0 and shift the others equally, repeatedly, until they sum to
        `total`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
