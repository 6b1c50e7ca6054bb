"""Protocols of local differential privacy: likelihoods, epsilon, estimators on given numbers, bad input."""

import math
import pickle

import numpy as np
import pytest

from defenses import project_to_simplex
from defenses.ldp import (
    BinaryLocalHashing,
    BinaryRandomizedResponse,
    CountMeanSketch,
    FrequencyOracle,
    GeneralizedRandomizedResponse,
    HadamardCountMeanSketch,
    HadamardResponse,
    OptimizedLocalHashing,
    OptimizedUnaryEncoding,
    ReportBatch,
    SequenceFragmentPuzzle,
    SubsetSelection,
    SummationHistogramEncoding,
    SymmetricUnaryEncoding,
    ThresholdedHistogramEncoding,
    best_protocol,
    hadamard,
    mean_estimate,
    norm_sub,
)
from defenses.ldp.best import CANDIDATES, steps
from defenses.ldp.hashing import buckets, hits, keys, seeds_of
from defenses.ldp.packed_bits import column_counts, grouped_counts, random_bits
from defenses.ldp.unary_encoding import UnaryEncoding

SKETCH = {"m": 4, "k": 3}


def protocols(epsilon, d):
    """One of each protocol that takes d values."""
    made = [make(epsilon=epsilon, d=d) for make in CANDIDATES if "m" not in make.parameter_names()]
    made += [make(epsilon=epsilon, d=d, **SKETCH) for make in (CountMeanSketch, HadamardCountMeanSketch)]
    letters = "abcdefgh"[: round(d**0.5)]
    if len(letters) ** 2 == d:
        made.append(SequenceFragmentPuzzle(epsilon=epsilon, letters=letters, length=2, fragment=1, **SKETCH))
    return [*made, BinaryRandomizedResponse(epsilon=epsilon)] if d == 2 else made


def named(protocol):
    return type(protocol).__name__


class WholeBudgetOnEachBit(UnaryEncoding):
    """The broken encoding that flips each bit as if it had the whole budget: its epsilon is twice the claim."""

    p = property(lambda self: float(1 / (1 + np.exp(-self.epsilon))))
    q = property(lambda self: float(1 / (1 + np.exp(self.epsilon))))


def odds(protocol, n=300_000):
    """What reports say of values 0 and 1, as measured.

    Reports are told apart by their likelihoods alone; for each kind that is frequent: the claimed and the measured
    logarithm of the odds of 0 against 1, and the measurement's standard error.
    """
    kinds = []
    for value in (0, 1):
        rng = np.random.default_rng([value, 5])
        logs = protocol.log_likelihood(protocol.privatize(np.full(n, value), rng))
        kinds.append(np.round(logs[:, 0] - logs[:, 1], 9))
    claimed = np.unique(np.concatenate(kinds))
    counts = np.array([[np.count_nonzero(kind == level) for level in claimed] for kind in kinds], dtype=float)
    often = counts.min(axis=0) >= 200
    measured = np.log(counts[0] / counts[1], where=often, out=np.zeros(claimed.size))
    error = np.sqrt(1 / counts[:, often].clip(1)).sum(axis=0)
    return claimed[often], measured[often], error


@pytest.mark.parametrize("protocol", [p for p in protocols(1.0, 4) if p.d == 4 and named(p)[:3] != "Sum"], ids=named)
def test_likelihoods_are_those_of_the_reports_and_epsilon_holds(protocol):
    # At most 12 kinds of reports each: 5 standard errors give a false alarm in 10^5 runs of all protocols.
    claimed, measured, error = odds(protocol)
    assert len(claimed) >= 2
    assert (np.abs(measured - claimed) <= 5 * error).all()
    assert (np.abs(claimed) <= 1 + 1e-9).all()
    if named(protocol)[:11] != "Thresholded":
        assert np.abs(claimed).max() == pytest.approx(1.0)


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


def test_a_report_that_spends_the_budget_on_each_bit_is_caught():
    claimed, measured, error = odds(WholeBudgetOnEachBit(epsilon=1.0, d=4))
    assert np.abs(claimed).max() == pytest.approx(2.0)
    assert (np.abs(measured) - 5 * error).max() > 1.0


