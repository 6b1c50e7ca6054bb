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
from defenses.curators.answer_plan import GaussianAnswerNoise, LaplaceAnswerNoise
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
from defenses.federated.noise import PrivacyLossNoise, RenyiNoise, SequentialNoise
from defenses.ldp import SummationHistogramEncoding
from defenses.pram import perturbation
from metrics.columns import CategoricalDomain

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

    for module in ("laplace", "sparse_vector"):
        replace(f"defenses.dp.{module}", "two_sided_geometric", Fraction)
    replace("defenses.pram.perturbation", "two_sided_geometric", Fraction)
    for module in ("staircase", "report_noisy_max"):
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

    for module in ("staircase", "randomized_response"):
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

    monkeypatch.setattr(f"defenses.pram.private_retention.{tuning}", noted)
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

    for module in ("private_marginals", "counted_columns"):
        monkeypatch.setattr(f"defenses.synthetic.{module}.discrete_gaussian", gaussian)
    monkeypatch.setattr("defenses.dp.laplace.two_sided_geometric", geometric)
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
    method(epsilon=epsilon, delta=delta).apply(coins(columns, n), rng())
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
