"""PRAM with privately tuned matrices: guarantees and a distinguishing audit."""

import pickle
from itertools import permutations, product
from math import exp, inf, log

import numpy as np
import pandas as pd
import pytest
from pram_tools import AGE, JOB, PRIVATE, _plain, every_form, people

from defenses import (
    Channel,
    Microdata,
    OptimalRetention,
    OptimalRetentionByOutput,
    OptimalRetentionFromNoisyHistogram,
    OptimalRetentionWithPrior,
)
from defenses.pram import k_for_epsilon, optimal_retention, retention_epsilon, transition_matrix
from defenses.pram.perturbation import (
    noisy_histogram,
    retention_by_objective,
    retention_by_output,
)
from metrics.columns.domains import CategoricalDomain, NumericDomain


@pytest.mark.thorough
@pytest.mark.parametrize("jointly", [False, True])
def test_release_has_the_records_rows_and_a_channel_that_is_its_matrix(jointly):
    records = people()
    before = records.frame.copy()
    for defense in every_form(jointly=jointly):
        release = defense.apply(records, np.random.default_rng(1))
        pd.testing.assert_frame_equal(records.frame, before)
        assert list(release.frame.columns) == ["age", "job", "y"]
        assert (release.origin == np.arange(len(records))).all()
        assert set(release.frame["age"]) <= set(AGE.cells())
        assert set(release.frame["job"]) <= {"admin.", "blue\\|collar", "services", "student"}
        again = defense.apply(records, np.random.default_rng(1))
        pd.testing.assert_frame_equal(again.frame, release.frame)
        assert Channel.from_toml(release.channel.to_toml()) == release.channel
        assert len(release.channel.parts) == (1 if jointly else 2)
        likelihoods = release.channel.likelihoods(release.frame, records.frame, dict(records.domains))
        for part in release.channel.parts:
            table = np.exp(likelihoods[part.columns].table())
            codes = [JOB.codes(records.frame[n]) if n == "job" else AGE.codes(records.frame[n]) for n in part.names]
            cells = np.ravel_multi_index(codes, part.sizes)
            released = [part.domains[i].codes(_plain(release.frame[n])) for i, n in enumerate(part.names)]
            matrix = transition_matrix(part.retention)
            np.testing.assert_allclose(table, matrix[np.ix_(np.ravel_multi_index(released, part.sizes), cells)])
        assert pickle.loads(pickle.dumps(defense)) == defense == defense.clone()


def test_nothing_is_guaranteed_where_categories_are_read_from_the_records():
    for defense in every_form():
        if not isinstance(defense, OptimalRetention):
            bare = people()
            assert (
                "read from the records; declare it" in defense.guarantee(Microdata(bare.frame, (), ("job",))).statement
            )
    private = OptimalRetentionFromNoisyHistogram(epsilon_matrix=1.0, epsilon_release=1.0)
    assert "missing" in private.guarantee(people(missing=True)).statement
    assert private.guarantee(people(missing=True)).epsilon is None


def test_missing_values_are_a_category():
    records = people(missing=True)
    release = OptimalRetention(epsilon=1.0).apply(records, np.random.default_rng(5))
    part = next(part for part in release.channel.parts if part.columns == ("job",))
    assert part.sizes == (5,)
    assert release.frame["job"].isna().any()
    table = release.channel.likelihoods(release.frame, records.frame, dict(records.domains))["job",].table()
    assert np.isfinite(table).all()
    without = people()
    known = OptimalRetention(epsilon=1.0, columns=["job"]).apply(without, np.random.default_rng(5))
    table = known.channel.likelihoods(known.frame, records.frame, dict(records.domains))["job",].table()
    assert np.isneginf(table[:, :5]).all()
    assert np.isfinite(table[:, 5:]).all()


def test_too_many_joint_cells_are_refused():
    wide = NumericDomain(0, 10_000, True, tuple(range(1, 10_000)))
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    records = Microdata(frame, (), ("a", "b"), (), {"a": wide, "b": wide})
    with pytest.raises(ValueError, match="a, b have 1e\\+08 cells"):
        OptimalRetention(epsilon=1.0, jointly=True).apply(records, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OptimalRetention(epsilon=1, jointly="yes"), "jointly"),
        (lambda: OptimalRetention(epsilon=1, columns=["nobody"]).apply(people(), np.random.default_rng(0)), "nobody"),
    ],
)
def test_bad_columns_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_empty_constant_and_one_row_tables():
    for defense in every_form():
        if defense.get_params().get("k") is None:
            empty = defense.apply(people().take([]), np.random.default_rng(6))
            assert len(empty.frame) == 0
            one = defense.apply(people().take([3]), np.random.default_rng(6))
            assert len(one.frame) == 1
    constant = Microdata(pd.DataFrame({"a": ["x"] * 5}), (), ("a",), (), {"a": CategoricalDomain(("x",))})
    released = OptimalRetention(epsilon=1.0).apply(constant, np.random.default_rng(7))
    assert released.frame["a"].tolist() == ["x"] * 5


