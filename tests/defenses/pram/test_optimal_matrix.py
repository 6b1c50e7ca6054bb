"""PRAM with the most informative matrix of any form."""

from math import log

import numpy as np
import pandas as pd
import pytest

from defenses import Channel, Microdata, OptimalMatrix
from defenses.base.channel_parts import TransitionTable
from defenses.pram import optimal_retention, retention_for_epsilon, transition_matrix
from defenses.pram.matrix import epsilon, pk
from defenses.pram.optimal_matrix import (
    degenerate_matrix,
    estimation_variance,
    least_variance_protocol,
    most_informative_matrix,
    mutual_information,
    subset_selection,
)
from metrics import CategoricalDomain, NumericDomain
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import subject

HISTOGRAMS = [(100, 100, 100, 100), (500, 300, 150, 50), (40, 20, 10, 5, 3, 0)]
LEVELS = [0.5, 1.0, 2.0, 4.0]


def ratio(protocol):
    occurring = protocol[protocol.max(axis=1) > 0]
    return np.log((occurring.max(axis=1) / occurring.min(axis=1)).max())


def replacement(d, level):
    return transition_matrix(np.full(d, retention_for_epsilon(level, d)))


def private_protocols(d, level, number, seed):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        rows = np.exp(rng.choice([0, level], (int(rng.integers(d, 4 * d)), d)) * rng.choice([1, rng.random()]))
        weights = rng.dirichlet(np.ones(len(rows)))
        protocol = weights[:, None] * rows
        rest = protocol.sum(axis=0).max() - protocol.sum(axis=0)
        spare = np.full(d, rest.max() / np.expm1(level)) + rest
        protocol = np.vstack([protocol, spare])
        yield protocol / protocol.sum(axis=0)


def test_degenerate_optimum_keeps_the_histogram_tells_nothing_and_is_the_histogram():
    matrix = degenerate_matrix([5, 3, 2])
    np.testing.assert_allclose(matrix @ [5, 3, 2], [5, 3, 2])
    assert epsilon(matrix) == 0
    assert mutual_information(matrix, [5, 3, 2]) == pytest.approx(0)
    assert estimation_variance(matrix, [5, 3, 2]) == np.inf
    np.testing.assert_allclose(10 * matrix[:, 0], [5, 3, 2])


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("histogram", HISTOGRAMS)
@pytest.mark.parametrize("level", LEVELS)
def test_none_is_better_than_the_best(histogram, level):
    d = len(histogram)
    informative, precise = most_informative_matrix(histogram, level), least_variance_protocol(histogram, level)
    assert epsilon(informative) <= level
    assert ratio(precise) <= level
    most, least = mutual_information(informative, histogram), estimation_variance(precise, histogram)
    others = [replacement(d, level), subset_selection(d, level), transition_matrix(optimal_retention(histogram, level))]
    others += [informative, precise, *private_protocols(d, level, 40, seed=d)]
    for other in others:
        assert ratio(other) <= level + 1e-9
        assert mutual_information(other, histogram) <= most + 1e-9
        assert estimation_variance(other, histogram) >= least * (1 - 1e-6)


@pytest.mark.thorough_beyond(8)
@pytest.mark.parametrize("d", [3, 4, 6])
@pytest.mark.parametrize("level", LEVELS)
def test_subset_selection_is_best_for_even_histograms(d, level):
    even = np.full(d, 10)
    variances = []
    for e in (np.exp(level),):
        for w in range(1, d):
            patterns = np.array([[e if (bits >> i) & 1 else 1 for i in range(d)] for bits in range(2**d)])
            sets = patterns[(patterns > 1).sum(axis=1) == w]
            variances.append(estimation_variance(sets / sets[:, 0].sum(), even))
    assert estimation_variance(least_variance_protocol(even, level), even) == pytest.approx(min(variances), rel=1e-6)


def test_subset_selection_of_one_is_replacement():
    np.testing.assert_allclose(subset_selection(4, 3.0), replacement(4, 3.0))
    assert subset_selection(10, 0.5).shape == (210, 10)
    assert ratio(subset_selection(10, 0.5)) == pytest.approx(0.5)


def test_variance_is_that_of_the_inverse_for_square_matrices():
    counts, matrix = np.array([50.0, 30, 20]), transition_matrix([0.8, 0.6, 0.7])
    inverse = np.linalg.inv(matrix)
    covariance = inverse @ np.diag(matrix @ counts) @ inverse.T - np.diag(counts)
    assert estimation_variance(matrix, counts) == pytest.approx(np.trace(covariance))