def test_the_lectures_worked_example():
    # Epsilon = infinity, k = 3, m = 4, n = 4: h_1 collides, h_2 is its own.
    sketch = [[3, 0, 0, 0], [0, 6, 3, 0], [0, 0, 0, 0]]
    assert mean_estimate(sketch, [[0], [1], [2]], 4) == pytest.approx([8 / 3])
    with pytest.raises(ValueError, match="epsilon"):
        CountMeanSketch(epsilon=math.inf, d=4, m=4, k=3)


def test_probabilities_are_those_of_the_table():
    e = math.exp(1.5)
    for protocol, p, q in (
        (GeneralizedRandomizedResponse(epsilon=1.5, d=10), e / (e + 9), 1 / (e + 9)),
        (SymmetricUnaryEncoding(epsilon=1.5, d=10), e**0.5 / (e**0.5 + 1), 1 / (e**0.5 + 1)),
        (OptimizedUnaryEncoding(epsilon=1.5, d=10), 0.5, 1 / (e + 1)),
        (BinaryLocalHashing(epsilon=1.5, d=10), e / (e + 1), 0.5),
        (OptimizedLocalHashing(epsilon=1.5, d=10), e / (e + 4), 0.2),
        (BinaryRandomizedResponse(epsilon=1.5), e / (e + 1), 1 / (e + 1)),
    ):
        assert (protocol.p, protocol.q) == pytest.approx((p, q))
        shares = np.full(protocol.d, 1 / protocol.d)
        expected = 1000 * q * (1 - q) / (p - q) ** 2 + 1000 / protocol.d * (1 - p - q) / (p - q)
        assert protocol.variance(1000, shares) == pytest.approx(expected)
    assert SummationHistogramEncoding(epsilon=1.5, d=3).variance(10, [1, 0, 0]) == pytest.approx(80 / 2.25, rel=1e-6)
    assert OptimizedLocalHashing(epsilon=1.0, d=8).buckets == 4
    assert OptimizedLocalHashing(epsilon=30.0, d=8).buckets == 65_536


def test_threshold_is_the_best():
    for epsilon in (0.1, 1.0, 4.0, 20.0):
        protocol = ThresholdedHistogramEncoding(epsilon=epsilon, d=4)
        assert 0.5 < protocol.threshold < 1
        theta = np.linspace(0.5, 1, 2001)
        p, q = 1 - np.exp(epsilon * (theta - 1) / 2) / 2, np.exp(-epsilon * theta / 2) / 2
        own = protocol.q * (1 - protocol.q) / (protocol.p - protocol.q) ** 2
        assert own <= (q * (1 - q) / (p - q) ** 2).min() * (1 + 1e-6)


def test_sketch_variance_without_shared_functions_is_that_of_a_pure_protocol():
    shares = np.array([0.6, 0.3, 0.1, 0.0])
    for make in (CountMeanSketch, HadamardCountMeanSketch):
        protocol = make(epsilon=2.0, d=4, m=8, k=2**31)
        pure = super(make, protocol)._variance(500, shares)
        assert protocol.variance(500, shares) == pytest.approx(pure, rel=1e-6)
        shared = make(epsilon=2.0, d=4, m=8, k=2).variance(500, shares)
        assert (shared > 1.5 * pure).all()


@pytest.mark.parametrize("size", [2, 3, 5, 55, 1024])
def test_hashes_collide_as_often_as_chance(size):
    # 8 pairs, 5 sizes, 5 standard errors: a false alarm in 4 of 10^5 runs.
    n = 400_000
    seeds = np.random.default_rng(size).integers(1 << 64, size=n, dtype=np.uint64)
    for v, w in ((0, 1), (1, 2), (0, 2), (7, 1023), (100, 101), (12, 13), (0, 2**32 - 1), (3, 3 + 2**31)):
        same = buckets(seeds, np.array([v]), size) == buckets(seeds, np.array([w]), size)
        assert abs(same.mean() - 1 / size) <= 5 * np.sqrt((1 - 1 / size) / size / n)