def test_released_histogram_is_where_the_matrix_says():
    # Four standard deviations of a binomial count in four categories, fixed seed.
    records = people(20_000)
    release = OptimalRetention(epsilon=2.0, columns=["job"]).apply(records, np.random.default_rng(2))
    counts = np.bincount(JOB.codes(records.frame["job"]), minlength=4)
    expected = transition_matrix(optimal_retention(counts, 2.0)) @ counts
    released = np.bincount(JOB.codes(_plain(release.frame["job"])), minlength=4)
    assert (np.abs(released - expected) <= 4 * np.sqrt(20_000) / 2).all()
    assert release.channel.parts[0].retention == tuple(optimal_retention(counts, 2.0).tolist())


def test_the_papers_form_guarantees_nothing_and_says_so():
    guarantee = OptimalRetention(k=20).guarantee(people())
    assert (guarantee.epsilon, guarantee.pk, guarantee.delta) == (None, None, None)
    assert "none: the matrix is made of these records" in guarantee.statement
    assert "Pk of at least 20" in guarantee.statement


def test_prior_form_guarantees_what_its_matrices_have():
    defense = OptimalRetentionWithPrior(prior={"age": [1, 2, 3, 4], "job": [3, 2, 1, 0]}, epsilon=2.0)
    guarantee = defense.guarantee(people())
    parts = defense.apply(people(), np.random.default_rng(3)).channel.parts
    assert guarantee.epsilon == pytest.approx(sum(retention_epsilon(part.retention) for part in parts))
    assert 1.9 < guarantee.epsilon <= 2.0
    assert guarantee.pk >= k_for_epsilon(guarantee.epsilon, 400) * (1 - 1e-9)
    other = defense.apply(people(seed=9), np.random.default_rng(3)).channel
    assert other == defense.apply(people(), np.random.default_rng(3)).channel


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OptimalRetention(), "exactly one"),
        (lambda: OptimalRetention(epsilon=1, k=2), "exactly one"),
        (lambda: OptimalRetention(epsilon=0), "epsilon"),
        (lambda: OptimalRetention(epsilon=float("nan")), "epsilon"),
        (lambda: OptimalRetention(k=0.5), "k must"),
        (lambda: OptimalRetention(k=500).apply(people(), np.random.default_rng(0)), "at most the number"),
        (lambda: OptimalRetentionWithPrior(prior={"job": [0, 0]}, epsilon=1), "prior of column 'job'"),
        (lambda: OptimalRetentionWithPrior(prior=[1, 2], epsilon=1), "prior must map"),
        (
            lambda: OptimalRetentionWithPrior(prior={"job": [1, 2]}, epsilon=1).apply(
                people(), np.random.default_rng(0)
            ),
            "prior",
        ),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def released_distribution(histogram, retention):
    """Probability of each released histogram, exactly."""
    matrix = transition_matrix(retention)
    d = len(histogram)
    outcomes = {(0,) * d: 1.0}
    for category in np.repeat(np.arange(d), histogram):
        fresh = {}
        for counts, probability in outcomes.items():
            for released in range(d):
                key = tuple(count + (i == released) for i, count in enumerate(counts))
                fresh[key] = fresh.get(key, 0) + probability * matrix[released, category]
        outcomes = fresh
    return outcomes


def leak(n, level, tune):
    """Largest log-ratio of a released histogram's probability over all neighbouring histograms of three categories."""
    largest = 0.0
    histograms = [h for h in product(range(n + 1), repeat=3) if sum(h) == n]
    laws = {h: released_distribution(h, optimal_retention(tune or h, level)) for h in histograms}
    for h in histograms:
        for i, j in product(range(3), repeat=2):
            other = tuple(count - (c == i) + (c == j) for c, count in enumerate(h))
            if i != j and other in laws:
                largest = max(largest, *(log(laws[h][y] / laws[other][y]) for y in laws[h]))
    return largest


@pytest.mark.parametrize(("n", "found"), [(4, 3.19), (6, 3.59)])
def test_the_papers_form_leaks_more_than_the_epsilon_of_its_matrix(n, found):
    assert leak(n, 1.0, None) == pytest.approx(found, abs=0.005)


def test_a_public_histogram_leaks_no_more():
    assert leak(4, 1.0, (3, 2, 1)) <= 1.0


@pytest.mark.parametrize("form", PRIVATE)
def test_private_forms_guarantee_the_sum_and_their_matrices_keep_to_it(form):
    defense = form(epsilon_matrix=0.5, epsilon_release=2.0)
    guarantee = defense.guarantee(people())
    assert guarantee.epsilon == 2.5
    assert guarantee.pk == pytest.approx(k_for_epsilon(2.0, 400))
    parts = defense.apply(people(), np.random.default_rng(4)).channel.parts
    assert sum(retention_epsilon(part.retention) for part in parts) <= 2.0


