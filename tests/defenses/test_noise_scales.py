"""The noise of every private mechanism against its formula, by arithmetic of its own.

The exact samplers (`defenses.dp.exact`) are tested beside them. Here they are replaced by samplers that note their
parameter and draw a constant. So each scale is compared exactly, without a statistical test, at three epsilons and two
sizes. The constant also shows that the noise is added once and in the right unit.
"""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from chance_tools import ALARM, chi_square
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from defenses import (
    AdaptiveIterativeMechanism,
    MaximumSpanningTree,
    Microdata,
    OptimalRetentionByObjective,
    OptimalRetentionByOutput,
    OptimalRetentionFromNoisyHistogram,
    PrivateMarginals,
    PrivBayes,
)
from defenses.base.queries import Median
from defenses.curators.answer_plan import GaussianAnswerNoise, LaplaceAnswerNoise, QuantileGrid, joint
from defenses.curators.planning import plan_of
from defenses.dp import (
    BinaryTree,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    RandomizedResponse,
    ReportNoisyMax,
    SparseVector,
    Staircase,
)
from defenses.dp.graphs import release_degree_counts, release_edge_count, release_triangle_count
from defenses.federated import noise as federated_noise
from defenses.federated.noise import PrivacyLossNoise, RenyiNoise, SequentialNoise
from defenses.ldp import BinaryLocalHashing, HadamardResponse, OptimizedLocalHashing, SummationHistogramEncoding
from defenses.ldp.encoding.hashing import buckets
from defenses.pram import perturbation
from defenses.pram.matrix import check_epsilon
from defenses.synthetic.graphical import estimation
from metrics.columns import CategoricalDomain, NumericDomain

EPSILONS = (0.1, 1.0, 8.0)
SENSITIVITIES = (1, 3)
DRAWN = 5
"""What the replaced samplers draw."""


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture
def noted(monkeypatch):
    """Return the parameters of the samplers that were called, by name of the sampler."""
    calls = {}

    def replace(place, name, note):
        def sampler(parameter, size, generator):
            calls.setdefault(name, []).append(note(parameter))
            return np.full(size, DRAWN, dtype=np.int64)

        monkeypatch.setattr(f"{place}.{name}", sampler)

    for module in ("pure_noise", "streams"):
        replace(f"defenses.dp.{module}", "two_sided_geometric", Fraction)
    replace("defenses.pram.perturbation", "two_sided_geometric", Fraction)
    for module in ("pure_noise", "selection"):
        replace(f"defenses.dp.{module}", "geometric", Fraction)
    for module in ("dp.gaussian", "curators.answer_plan"):
        replace(f"defenses.{module}", "discrete_gaussian", Fraction)
    return calls


@pytest.fixture
def odds(monkeypatch):
    """Return the parameters of the binary choices that were drawn, all of which turn out 0."""
    calls = []

    def categories(thresholds, size, generator):
        calls.append((thresholds.rate, thresholds.a, thresholds.b))
        return np.zeros(size, dtype=np.int64)

    for module in ("pure_noise", "randomized_response"):
        monkeypatch.setattr(f"defenses.dp.{module}.categories", categories)
    return calls