def test_hashes_of_neighbours_are_as_good_as_independent():
    # Three values in one bucket: 1/g^2, also for equally spaced ones; 5 standard errors.
    n, size = 1_000_000, 4
    seeds = np.random.default_rng(0).integers(1 << 64, size=n, dtype=np.uint64)
    first, second, third = (buckets(seeds, np.array([value]), size) for value in (10, 11, 12))
    rate = ((first == second) & (second == third)).mean()
    assert abs(rate - 1 / 16) <= 5 * np.sqrt(15 / 256 / n)


def test_device_and_server_hash_alike():
    seeds = np.random.default_rng(0).integers(1 << 64, size=40_000, dtype=np.uint64)
    for size, d in ((2, 5), (3, 3), (56, 70), (65_536, 4)):
        bucket = np.random.default_rng(1).integers(size, size=seeds.size)
        table = buckets(seeds[:, None], np.arange(d), size) == bucket[:, None]
        assert (hits(seeds, bucket, size, d) == table.sum(axis=0)).all()
    # Devices and servers of other versions must agree.
    pinned = buckets(np.array([0, 1, 2**64 - 1], dtype=np.uint64)[:, None], np.array([0, 1, 2**32 - 1]), 1000)
    assert pinned.tolist() == [[431, 623, 272], [745, 850, 878], [912, 737, 985]]
    assert np.unique(keys(np.arange(100_000))).size == 100_000
    assert np.unique(seeds_of(7, 1000)).size == 1000
    assert not np.isin(seeds_of(7, 1000), seeds_of(8, 1000)).any()


def test_bits_are_counted_in_columns():
    rng = np.random.default_rng(0)
    for n, width in ((1, 1), (254, 7), (255, 8), (1000, 13)):
        bits = rng.random((n, width)) < 0.7
        packed = np.packbits(bits, axis=1)
        assert (column_counts(packed, width) == bits.sum(axis=0)).all()
        group = rng.integers(3, size=n)
        expected = [bits[group == number].sum(axis=0) for number in range(4)]
        assert (grouped_counts(packed, group, 4, width) == expected).all()


@pytest.mark.parametrize("probability", [0.0, 1e-6, 1 / 256, 0.3, 0.5, 0.999])
def test_random_bits_have_their_probability(probability):
    # 5 standard errors, 6 cases: a false alarm in 3 of 10^6 runs.
    n = 3_000_001
    ones = random_bits(n, probability, np.random.default_rng(1)).mean()
    assert abs(ones - probability) <= 5 * np.sqrt(probability * (1 - probability) / n)


def test_hadamard_transform_is_the_product():
    for m in (1, 2, 16):
        matrix = 1.0 - 2 * hadamard.minus(np.arange(m)[:, None], np.arange(m))
        table = np.random.default_rng(0).normal(size=(3, m))
        assert hadamard.transform(table) == pytest.approx(table @ matrix)
        assert matrix @ matrix == pytest.approx(m * np.eye(m))


def test_hadamard_response_has_room_for_every_value():
    for epsilon in (1e-6, 0.5, 1.0, 2.0, 4.0, 12.0, 100.0):
        for d in (2, 3, 4, 7, 8, 127, 128, 1000):
            protocol = HadamardResponse(epsilon=epsilon, d=d)
            assert protocol.blocks * (protocol.block_size - 1) >= d
            reports = protocol.privatize(np.arange(d), np.random.default_rng(0))
            assert reports.parts["answer"].max() < protocol.blocks * protocol.block_size
            assert protocol.estimate(reports).shape == (d,)


@pytest.mark.parametrize("d", [2, 9])
@pytest.mark.parametrize("epsilon", [4e-6, 20.0, 100.0])
def test_extreme_epsilons(epsilon, d):
    counts = np.bincount(np.arange(600) % d, minlength=d)
    for protocol in protocols(epsilon, d):
        estimated = protocol.estimate(protocol.privatize(np.arange(600) % d, np.random.default_rng(0)))
        variance = protocol.variance(600, counts / 600)
        assert np.isfinite(estimated).all()
        assert (variance >= 0).all()
        # At a large epsilon a single lie in 600 reports is already many standard deviations.
        assert (np.abs(estimated - counts) <= 6 * np.sqrt(variance) + 2).all()


