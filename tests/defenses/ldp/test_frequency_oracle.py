"""Every protocol of local differential privacy: likelihoods, epsilon, probabilities, bad input."""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import binom

from defenses.ldp import (
    BinaryLocalHashing,
    BinaryRandomizedResponse,
    CountMeanSketch,
    FrequencyOracle,
    GeneralizedRandomizedResponse,
    HadamardCountMeanSketch,
    OptimizedLocalHashing,
    OptimizedUnaryEncoding,
    PureOracle,
    ReportBatch,
    SequenceFragmentPuzzle,
    SummationHistogramEncoding,
    SymmetricUnaryEncoding,
    best_protocol,
)
from defenses.ldp.best import CANDIDATES
from defenses.ldp.bit_vectors import UnaryEncoding
from defenses.ldp.frequency_oracle import Part, guess_among_independent, numbers_to, packed


def test_parts_must_be_arrays_of_one_length():
    for parts in (
        {"value": np.zeros(2), "other": np.zeros(3)},
        {"value": [0, 1]},
        {"value": np.array(3)},
        {"value": np.zeros(2), "other": None},
        {},
    ):
        with pytest.raises(ValueError, match="arrays of one length, one entry a person"):
            ReportBatch(GeneralizedRandomizedResponse(), parts)


def test_reports_are_counted_measured_and_taken_in_any_order():
    protocol = GeneralizedRandomizedResponse(d=300)
    batch = ReportBatch(protocol, {"a": np.arange(5, dtype=np.uint16), "b": np.arange(10.0).reshape(5, 2)})
    assert len(batch) == 5
    assert batch.nbytes == 5 * 2 + 10 * 8
    taken = batch.take([4, 0, 4])
    assert taken.protocol is protocol
    assert taken.parts["a"].tolist() == [4, 0, 4]
    assert taken.parts["b"].tolist() == [[8, 9], [0, 1], [8, 9]]
    assert batch.take(np.array([True, False, False, False, True])).parts["a"].tolist() == [0, 4]
    assert len(batch.take(np.array([], dtype=int))) == 0
    with pytest.raises(IndexError):
        batch.take([5])


def test_a_batch_does_not_print_its_reports():
    text = repr(ReportBatch(GeneralizedRandomizedResponse(d=9), {"value": np.array([7, 7, 7])}))
    assert "GeneralizedRandomizedResponse" in text
    assert "7" not in text


def test_numbers_have_the_smallest_type():
    assert [numbers_to(top).dtype for top in (1, 255, 256, 2**16, 2**32)] == [
        np.dtype(kind) for kind in ("u1", "u1", "u2", "u4", "u8")
    ]
    assert [packed(width).columns for width in (1, 8, 9, 1024)] == [1, 1, 2, 128]


@pytest.mark.parametrize(
    ("array", "fits"),
    [
        (np.array([0, 4], dtype=np.uint8), True),
        (np.array([], dtype=np.uint8), True),
        (np.array([0, 5], dtype=np.uint8), False),
        (np.array([0, 4], dtype=np.int64), False),
        (np.array([0.0, np.nan]), False),
        (np.zeros((2, 1), dtype=np.uint8), False),
        (np.array(3, dtype=np.uint8), True),
        ([0, 4], False),
        (None, False),
    ],
)
def test_numbers_fit_by_type_shape_and_range(array, fits):
    # An array without dimensions has a part's shape; a batch refuses it.
    assert numbers_to(4).fits(array) == fits


def test_rows_fit_by_their_width():
    part = Part(np.int8, columns=2, top=1)
    assert part.fits(np.array([[0, 1], [1, 0]], dtype=np.int8))
    assert not part.fits(np.array([[0, -1]], dtype=np.int8))
    assert not part.fits(np.zeros((2, 3), dtype=np.int8))
    assert not part.fits(np.zeros(2, dtype=np.int8))
    assert packed(9).fits(np.full((3, 2), 255, dtype=np.uint8))


def test_formats_are_described():
    assert str(numbers_to(4)) == "uint8, shape (n,), within 0..4"
    assert str(packed(9)) == "uint8, shape (n, 2)"


SKETCH = {"m": 4, "k": 3}


def protocols(epsilon, d):
    """Return one of each protocol that takes d values."""
    instances = [make(epsilon=epsilon, d=d) for make in CANDIDATES if "m" not in make.parameter_names()]
    instances += [make(epsilon=epsilon, d=d, **SKETCH) for make in (CountMeanSketch, HadamardCountMeanSketch)]
    letters = "abcdefgh"[: round(d**0.5)]
    if len(letters) ** 2 == d:
        instances.append(SequenceFragmentPuzzle(epsilon=epsilon, letters=letters, length=2, fragment=1, **SKETCH))
    return [*instances, BinaryRandomizedResponse(epsilon=epsilon)] if d == 2 else instances