def lattice(sensitivity, scale, numbers=1):
    """Step of the lattice, and the number of steps between rounded values of neighbours."""
    step = Fraction(2) ** math.floor(math.log2(min(sensitivity, scale) / 2**20))
    return step, math.ceil(Fraction(sensitivity) / step) + numbers


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_laplace_noise_has_the_rate_epsilon_over_sensitivity(noted, epsilon, sensitivity):
    assert DiscreteLaplace(epsilon=epsilon, sensitivity=sensitivity).release(7, rng()) == 7 + DRAWN
    step, between = lattice(sensitivity, sensitivity / epsilon)
    _, between_three = lattice(sensitivity, sensitivity / epsilon, numbers=3)
    mechanism = Laplace(epsilon=epsilon, sensitivity=sensitivity)
    assert mechanism.release(7.0, rng()) == 7 + DRAWN * step
    assert mechanism.release([7.0, 8.0, 0.0], rng()).tolist() == [n + DRAWN * step for n in (7, 8, 0)]
    exact = Fraction(epsilon)
    assert noted["two_sided_geometric"] == [exact / sensitivity, exact / between, exact / between_three]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_staircase_noise_has_its_stairs_and_its_sides(noted, odds, monkeypatch, epsilon, sensitivity):
    mechanism = Staircase(epsilon=epsilon, sensitivity=sensitivity)
    step, s = lattice(sensitivity, sensitivity / epsilon)
    m = round(s / (1 + math.exp(epsilon / 2)))
    assert mechanism.steps == (s, m)
    released = mechanism.release(7.0, rng())
    assert noted["geometric"] == [Fraction(epsilon)] * len(odds)
    assert odds == [(Fraction(epsilon), m, s - m)] * len(odds)
    # Fifth stair, first part.
    assert DRAWN * s <= abs(released - 7) / step < DRAWN * s + m
    # The law that is stated is the one that is drawn: stair k of weight e^(-epsilon k), m steps, then s - m with one e
    # less; zero has one sign.
    q = math.exp(-epsilon)
    at = np.array([0, m - 1, m, s - 1, s, 2 * s + m, -1, -s])
    levels = np.array([0, 0, 1, 1, 1, 3, 0, 1])
    mass = 2 * (m + (s - m) * q) / (1 - q) - 1
    assert mechanism.probability(at) == pytest.approx(q**levels / mass)


def test_the_staircase_draws_zero_with_one_sign(monkeypatch):
    """With stairs of one step, zero has probability (1 - q) / (1 + q); at the rate below chance alone gives it."""
    monkeypatch.setattr(Staircase, "steps", property(lambda self: (1, 1)))
    drawn = Staircase(epsilon=1.0)._sample_steps(40_000, rng(3))
    q = math.exp(-1)
    share = (1 - q) / (1 + q)
    # Five standard errors: a false alarm in one of 10^6 seeds.
    assert abs((drawn == 0).mean() - share) < 5 * math.sqrt(share * (1 - share) / drawn.size)
    assert abs((drawn > 0).mean() - (1 - share) / 2) < 5 * math.sqrt(0.25 / drawn.size)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_selections_are_scaled_to_twice_the_sensitivity(noted, epsilon, sensitivity):
    step, between = lattice(sensitivity, sensitivity / epsilon)
    ReportNoisyMax(epsilon=epsilon, sensitivity=sensitivity).release([0.0, 1.0], rng())
    assert noted["geometric"] == [Fraction(epsilon) / (2 * between)]
    weights, level = Exponential(epsilon=epsilon, sensitivity=sensitivity)._weights(np.array([0.0, 2.0, 1.0]))
    assert level.tolist() == [2, 0, 1]
    assert weights[0] is None
    assert [weight.rate for weight in weights[1:]] == [Fraction(epsilon) / (2 * between) * n / step for n in (1, 2)]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
@pytest.mark.parametrize("count", [1, 4])
def test_sparse_vector_shares_epsilon_between_threshold_and_values(noted, epsilon, sensitivity, count):
    _, between = lattice(sensitivity, sensitivity / epsilon)
    ratio = (2 * count) ** (2 / 3)
    mechanism = SparseVector(epsilon=epsilon, sensitivity=sensitivity, count=count)
    assert mechanism.shares == pytest.approx((epsilon / (1 + ratio), epsilon * ratio / (1 + ratio)))
    assert sum(map(Fraction, mechanism.shares)) <= Fraction(epsilon) * (1 + Fraction(1, 2**50))
    # Equal noise leaves the order of value and threshold, and a value at the threshold is above.
    assert mechanism.release([-1.0, 0.0], rng()).tolist() == [False, True]
    first, second = map(Fraction, mechanism.shares)
    assert noted["two_sided_geometric"] == [first / between, second / (2 * count * between)]
    scales = [sensitivity / float(first), 2 * count * sensitivity / float(second)]
    assert mechanism.variance == pytest.approx(2 * sum(scale**2 for scale in scales), rel=1e-5)
    beta, values = 0.05, 10
    bound = scales[0] * math.log(2 / beta) + scales[1] * math.log(2 * values / beta)
    assert mechanism.error_bound(1 - beta, values) == pytest.approx(bound, rel=1e-4)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("horizon", "levels"), [(1, 1), (8, 4), (64, 7), (100, 7)])