@pytest.mark.parametrize("protocol", [*protocols(1.0, 9), *protocols(1.0, 2)], ids=named)
def test_contract(protocol):
    assert isinstance(protocol, FrequencyOracle)
    rng = np.random.default_rng(0)
    values = rng.integers(protocol.d, size=50)
    before = values.copy()
    reports = protocol.privatize(values, np.random.default_rng(3))
    assert (values == before).all()
    again = protocol.privatize(list(values), np.random.default_rng(3))
    assert all((part == again.parts[name]).all() for name, part in reports.parts.items())
    estimate = protocol.estimate(reports)
    assert estimate.shape == (protocol.d,)
    assert estimate.dtype == float
    copy = pickle.loads(pickle.dumps(reports))
    assert (protocol.clone().estimate(copy) == estimate).all()
    order = rng.permutation(50)
    assert protocol.estimate(reports.take(order)) == pytest.approx(estimate)
    assert protocol.log_likelihood(reports).shape == (50, protocol.d)
    assert protocol.guarantee.epsilon == 1.0
    assert protocol.report_bits >= 1
    one = protocol.privatize([0], rng)
    assert len(one) == 1
    assert np.isfinite(protocol.estimate(one)).all()
    if hasattr(protocol, "supports"):
        assert (protocol.supports(reports).sum(axis=0) == protocol.support_counts(reports)).all()


@pytest.mark.parametrize("protocol", [*protocols(1.0, 4), BinaryRandomizedResponse()], ids=named)
def test_bad_input_is_refused(protocol):
    rng = np.random.default_rng(0)
    d = protocol.d
    for epsilon in (0, -1, math.nan, math.inf, -math.inf, "1", True, None, 101, 1e-9):
        with pytest.raises(ValueError, match="epsilon"):
            protocol.clone().set_params(epsilon=epsilon)
    for values in ([0, d], [-1], [0.5], [math.nan], ["0"], [True], [[0]], 0):
        with pytest.raises(ValueError, match="values"):
            protocol.privatize(values, rng)
    with pytest.raises(ValueError, match="row 1 does not"):
        protocol.privatize([0, d, 0], rng)
    with pytest.raises(ValueError, match="empty"):
        protocol.estimate(protocol.privatize([], rng))
    reports = protocol.privatize([0, 1], rng)
    stranger = GeneralizedRandomizedResponse(epsilon=1.0, d=5)
    for other in (stranger, protocol.clone().set_params(epsilon=0.9)):
        with pytest.raises(ValueError, match="another protocol"):
            other.estimate(reports)
        with pytest.raises(ValueError, match="another protocol"):
            other.log_likelihood(reports)
    with pytest.raises(ValueError, match="must be what privatize returns"):
        protocol.estimate(reports.parts)
    for n in (0, -1, 1.5, math.nan, True):
        with pytest.raises(ValueError, match="n must"):
            protocol.variance(n, np.full(d, 1 / d))
    for shares in (np.full(d + 1, 1 / d), np.full(d, 2 / d), np.full(d, math.nan), np.r_[2, -1, np.zeros(d - 2)], 0.5):
        with pytest.raises(ValueError, match="frequencies"):
            protocol.variance(10, shares)


def test_bad_parameters_are_refused():
    for make in CANDIDATES:
        for d in (1, 0, -3, 2.0, math.nan, "4", True, 2**32 + 1):
            with pytest.raises(ValueError, match="d must"):
                make(epsilon=1.0, d=d)
    for make in (CountMeanSketch, HadamardCountMeanSketch):
        for name, value in (("m", 1), ("m", 1.5), ("k", 0), ("k", math.nan), ("hash_seed", -1), ("k", 2**32)):
            with pytest.raises(ValueError, match=name):
                make(**{name: value})
    with pytest.raises(ValueError, match="m must be a power of two"):
        HadamardCountMeanSketch(m=12)
    for name, value in (
        ("letters", "a"),
        ("letters", "aba"),
        ("letters", 5),
        ("length", 0),
        ("fragment", 4),
        ("fragment", 0),
        ("fragment_share", 0),
        ("fragment_share", 1),
        ("fragment_share", math.nan),
        ("m", 1),
        ("k", 0),
        ("hash_seed", -1),
    ):
        with pytest.raises(ValueError, match=name):
            SequenceFragmentPuzzle(**{name: value})
    with pytest.raises(ValueError, match="length must be at most 6 for 27 letters"):
        SequenceFragmentPuzzle(length=8)
    with pytest.raises(ValueError, match="one length"):
        ReportBatch(GeneralizedRandomizedResponse(), {"value": np.zeros(2), "other": np.zeros(3)})