def test_information_of_two_categories():
    p = retention_for_epsilon(log(3), 2)
    expected = p * log(2 * p) + (1 - p) * log(2 * (1 - p))
    assert mutual_information(transition_matrix([p, p]), [7, 7]) == pytest.approx(expected)
    assert mutual_information(np.eye(2), [7, 7]) == pytest.approx(log(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: most_informative_matrix(np.ones(13), 1.0), "13 categories"),
        (lambda: least_variance_protocol(np.ones(11), 1.0), "11 categories"),
        (lambda: most_informative_matrix([1, 2], 0), "epsilon"),
        (lambda: least_variance_protocol([1, 2], 31), "at most 30"),
        (lambda: least_variance_protocol([0, 0], 1), "all zero"),
        (lambda: subset_selection(40, 0.1), "sets of"),
        (lambda: subset_selection(1, 0.1), "d must"),
        (lambda: estimation_variance(np.eye(3), [1, 2]), "2 columns"),
        (lambda: mutual_information(np.ones((2, 2)), [1, 2]), "sum to 1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


ABC = CategoricalDomain(("a", "b", "c"))


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1]), "y": rng.integers(0, 40, n)})
    domains = {"x": ABC, "y": NumericDomain(0, 39, integer=True, cuts=tuple(range(1, 20)))}
    return Microdata(frame, quasi_identifiers=("x", "y"), domains=domains)


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize("level", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("counts", [(1, 1, 1), (60, 30, 10), (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)])
def test_no_other_form_says_more_under_the_same_epsilon(level, counts):
    d = len(counts)
    ours = most_informative_matrix(counts, level)
    assert epsilon(ours) <= level
    others = [
        transition_matrix(np.full(d, retention_for_epsilon(level, d))),
        transition_matrix(optimal_retention(counts, level)),
    ]
    for other in others:
        assert mutual_information(ours, counts) >= mutual_information(other, counts) - 1e-9


def test_release_follows_the_matrix_and_its_channel():
    records = table(20_000)
    defense = OptimalMatrix(epsilon=2.0, columns=["x"], prior={"x": [60, 30, 10]})
    release = defense.apply(records, np.random.default_rng(1))
    (part,) = release.channel.parts
    matrix = np.array(part.matrix)
    assert matrix == pytest.approx(most_informative_matrix([60, 30, 10], 2.0))
    seen = pd.crosstab(release.frame["x"], records.frame["x"], normalize="columns").reindex(
        index=list("abc"), fill_value=0
    )
    # The rarest category has some 2,000 records: 5 standard errors are at most .056.
    assert np.abs(seen.to_numpy() - matrix).max() < 0.056
    pairs = part.bind(release.frame.iloc[:3], records.frame.iloc[:3]).table()
    codes = [ABC.codes(frame["x"].iloc[:3]) for frame in (release.frame, records.frame)]
    with np.errstate(divide="ignore"):
        assert pairs == pytest.approx(np.log(matrix)[np.ix_(*codes)])
    copy = Channel.from_toml(release.channel.to_toml())
    assert copy.parts == release.channel.parts


def test_guarantee_is_that_of_the_matrices():
    records = table()
    guarantee = OptimalMatrix(epsilon=2.0, columns=["x"]).guarantee(records)
    matrix = most_informative_matrix(np.ones(3), 2.0)
    assert guarantee.epsilon == pytest.approx(epsilon(matrix))
    assert guarantee.epsilon <= 2.0
    assert guarantee.pk == pytest.approx(pk(matrix, len(records)))
    # Twenty bins are too many for the program: retention-replacement, within the same epsilon.
    both = OptimalMatrix(epsilon=2.0).guarantee(records)
    assert both.epsilon == pytest.approx(2.0)
    odds = np.prod([pk(each, 2) - 1 for each in (most_informative_matrix(np.ones(3), 1.0), replacement(20, 1.0))])
    assert both.pk == pytest.approx(1 + (len(records) - 1) * odds)
    assert OptimalMatrix(epsilon=2.0, columns=[]).guarantee(records).epsilon is None


@pytest.mark.thorough
def test_the_audit_does_not_refute_it_and_refutes_twice_its_epsilon():
    class Loud(OptimalMatrix):
        """Claims half of what it spends."""

        def guarantee(self, records):
            return OptimalMatrix(epsilon=self.epsilon / 2).guarantee(records)

    honest = audit(subject(OptimalMatrix(epsilon=3.0)), runs=40_000, rng=np.random.default_rng(0))
    assert honest.holds
    assert honest.bound > 1.5
    assert not audit(subject(Loud(epsilon=3.0)), runs=40_000, rng=np.random.default_rng(0)).holds


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 31.0}, "epsilon"),
        ({"epsilon": np.nan}, "epsilon"),
        ({"epsilon": 1.0, "prior": [1, 2]}, "prior must map columns"),
        ({"epsilon": 1.0, "prior": {"x": [1, -1]}}, "prior of column 'x'"),
        ({"epsilon": 1.0, "prior": {"x": "many"}}, "prior of column 'x'"),
    ],
)
def test_refuses_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        OptimalMatrix(**parameters)


def test_refuses_priors_of_another_size():
    with pytest.raises(ValueError, match="prior of column 'x' has 2 counts, the column 3 categories"):
        OptimalMatrix(epsilon=1.0, prior={"x": [1, 2]}).apply(table(), np.random.default_rng(0))


@pytest.mark.parametrize("matrix", [(), ((1.0, 0.0),), ((0.5, 0.5), (0.6, 0.5)), ((1.5, 0.0), (-0.5, 1.0))])
def test_channel_part_refuses_matrices(matrix):
    with pytest.raises(ValueError, match="transition_table"):
        TransitionTable("x", ABC, matrix)