def test_nodes_of_a_tree_share_epsilon(noted, epsilon, horizon, levels):
    BinaryTree(epsilon=epsilon, horizon=horizon, sensitivity=3).release([1] * horizon, rng())
    assert set(noted["two_sided_geometric"]) == {Fraction(epsilon / levels) / 3}


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("d", [2, 7])
def test_a_true_answer_has_e_epsilon_times_the_chance_of_each_other(odds, epsilon, d):
    RandomizedResponse(epsilon=epsilon, d=d).release(np.zeros(3, dtype=np.int64), rng())
    assert odds == [(Fraction(epsilon), 1, d - 1)]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_gaussian_noise_spends_its_delta_and_no_more(noted, epsilon, sensitivity):
    delta = 1e-5
    smooth = Gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    assert smooth.release(7.0, rng()) == 7 + DRAWN * smooth.resolution
    spread = math.sqrt(noted["discrete_gaussian"].pop()) / (sensitivity / Fraction(smooth.resolution))
    reached = norm.cdf(0.5 / spread - epsilon * spread) - math.exp(epsilon) * norm.cdf(-0.5 / spread - epsilon * spread)
    assert delta * (1 - 2.0**-9) <= reached <= delta
    assert smooth.resolution <= 2.0**-20 * min(sensitivity, smooth.sigma)
    discrete = DiscreteGaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    assert discrete.release(7, rng()) == 7 + DRAWN
    variance = float(noted["discrete_gaussian"].pop())
    at = np.arange(-400, 401)
    law, moved = (np.exp(-((at - shift) ** 2) / (2 * variance)) for shift in (0, sensitivity))
    reached = np.maximum(law - math.exp(epsilon) * moved, 0).sum() / law.sum()
    assert reached <= delta * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [5, 12])
