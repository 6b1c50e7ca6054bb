"""The mixture kernel: a column by hand, generalized and missing cells, and what weights are fitted."""

import numpy as np
import pandas as pd
import pytest

from attacks import Knowledge
from attacks.membership.mixture_kernel import fitted_weights, log_density, log_kernel
from defenses import Microdata, MicrodataRelease
from metrics import CategoricalDomain, NumericDomain

DOMAINS = {"job": CategoricalDomain(("a", "b", "c")), "age": NumericDomain(0, 1000)}


def release(**columns):
    frame = pd.DataFrame(columns)
    return MicrodataRelease(frame, np.full(len(frame), -1))


def knowledge(candidates, auxiliary):
    people = pd.DataFrame(auxiliary)
    return Knowledge(pd.DataFrame(candidates), Microdata(people, domains={name: DOMAINS[name] for name in people}))


def test_lifts_of_categories_are_shares_of_the_population():
    # Half of the population are a, a quarter b and c each.
    known = knowledge({"job": ["a", "b", None]}, {"job": ["a", "a", "a", "a", "b", "b", "c", "c"]})
    kernel = np.exp(log_kernel(release(job=["a", "{a|b}", "*"]), known, {"job": np.array([0.25, 0.75])}))
    outside = 0.25
    expected = [
        [0.25 + 0.75 / (1 / 2), outside, outside],
        [0.25 + 0.75 / (3 / 4), 0.25 + 0.75 / (3 / 4), outside],
        [1, 1, 1],
    ]
    assert kernel == pytest.approx(np.array(expected))


def test_lifts_of_numbers_average_to_one_over_the_population():
    # Nearly so: one more person is counted, and the mean is taken at 200 points.
    rng = np.random.default_rng(0)
    ages = np.round(rng.lognormal(4, 1, 800)).clip(0, 1000)
    known = knowledge({"age": ages}, {"age": ages})
    cells = ["55", "[20,80]", "*", "200"]
    for part in (2, 3, 4):
        weights = np.zeros(5)
        weights[[0, part]] = 0.01, 0.99
        assert np.exp(log_kernel(release(age=cells), known, {"age": weights})).mean(axis=1) == pytest.approx(
            1, rel=0.15
        )


def test_a_missing_number_is_near_a_missing_cell_and_a_suppressed_one_only():
    known = knowledge({"age": [np.nan, 30.0]}, {"age": [np.nan, 30.0, 31.0, 32.0]})
    kernel = log_kernel(release(age=[None, "*", "30"]), known, {"age": np.full(5, 0.2)})
    assert np.isfinite(kernel).all()
    assert kernel[0, 0] > 0 > kernel[0, 1]
    assert kernel[2, 1] > 0 > kernel[2, 0]
    assert kernel[1, 0] == pytest.approx(kernel[1, 1], abs=0.2)


def test_equality_weighs_more_where_values_are_unique():
    # 400 distinct numbers, and 400 people of 20 ages: Good-Turing's estimate for a single value is 1/401/400.
    distinct, twenty = np.arange(400.0), np.repeat(np.arange(20.0), 20)
    exact = {"age": np.array([1e-9, 1 - 1e-9, 0, 0, 0])}
    for people, lift in ((distinct, 400 * 401), (twenty, 20)):
        known = knowledge({"age": [7.0]}, {"age": people})
        assert np.exp(log_density(release(age=["7"]), known, exact)) == pytest.approx(lift)


def test_weights_state_how_exactly_cells_follow_the_people():
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"job": rng.choice(["a", "b", "c"], 300), "age": rng.uniform(0, 1000, 300)})
    known = knowledge(people, people)
    noisy = people.assign(age=(people["age"] + rng.normal(0, 2, 300)).clip(0, 1000))
    drawn = release(job=rng.permutation(people["job"]), age=rng.permutation(people["age"]))
    copied, disturbed, shuffled = (
        fitted_weights([(table, people)], table, known)
        for table in (release(**people), release(**noisy), release(job=drawn.frame["job"], age=["*"] * 300))
    )
    assert copied["job"][1] > 0.95
    assert copied["age"][1] > 0.95
    assert disturbed["age"][1] < 0.01
    assert disturbed["age"][2:].sum() > 0.6
    assert copied["job"][1] > disturbed["job"][1] > shuffled["job"][1]


def test_weights_without_rows_or_people_are_equal():
    people = pd.DataFrame({"job": ["a", "b"], "age": [3.0, 4.0]})
    known = knowledge(people, people)
    table = release(**people)
    for samples in ([], [(table, people.iloc[:0])], [(release(**people.iloc[:0]), people)]):
        weights = fitted_weights(samples, table, known)
        assert {name: weight.tolist() for name, weight in weights.items()} == {"job": [0.5, 0.5], "age": [0.2] * 5}
    assert log_density(release(**people.iloc[:0]), known, weights).tolist() == [0, 0]


def test_tables_may_have_their_columns_in_any_order():
    rng = np.random.default_rng(2)
    people = pd.DataFrame({"job": rng.choice(["a", "b", "c"], 60), "age": rng.uniform(0, 1000, 60)})
    known = knowledge(people, people)
    table, turned = release(**people), release(age=people["age"], job=people["job"])
    weights = fitted_weights([(table, people), (table, people)], table, known)
    mixed = fitted_weights([(turned, people), (table, people)], table, known)
    assert list(mixed) == ["job", "age"]
    for name, expected in weights.items():
        assert mixed[name] == pytest.approx(expected, abs=1e-5)
    assert log_density(turned, known, weights) == pytest.approx(log_density(table, known, weights), rel=1e-5)