def class_name(protocol):
    return type(protocol).__name__


class WholeBudgetOnEachBit(UnaryEncoding):
    """Broken encoding that flips each bit as if it had the whole budget: its epsilon is twice the claim."""

    p = property(lambda self: float(1 / (1 + np.exp(-self.epsilon))))
    q = property(lambda self: float(1 / (1 + np.exp(self.epsilon))))


def odds(protocol, n=300_000):
    """Claimed and measured log-odds of reports between values 0 and 1, and the standard error of the measurement.

    Reports are classified by their likelihoods alone, and only frequent classes are returned.
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


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize(
    "protocol", [p for p in protocols(1.0, 4) if p.d == 4 and class_name(p)[:3] != "Sum"], ids=class_name
)
def test_likelihoods_are_those_of_the_reports_and_epsilon_holds(protocol):
    # At most 12 kinds of reports each: 5 standard errors give a false alarm in 10^5 runs of all protocols.
    claimed, measured, error = odds(protocol)
    assert len(claimed) >= 2
    assert (np.abs(measured - claimed) <= 5 * error).all()
    assert (np.abs(claimed) <= 1 + 1e-9).all()
    if class_name(protocol)[:11] != "Thresholded":
        assert np.abs(claimed).max() == pytest.approx(1.0)


@pytest.mark.parametrize("protocol", [*protocols(1.0, 9), *protocols(1.0, 2)], ids=class_name)
def test_indicators_add_up_to_the_estimates(protocol):
    reports = protocol.privatize(np.arange(200) % protocol.d, np.random.default_rng(2))
    indicators = protocol.indicators(reports)
    assert indicators.shape == (200, protocol.d)
    np.testing.assert_allclose(indicators.sum(axis=0), protocol.estimate(reports), atol=1e-8)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("d", [2, 9])
def test_the_best_guess_is_right_as_often_as_its_closed_form_says(epsilon, d):
    n = 40_000
    for protocol in protocols(epsilon, d):
        if not isinstance(protocol, PureOracle) or "k" in protocol.parameter_names():
            continue  # The few functions of the sketches here share columns.
        rng = np.random.default_rng([round(epsilon), d])
        values = rng.integers(d, size=n)
        logs = protocol.log_likelihood(protocol.privatize(values, rng))
        right = ((logs + 1e-6 * rng.random(logs.shape)).argmax(axis=1) == values).mean()
        # Some 45 comparisons in 5 standard errors: a false alarm in 3 of 10^5 runs.
        assert right == pytest.approx(protocol.best_guess, abs=5 * 0.5 / np.sqrt(n)), protocol


@pytest.mark.parametrize("epsilon", [4.0, 7.0, 11.0, 30.0, 100.0])
def test_randomized_response_gives_the_value_away_and_optimized_protocols_half_of_the_time(epsilon):
    d = 50
    assert GeneralizedRandomizedResponse(epsilon=epsilon, d=d).best_guess == pytest.approx(
        math.exp(epsilon) / (math.exp(epsilon) + d - 1)
    )
    # A guess at random among d values remains where no value is supported.
    assert 0.3 < OptimizedUnaryEncoding(epsilon=epsilon, d=d).best_guess < 0.5 + 0.51 / d
    if epsilon <= 11:  # Above, hashing keeps 65,536 buckets.
        assert 0.3 < OptimizedLocalHashing(epsilon=epsilon, d=d).best_guess < 0.51 + 0.51 / d


def test_a_report_that_spends_the_budget_on_each_bit_is_caught():
    claimed, measured, error = odds(WholeBudgetOnEachBit(epsilon=1.0, d=4))
    assert np.abs(claimed).max() == pytest.approx(2.0)
    assert (np.abs(measured) - 5 * error).max() > 1.0


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


@pytest.mark.parametrize("protocol", [*protocols(1.0, 9), *protocols(1.0, 2)], ids=class_name)
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


@pytest.mark.parametrize("protocol", [*protocols(1.0, 4), BinaryRandomizedResponse()], ids=class_name)
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


@pytest.mark.parametrize("protocol", [*protocols(1.0, 16), BinaryRandomizedResponse(epsilon=1.0)], ids=class_name)
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


@pytest.mark.thorough_beyond(10)
@pytest.mark.parametrize("make", CANDIDATES)
def test_parameters_may_be_numbers_of_numpy(make):
    plain, numpy = make(epsilon=1.0, d=6), make(epsilon=np.float64(1.0), d=np.int64(6))
    reports = numpy.privatize(np.arange(6), np.random.default_rng(0))
    assert (plain.estimate(reports) == numpy.estimate(reports)).all()
    assert plain.report_bits == numpy.report_bits
    best = best_protocol(np.float64(1.0), np.int64(6), np.int64(50))
    assert best.get_params() == best_protocol(1.0, 6, 50).get_params()


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