def test_statistics_of_graphs_have_the_noise_of_their_sensitivity(noted, epsilon, n):
    triangle, bound = np.array([[0, 1], [1, 2], [0, 2]]), 2
    answers = [
        (release_edge_count, {}, 3, {"edge": 1, "node": n - 1}),
        (release_edge_count, {"bound": bound}, 3, {"edge": 1, "node": bound}),
        (release_triangle_count, {}, 1, {"edge": n - 2, "node": (n - 1) * (n - 2) // 2}),
        (release_degree_counts, {"bound": bound}, [n - 3, 0, 3], {"edge": 4, "node": min(4 * bound + 2, 2 * n)}),
    ]
    for release, extra, value, sensitivities in answers:
        for level, sensitivity in sensitivities.items():
            noisy = release(triangle, n, rng(), epsilon=epsilon, level=level, **extra)
            assert np.array_equal(noisy, np.add(value, DRAWN))
            assert noted["two_sided_geometric"].pop() == Fraction(epsilon) / sensitivity


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_answers_of_curators_have_laplace_noise(noted, epsilon, sensitivity):
    noise = LaplaceAnswerNoise(epsilon, rng())
    step, between = lattice(sensitivity, sensitivity / epsilon)
    assert noise.number(7.0, sensitivity) == 7 + DRAWN * step
    assert noise.counts(np.array([1.0, 2.0]), replaced=False).tolist() == [1 + DRAWN, 2 + DRAWN]
    assert noise.counts(np.array([1.0, 2.0]), replaced=True).tolist() == [1 + DRAWN, 2 + DRAWN]
    noise.split(4).counts(np.array([1.0]), replaced=True)
    exact = Fraction(epsilon)
    assert noted["two_sided_geometric"] == [exact / between, exact, exact / 2, exact / 8]
    assert noise.selection() == epsilon


@pytest.mark.parametrize("rho", [0.005, 0.125, 4.0])
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_answers_of_curators_have_gaussian_noise(noted, rho, sensitivity):
    """The variance is sensitivity^2 / (2 rho), in L2 norm; a record that moves between two cells moves by sqrt 2."""
    noise = GaussianAnswerNoise(rho, rng())
    step, between = lattice(sensitivity, sensitivity / math.sqrt(2 * rho))
    assert noise.number(7.0, sensitivity) == 7 + DRAWN * step
    assert noise.counts(np.array([1.0, 2.0]), replaced=False).tolist() == [1 + DRAWN, 2 + DRAWN]
    noise.counts(np.array([1.0]), replaced=True)
    noise.split(4).counts(np.array([1.0]), replaced=True)
    exact = Fraction(rho)
    assert noted["discrete_gaussian"] == [between**2 / (2 * exact), 1 / (2 * exact), 1 / exact, 4 / exact]
    assert noise.selection() ** 2 / 2 == pytest.approx(rho)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("counts", [[4, 3], [400, 300, 200, 100, 50]])
def test_a_noisy_histogram_has_the_noise_of_two_changed_counts(noted, epsilon, counts):
    noisy = perturbation.noisy_histogram(counts, epsilon, rng())
    assert noted["two_sided_geometric"] == [Fraction(epsilon) / 2]
    # Equal noise on all counts leaves no trace after the projection to the public total.
    assert noisy == pytest.approx(counts)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize(
    ("method", "tuning"),
    [
        (OptimalRetentionFromNoisyHistogram, "noisy_histogram"),
        (OptimalRetentionByObjective, "retention_by_objective"),
        (OptimalRetentionByOutput, "retention_by_output"),
    ],
)
def test_columns_of_private_pram_share_both_budgets(monkeypatch, epsilon, columns, method, tuning):
    records, spent = coins(columns, 40), []
    tune = getattr(perturbation, tuning)

    def noted(counts, *epsilons):
        spent.append(epsilons[:-1])
        return tune(counts, *epsilons)

    monkeypatch.setattr(f"defenses.pram.retention_defenses.{tuning}", noted)
    release = method(epsilon_matrix=epsilon, epsilon_release=2.0).apply(records, rng())
    assert [budget[0] for budget in spent] == pytest.approx([epsilon / columns] * columns)
    assert all(budget[1:] in ((), pytest.approx((2.0 / columns,))) for budget in spent)
    # One of two categories is kept, with a probability of its own, or becomes the other.
    for part in release.channel.parts:
        kept = np.asarray(part.retention)
        assert (kept <= math.exp(2.0 / columns) * (1 - kept)[::-1] + 1e-9).all()


def coins(columns, n, seed=0):
    """Columns of two categories, each of which repeats the first one with few errors."""
    generator = rng(seed)
    first = generator.integers(0, 2, n)
    cells = {f"c{i}": np.where(generator.random(n) < 0.05, 1 - first, first) for i in range(columns)}
    frame = pd.DataFrame(cells).map(lambda code: ("no", "yes")[code])
    return Microdata(
        frame, quasi_identifiers=tuple(cells), domains=dict.fromkeys(cells, CategoricalDomain(("no", "yes")))
    )


def concentrated(rho, epsilon):
    """Least delta that rho gives at epsilon, by the moments of the loss (Canonne, Kamath and Steinke, 2020)."""

    def logarithm(order):
        alpha = 1 + math.exp(order)
        return (alpha - 1) * (alpha * rho - epsilon) - math.log(alpha - 1) + alpha * math.log1p(-1 / alpha)

    return math.exp(minimize_scalar(logarithm, bounds=(-12, 12), method="bounded", options={"xatol": 1e-10}).fun)


@pytest.fixture
def spent(monkeypatch):
    """Return what a synthesis spends: variances with the number of cells, and epsilons of selections."""
    ledger = {"gaussian": [], "laplace": [], "selections": []}
    from defenses.dp.exact import discrete_gaussian, two_sided_geometric

    def gaussian(variance, size, generator):
        ledger["gaussian"].append((Fraction(variance), size))
        return discrete_gaussian(variance, size, generator)

    def geometric(rate, size, generator):
        ledger["laplace"].append((Fraction(rate), size))
        return two_sided_geometric(rate, size, generator)

    select = Exponential._selected

    def selected(mechanism, *arguments):
        ledger["selections"].append((mechanism.epsilon, mechanism.sensitivity))
        return select(mechanism, *arguments)

    for module in ("spanning_trees", "graphical.estimation"):
        monkeypatch.setattr(f"defenses.synthetic.{module}.discrete_gaussian", gaussian)
    monkeypatch.setattr("defenses.dp.pure_noise.two_sided_geometric", geometric)
    monkeypatch.setattr(Exponential, "_selected", selected)
    return ledger


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("method", [PrivateMarginals, MaximumSpanningTree, AdaptiveIterativeMechanism])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("columns", [4, 2])
def test_a_graphical_synthesis_spends_its_budget_and_no_more(spent, method, epsilon, columns):
    """Counts of a marginal with variance v cost 1 / v (a replaced record changes two of them), a choice epsilon^2 / 8.

    All columns have two categories: a one-way marginal has 2 cells, that of a pair 4.
    """
    delta, n = 1e-5, 100_000
    synthesis = method(epsilon=epsilon, delta=delta)
    synthesis.apply(coins(columns, n), rng())
    if method is PrivateMarginals:
        # All one-way counts are drawn at once, and so are all pairs.
        marginals = [size // cells for (_, size), cells in zip(spent["gaussian"], (2, 4), strict=True)]
        assert marginals == [columns, columns - 1]
    else:
        marginals = [1] * len(spent["gaussian"])
    assert {sensitivity for _, sensitivity in spent["selections"]} == {2}
    counts = sum(times / variance for times, (variance, _) in zip(marginals, spent["gaussian"], strict=True))
    choices = sum(Fraction(chosen) ** 2 / 8 for chosen, _ in spent["selections"])
    assert concentrated(float(counts + choices), epsilon) == pytest.approx(delta, rel=1e-4)
    # No rounding spends more than the budget.
    assert counts + choices <= Fraction(synthesis.rho)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("columns", [1, 4])
def test_a_bayesian_network_spends_its_epsilon_and_no_more(spent, epsilon, columns):
    """Its counts have integer noise for an L1 distance of 2, its choices the exponential mechanism."""
    PrivBayes(epsilon=epsilon).apply(coins(columns, 100_000), rng())
    counts = sum(2 * rate for rate, _ in spent["laplace"])
    choices = sum(map(Fraction, (chosen for chosen, _ in spent["selections"])))
    assert len(spent["selections"]) == columns - 1
    assert Fraction(epsilon) * (1 - Fraction(1, 2**40)) <= counts + choices <= Fraction(epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 8.0])
@pytest.mark.parametrize("rounds", [10, 40])
def test_noise_of_a_training_spends_its_budget_over_all_rounds(epsilon, rounds):
    """Standard deviations in units of the sensitivity; one Gaussian mechanism with shift sqrt(rounds) / z is exact."""
    delta = 1e-5
    classical = math.sqrt(2 * math.log(1.25 * rounds / delta)) * rounds / epsilon
    assert SequentialNoise(epsilon=epsilon, delta=delta).multiplier(rounds) == pytest.approx(classical)
    shift = math.sqrt(rounds) / PrivacyLossNoise(epsilon=epsilon, delta=delta).multiplier(rounds)
    reached = norm.cdf(shift / 2 - epsilon / shift) - math.exp(epsilon) * norm.cdf(-shift / 2 - epsilon / shift)
    assert reached == pytest.approx(delta, rel=1e-6)
    # The moments of the loss need a little more noise than the exact law.
    moments = RenyiNoise(epsilon=epsilon, delta=delta).multiplier(rounds)
    assert 1 <= moments * shift / math.sqrt(rounds) <= 1.2
    assert concentrated(rounds / (2 * moments**2), epsilon) <= delta * (1 + 1e-3)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("d", [2, 7])
def test_reported_histograms_have_the_noise_of_two_changed_counts(monkeypatch, epsilon, d):
    """Two geometric variables of success 1 - e^(-epsilon / (2 units)) make the discrete Laplace noise of a cell."""
    mechanism, asked = SummationHistogramEncoding(epsilon=epsilon, d=d), []

    class Recorder:
        def geometric(self, success, shape):
            asked.append(success)
            return np.full(shape, 2 if len(asked) % 2 else 1)

    reports = mechanism._randomized(np.array([0, 1]), Recorder())["number"]
    assert asked == pytest.approx([-math.expm1(-epsilon / (2 * mechanism.units))] * 2)
    assert reports.tolist() == (1 + mechanism.units * np.eye(2, d)).tolist()


# What mechanisms state about their noise, by enumeration of its law.


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_variances_are_those_of_the_law(epsilon, sensitivity):
    laplace = DiscreteLaplace(epsilon=epsilon, sensitivity=sensitivity)
    at = np.arange(-2000, 2001)
    assert laplace.variance == pytest.approx((laplace.probability(at) * at**2).sum())
    # A continuous law has 2 (s / epsilon)^2; the lattice is finer than 2^-20 of it.
    smooth = Laplace(epsilon=epsilon, sensitivity=sensitivity)
    assert smooth.variance == pytest.approx(2 * (sensitivity / epsilon) ** 2, rel=1e-5)
    gaussian = DiscreteGaussian(epsilon=epsilon, delta=0.01, sensitivity=sensitivity)
    assert gaussian.variance == pytest.approx((gaussian.probability(at) * at**2).sum(), rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("s", "m"), [(1, 1), (5, 2), (64, 20)])
def test_the_variance_and_the_bound_of_a_staircase_are_those_of_its_law(monkeypatch, epsilon, s, m):
    """A coarse lattice is enumerated: as many stairs as have a probability above 10^-17."""
    monkeypatch.setattr(Staircase, "steps", property(lambda self: (s, m)))
    monkeypatch.setattr(Staircase, "resolution", 0.5)
    mechanism = Staircase(epsilon=epsilon)
    at = np.arange(-s * math.ceil(40 / epsilon), s * math.ceil(40 / epsilon) + 1)
    law = mechanism.probability(at)
    assert law.sum() == pytest.approx(1)
    assert mechanism.variance == pytest.approx((law * at**2).sum() / 4)
    for confidence in (0.5, 0.95, 0.999):
        within = np.cumsum(np.where(np.arange(at.max() + 1) > 0, 2, 1) * law[at >= 0])
        least = int(np.argmax(within >= confidence - 1e-12))
        assert mechanism.error_bound(confidence) == pytest.approx((least + 0.5) / 2)


def test_bounds_on_errors_are_quantiles():
    """Two-sided normal quantiles with a step and a half for the lattice; a tree adds the bounds of its levels."""
    mechanism = Gaussian(epsilon=1.0, delta=0.01)
    beyond = norm.isf(0.025) * mechanism.sigma
    assert mechanism.error_bound(0.95) - beyond == pytest.approx(1.5 * mechanism.resolution, rel=1e-6)
    tree = BinaryTree(epsilon=1.0, horizon=8)
    node = DiscreteLaplace(epsilon=0.25).error_bound(1 - 0.05 / 8)
    assert tree.error_bound(0.95) == 4 * node


@pytest.mark.parametrize("mechanism", [Laplace, DiscreteLaplace, Staircase, Exponential, SparseVector])
def test_epsilon_and_sensitivity_that_cannot_be_drawn_are_refused(mechanism):
    for epsilon in (2.0**-21, 2.0**21, 0.0, -40.0, math.nan):
        with pytest.raises(ValueError, match="epsilon"):
            mechanism(epsilon=epsilon)
    for sensitivity in (2.0**-501, 2.0**501, 0.0, math.inf):
        with pytest.raises(ValueError, match="sensitivity"):
            mechanism(epsilon=1.0, sensitivity=sensitivity)
    mechanism(epsilon=2.0**20, sensitivity=2.0**-20)


def test_options_in_groups_have_the_law_of_single_options():
    """Groups of 3, 1 and 2 options with scores 0, 2 and 1; 1,500 draws, a false alarm in one of 10,000 seeds."""
    mechanism, sizes = Exponential(epsilon=2.0), np.array([3, 1, 2])
    generator = rng(4)
    drawn = [mechanism.release_grouped([0.0, 2.0, 1.0], sizes, generator) for _ in range(1500)]
    places = np.array([0, 3, 4])
    seen = np.bincount([places[group] + option for group, option in drawn], minlength=6)
    assert chi_square(seen, mechanism.probabilities([0.0, 0.0, 0.0, 2.0, 1.0, 1.0])) > ALARM


def test_the_moments_of_a_selection_do_not_depend_on_a_shift():
    mechanism = Exponential(epsilon=1.0)
    scores = np.array([0.0, 1.0, 3.0])
    law = mechanism.probabilities(scores)
    mean = (law * scores).sum()
    for shift in (0.0, 1e9):
        assert mechanism.bias(scores + shift) == pytest.approx(mean - 3.0, rel=1e-6)
        assert mechanism.variance(scores + shift) == pytest.approx((law * (scores - mean) ** 2).sum(), rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("protocol", [BinaryLocalHashing, OptimizedLocalHashing])
def test_a_hashed_value_is_denied_as_often_as_its_epsilon_needs(protocol, epsilon):
    """The true bucket has e^epsilon times the chance of each of the g - 1 others, which are equally likely."""
    mechanism = protocol(epsilon=epsilon, d=5)
    g, values = mechanism.buckets, np.zeros(3000, dtype=np.int64)
    lie = (g - 1) / (math.exp(epsilon) + g - 1)
    for uniform, lies in ((lie * (1 - 1e-9), True), (lie * (1 + 1e-9), False)):
        reports = mechanism.privatize(values, Uniform(uniform))
        assert (mechanism.supports(reports)[:, 0] != lies).all()
        if lies:
            true = buckets(reports.parts["seed"], values, g)
            away = np.bincount((reports.parts["bucket"].astype(np.int64) - true) % g, minlength=g)
            assert away[0] == 0
            # Buckets are drawn 10 times or more; one of 10,000 seeds raises a false alarm.
            assert g == 2 or g > 300 or chi_square(away[1:], np.full(g - 1, 1 / (g - 1))) > ALARM


class Uniform(np.random.Generator):
    """A generator whose numbers in [0, 1) are all the same."""

    def __init__(self, number):
        super().__init__(np.random.PCG64(0))
        self.number = number

    def random(self, size=None, *arguments, **options):
        return np.full(size, self.number)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("d", [3, 9])
def test_hadamard_response_answers_in_the_set_of_its_value(epsilon, d):
    """An answer of the value's set has e^epsilon / Z, any other 1 / Z; 40,000 draws of each of two values."""
    mechanism = HadamardResponse(epsilon=epsilon, d=d)
    b = mechanism.block_size
    answers = np.arange(mechanism.blocks * b)
    assert mechanism.blocks == 2 ** max(0, math.ceil(math.log2(min(math.exp(epsilon), 2 * d) / 2)))
    for value in (0, d - 1):
        block, row = divmod(value, b - 1)
        signs = np.array([(-1) ** ((row + 1) & column).bit_count() for column in range(b)])
        weights = np.where((answers // b == block) & (signs[answers % b] > 0), math.exp(epsilon), 1.0)
        drawn = mechanism.privatize(np.full(40_000, value), rng(value)).parts["answer"]
        assert chi_square(np.bincount(drawn, minlength=answers.size), weights / weights.sum()) > ALARM


# Parts of releases that noise alone does not determine.


@pytest.mark.parametrize(("d", "n"), [(2, 10), (6, 1000)])
def test_bounds_of_the_proofs_of_private_pram_are_no_larger_than_stated(d, n):
    gradient, curvature = perturbation._changes(d, n)
    assert gradient == pytest.approx((2**0.5 + 1 + 1 / d) / n)
    assert curvature == pytest.approx((2 + (8**0.5 + 2 / n) / d) / n)


@pytest.mark.parametrize("tune", [perturbation.retention_by_output, perturbation.retention_by_objective])
def test_the_regularisation_of_private_pram_pulls_towards_retention_replacement(monkeypatch, tune):
    """At a tiny epsilon the objective is all regularisation; without noise, the public retention is left."""
    monkeypatch.setattr(perturbation, "_spherical", lambda d, scale, generator: np.zeros(d))
    kept = math.e / (math.e + 3)
    assert tune([40.0, 30.0, 20.0, 10.0], 1e-9, 1.0, rng()) == pytest.approx([kept] * 4, rel=1e-6)


@pytest.mark.parametrize("bad", [True, 0.0, -1.0, math.nan, "1", None])
def test_an_epsilon_of_pram_is_a_positive_number(bad):
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        check_epsilon(bad)


def test_noisy_totals_far_below_the_records_are_scaled():
    """Counts sum to 50 of 100: within three deviations of the noise they stay, beyond they are scaled by 2."""
    for variance, factor in ((400.0, 1), (100.0, 2)):
        scaled = estimation.to_total(estimation.NoisyMarginal((0,), np.array([30.0, 20.0]), variance), 100)
        assert scaled.counts.tolist() == [30 * factor, 20 * factor]
        assert scaled.variance == variance * factor**2
        assert scaled.present == 1 / factor


def test_noise_of_a_training_is_added_once_and_rounded_after_it():
    class Once(np.random.Generator):
        def normal(self, mean, scale, shape):
            assert mean == 0
            return np.full(shape, 1.2345678912345 * scale)

    for scale in (0.3, 7.0):
        got = federated_noise.noisy(np.array([1.0, -2.0]), scale, Once(np.random.PCG64(0)))
        grid = 2.0 ** math.floor(math.log2(scale / 2**20))
        assert np.abs(got - (np.array([1.0, -2.0]) + 1.2345678912345 * scale)).max() <= grid / 2
        assert (got / grid == np.rint(got / grid)).all()


def test_points_of_a_grid_reach_from_bound_to_bound():
    for low, high, decimals in ((-3.0, 5.0, 0), (-2.5, 10.0, 1), (-3.0, 5.0, None), (0.0, 1e9, None)):
        grid = QuantileGrid.of(low, high, decimals=decimals)
        assert grid.value(0) == low
        assert grid.value(grid.points - 1) == high
        assert grid.positions(np.array([low, high, high + 1])).tolist() == [0, grid.points - 1, grid.points - 1]


def test_several_bounds_share_the_error():
    assert joint(0.95, 1) == 0.95
    assert joint(0.95, 5) == pytest.approx(0.99)


def test_every_point_of_the_grid_may_be_selected_whatever_the_records_are():
    """Otherwise an answer that is possible on one table would be impossible on its neighbour."""
    domain = NumericDomain(0, 100, integer=True, cuts=(50,))
    records = Microdata(pd.DataFrame({"age": [40, 40, 60]}), quasi_identifiers=("age",), domains={"age": domain})
    ((starts, scores),) = plan_of(Median("age"), records, "replace").exact(records)
    assert starts.tolist() == [0, 40, 41, 60, 61]
    assert scores.argmax() == 1