@pytest.mark.parametrize("protocol", [*protocols(1.0, 16), BinaryRandomizedResponse(epsilon=1.0)], ids=named)
def test_tampered_reports_are_refused(protocol):
    reports = protocol.privatize(np.arange(8) % protocol.d, np.random.default_rng(0))
    assert np.isfinite(protocol.estimate(reports)).all()
    for name, part in reports.parts.items():
        wide = np.repeat(part[:, None] if part.ndim == 1 else part, 2, axis=1)
        other = (
            np.full(part.shape, -1),
            np.full(part.shape, 2**40),
            np.full(part.shape, np.nan),
            part.astype(object),
            wide,
        )
        for tampered in (*other, part.astype(float)):
            with pytest.raises(ValueError, match=f"reports: {name} must be"):
                protocol.estimate(ReportBatch(protocol, {**reports.parts, name: tampered}))
        top = protocol.parts[name].top
        if top is not None and top < np.iinfo(part.dtype).max:
            with pytest.raises(ValueError, match=f"within 0..{top}"):
                protocol.log_likelihood(ReportBatch(protocol, {**reports.parts, name: np.full_like(part, top + 1)}))
        with pytest.raises(ValueError, match="arrays of one length"):
            ReportBatch(protocol, {**reports.parts, name: part.tolist()})
        rest = {key: value for key, value in reports.parts.items() if key != name}
        with pytest.raises(ValueError, match=r"reports must consist of|arrays of one length"):
            protocol.estimate(ReportBatch(protocol, rest))
    with pytest.raises(ValueError, match="reports must consist of"):
        protocol.estimate(ReportBatch(protocol, {**reports.parts, "more": np.zeros(8)}))


@pytest.mark.parametrize("make", CANDIDATES)
def test_parameters_may_be_numbers_of_numpy(make):
    plain, numpy = make(epsilon=1.0, d=6), make(epsilon=np.float64(1.0), d=np.int64(6))
    reports = numpy.privatize(np.arange(6), np.random.default_rng(0))
    assert (plain.estimate(reports) == numpy.estimate(reports)).all()
    assert plain.report_bits == numpy.report_bits
    best = best_protocol(np.float64(1.0), np.int64(6), np.int64(50))
    assert best.get_params() == best_protocol(1.0, 6, 50).get_params()


def test_reports_under_other_public_functions_are_refused():
    first, second = (CountMeanSketch(epsilon=1.0, d=4, m=8, k=2, hash_seed=seed) for seed in (0, 1))
    with pytest.raises(ValueError, match="another protocol"):
        second.sketch(first.privatize([0], np.random.default_rng(0)))


def test_the_same_epsilon_written_otherwise_is_the_same_protocol():
    reports = OptimizedLocalHashing(epsilon=1, d=4).privatize([0], np.random.default_rng(0))
    assert OptimizedLocalHashing(epsilon=1.0, d=4).estimate(reports).shape == (4,)


def test_projections():
    counts = np.array([5.0, -1.0, 3.0, 0.5])
    exact = project_to_simplex(counts, 6)
    # Shift 1 leaves 4, 2 and nothing of .5.
    assert exact == pytest.approx([4, 0, 2, 0])
    assert norm_sub(counts, 6) == pytest.approx(exact)
    rng = np.random.default_rng(0)
    for d in (1, 2, 7, 100):
        noisy = rng.normal(3, 5, d)
        projected = project_to_simplex(noisy, 3.0 * d)
        assert projected.min() >= 0
        assert projected.sum() == pytest.approx(3.0 * d)
        others = 3.0 * d * rng.dirichlet(np.ones(d), 200)
        assert (np.linalg.norm(others - noisy, axis=1) >= np.linalg.norm(projected - noisy) - 1e-9).all()
        shifted = norm_sub(noisy, 3.0 * d)
        assert shifted.min() >= 0
        assert shifted.sum() == pytest.approx(3.0 * d)
        if noisy[noisy > 0].sum() >= 3.0 * d:
            assert shifted == pytest.approx(projected)
    # Raising: only what is positive already.
    assert norm_sub([-1.0, 0.5], 10) == pytest.approx([0, 10])
    assert project_to_simplex([-1.0, 0.5], 10) == pytest.approx([4.25, 5.75])
    assert norm_sub([-2.0, -1.0], 1) == pytest.approx([0, 1])
    assert norm_sub([2.0, 1.0], 0) == pytest.approx([0, 0])
    for function in (norm_sub, project_to_simplex):
        for bad in ([], [math.nan], [math.inf, 1], [[1.0]]):
            with pytest.raises(ValueError, match="counts"):
                function(bad, 1)
        for total in (-1, math.nan, "1"):
            with pytest.raises(ValueError, match="total"):
                function([1.0], total)