def largest_posterior(matrix, values):
    """Largest posterior of a pair of person and released row over all releases, for an adversary who knows the table.

    `matrix` has shape (released, original); all permutations are enumerated, so that nothing rests on a formula.
    """
    n = len(values)
    orders = np.array(list(permutations(range(n))))
    highest = 0.0
    for released in product(range(len(matrix)), repeat=n):
        weights = matrix[np.array(released)[orders], np.array(values)].prod(axis=1)
        first = np.bincount(orders[:, 0], weights, minlength=n)
        highest = max(highest, first.max() / weights.sum())
    return highest


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("form", PRIVATE)
@pytest.mark.parametrize("values", [(0, 1, 1, 1), (0, 1, 1, 2), (0, 0, 1, 1)])
def test_pk_holds_against_an_adversary_who_knows_the_table(form, values):
    names = ("a", "b", "c")
    frame = pd.DataFrame({"x": [names[value] for value in values]})
    records = Microdata(frame, quasi_identifiers=("x",), domains={"x": CategoricalDomain(names)})
    for epsilon_matrix, epsilon_release in ((1.0, 0.5), (20.0, 0.5), (0.1, 1.0)):
        defense = form(epsilon_matrix=epsilon_matrix, epsilon_release=epsilon_release)
        guaranteed = defense.guarantee(records).pk
        for seed in range(3):
            channel = defense.apply(records, np.random.default_rng(seed)).channel
            matrix = transition_matrix(channel.parts[0].retention)
            assert largest_posterior(matrix, values) <= 1 / guaranteed * (1 + 1e-9)


def test_pk_of_the_release_is_reached_and_that_of_both_budgets_is_too_low():
    # Retention-replacement on two categories: the lone record is found with the posterior that the bound allows.
    keep = exp(0.5) / (1 + exp(0.5))
    matrix = np.array([[keep, 1 - keep], [1 - keep, keep]])
    assert largest_posterior(matrix, (0, 1, 1, 1)) == pytest.approx(1 / k_for_epsilon(0.5, 4))
    guaranteed = OptimalRetentionFromNoisyHistogram(epsilon_matrix=1.0, epsilon_release=1.0).guarantee(people(1000)).pk
    assert guaranteed == pytest.approx(136.2, abs=0.05)
    assert k_for_epsilon(2.0, 1000) == pytest.approx(19.3, abs=0.05)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OptimalRetentionFromNoisyHistogram(epsilon_matrix=0, epsilon_release=1), "epsilon_matrix"),
        (lambda: OptimalRetentionByOutput(epsilon_matrix=1, epsilon_release=inf), "epsilon_release"),
    ],
)
def test_bad_budgets_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def private_tuning(tune):
    return lambda counts, matrix_level, level, rng: optimal_retention(tune(counts, matrix_level, rng), level)


def distinguished(tune, matrix_level, release_level, runs, seed):
    """Whether matrices and releases of two neighbours differ by more than both levels together allow.

    Events: the first retention probability (its excess over the second, the released count, a mix) is beyond c, for c
    at each decile. A true ratio within the levels exceeds its bound by 4 standard errors with probability below 1e-4
    an event, of which there are 144.
    """
    rng = np.random.default_rng(seed)
    outcomes = []
    for histogram in ((3, 2, 0), (2, 3, 0)):
        seen = []
        for _ in range(runs):
            retention = tune(histogram, matrix_level, release_level, rng)
            columns = transition_matrix(retention).T
            released = sum(rng.multinomial(c, column) for c, column in zip(histogram, columns, strict=True))
            seen.append([retention[0], retention[1] - retention[0], released[0], released[0] + 10 * retention[0]])
        outcomes.append(np.array(seen))
    first, second = outcomes
    ratio = exp(matrix_level + release_level)
    for feature in range(4):
        for cut in np.quantile(np.concatenate(outcomes)[:, feature], np.linspace(0.1, 0.9, 9)):
            for sign in (1, -1):
                a, b = ((sign * (side[:, feature] - cut) >= 0).mean() for side in (first, second))
                for high, low in ((a, b), (b, a)):
                    if high > ratio * low + 4 * np.sqrt((high * (1 - high) + ratio**2 * low * (1 - low)) / runs):
                        return True
    return False


@pytest.mark.long_for("100-retention_by_objective", "100-retention_by_output")
@pytest.mark.parametrize("tune", [private_tuning(noisy_histogram), retention_by_objective, retention_by_output])
@pytest.mark.parametrize("runs", [100, pytest.param(800, marks=pytest.mark.long)])
def test_private_forms_survive_the_distinguishing_audit(tune, runs):
    assert not distinguished(tune, 0.4, 0.4, runs, seed=11)


@pytest.mark.thorough
def test_the_distinguishing_audit_catches_the_papers_form_and_too_little_noise():
    def papers(counts, matrix_level, level, rng):
        return optimal_retention(counts, level)

    def too_little(counts, matrix_level, level, rng):
        return optimal_retention(noisy_histogram(counts, 10 * matrix_level, rng), level)

    assert distinguished(papers, 0.4, 0.4, 100, seed=11)
    # With 100 runs it is caught for six seeds of six.
    assert distinguished(too_little, 0.4, 0.4, 100, seed=11)