def test_best_protocol():
    for epsilon, d in ((0.5, 128), (1.0, 16), (4.0, 10), (2.0, 1024)):
        best = best_protocol(epsilon, d, 1000)
        even = np.full(d, 1 / d)
        least = min(make(epsilon=epsilon, d=d).variance(1000, even).mean() for make in CANDIDATES)
        assert best.variance(1000, even).mean() == pytest.approx(least)
        assert (best.epsilon, best.d) == (epsilon, d)
    # Sets of one value are randomized response, with the same report.
    assert isinstance(best_protocol(4.0, 10, 1000), GeneralizedRandomizedResponse)
    assert isinstance(best_protocol(1.0, 128, 1000), SubsetSelection)
    assert isinstance(best_protocol(1.0, 1024, 1000, report_bits=70), OptimizedLocalHashing)
    assert isinstance(best_protocol(1.0, 1024, 1000, report_bits=12), HadamardResponse)
    quick = best_protocol(1.0, 1024, 10**6, server_steps=2 * 10**6)
    assert steps(quick, 10**6) <= 2 * 10**6
    with pytest.raises(ValueError, match="report_bits"):
        best_protocol(1.0, 1024, 1000, report_bits=1)
    for bad in ({"n": 0}, {"n": math.nan}, {"d": 1}, {"epsilon": 0}, {"report_bits": 0}, {"server_steps": -1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            best_protocol(**{"epsilon": 1.0, "d": 4, "n": 10, **bad})


@pytest.fixture(scope="module")
def puzzle():
    return SequenceFragmentPuzzle(epsilon=8.0, m=512, k=64)


def test_words_without_a_dictionary_are_found(puzzle):
    rng = np.random.default_rng(0)
    common = ["emoji", "selfie", "yolo"]
    rare = puzzle.decode(rng.integers(puzzle.d, size=8000))
    words = common[:1] * 5000 + common[1:2] * 4000 + common[2:] * 3000 + rare
    found = puzzle.discover(puzzle.privatize(puzzle.encode(words), rng))
    assert sorted(puzzle.decode(found.values)) == sorted(common)
    # Five standard deviations of the word's sketch.
    sketch = puzzle.word_sketch
    noise = 5 * np.sqrt(len(words) * (sketch.c**2 - 1) / 4 + 5000**2 * 3 / sketch.k / sketch.m)
    assert np.abs(found.counts - [5000, 4000, 3000]).max() <= noise


def test_noise_alone_is_no_word(puzzle):
    rng = np.random.default_rng(1)
    for n in (1, 4000):
        found = puzzle.discover(puzzle.privatize(rng.integers(puzzle.d, size=n), rng))
        assert found.values.size == found.counts.size == 0


def test_words_and_numbers(puzzle):
    words = ["", "a", "zz", "selfie", "zzzzzz"]
    assert puzzle.decode(puzzle.encode(words)) == words
    for bad in ("toolong", "Ab", "é"):
        with pytest.raises(ValueError, match="row 1 has not") as caught:
            puzzle.encode(["ok", bad])
        assert bad not in str(caught.value)
    with pytest.raises(ValueError, match="empty"):
        puzzle.discover(puzzle.privatize([], np.random.default_rng(0)))
    with pytest.raises(ValueError, match="most"):
        puzzle.discover(puzzle.privatize([1], np.random.default_rng(0)), most=0)
    with pytest.raises(ValueError, match="another protocol"):
        puzzle.clone().set_params(hash_seed=9).discover(puzzle.privatize([1], np.random.default_rng(0)))
