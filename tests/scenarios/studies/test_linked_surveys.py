"""Re-identification from five surveys: products of likelihoods, and published orderings on Adult."""

import functools
import itertools

import numpy as np
import pytest

from scenarios import LinkedSurveys
from scenarios.studies.experiment import read_experiment
from scenarios.studies.linked_surveys import COLUMNS, PROTOCOLS, linked_population, measure_surveys

PERSONS, SURVEYS = 500, 5


@pytest.fixture(scope="module", params=[2, pytest.param(4, marks=pytest.mark.long)])
def results(request):
    """Measures what is asked of each protocol and splitting, once."""
    population = linked_population("adult", COLUMNS, PERSONS)
    return functools.cache(
        lambda protocol, splitting: measure_surveys(
            population, PERSONS, SURVEYS, protocol, splitting, 8.0, request.param, 1
        )
    )


def after_all(results, protocol, splitting):
    return results(protocol, splitting).right[:, -1].mean()


@pytest.mark.long
def test_people_are_identified_as_the_product_of_likelihoods_says(results):
    # 1,000 people in each of 15 settings: the standard error of a rate r is sqrt(r (1 - r)/1000), at most .0158. People
    # of one play share their candidates, which doubles it at most. Four of these make a false alarm in 10^3 runs.
    for protocol, splitting in itertools.product(PROTOCOLS, ("SPL", "SMP", "RS+FD")):
        result = results(protocol, splitting)
        rate, predicted = result.right[:, -1].mean(), result.predicted[:, -1].mean()
        people = len(result.right) * PERSONS
        assert rate == pytest.approx(predicted, abs=4 * 2 * np.sqrt(max(rate, predicted) / people) / 2 + 0.004)
        assert (result.listed[:, -1] >= result.right[:, -1]).all()
        assert result.right[:, -1].mean() > result.right[:, 0].mean()


@pytest.mark.thorough
def test_protocols_that_tell_the_truth_reidentify_most_and_fakes_less_than_a_visible_sample(results):
    # Arcolezi et al. (2023): randomized response, subset selection and symmetric encoding lead; optimized ones trail.
    rates = {protocol: after_all(results, protocol, "SMP") for protocol in PROTOCOLS}
    for truthful in PROTOCOLS[:3]:
        for dropping in PROTOCOLS[3:]:
            assert rates[truthful] > 2 * rates[dropping]
    assert rates["GeneralizedRandomizedResponse"] > rates["SymmetricUnaryEncoding"] - 0.02
    for protocol in PROTOCOLS:
        assert after_all(results, protocol, "RS+FD") < 0.6 * rates[protocol]


@pytest.mark.long
def test_a_split_budget_reidentifies_more_at_a_large_epsilon_alone():
    # With little budget a column's share says almost nothing; with much, all columns together say more than one.
    population = linked_population("adult", COLUMNS, PERSONS)
    rates = {
        (splitting, epsilon): measure_surveys(
            population, PERSONS, SURVEYS, "OptimizedUnaryEncoding", splitting, epsilon, 1, 2
        )
        .right[:, -1]
        .mean()
        for splitting in ("SPL", "SMP")
        for epsilon in (4.0, 12.0)
    }
    assert rates["SPL", 4.0] < rates["SMP", 4.0]
    assert rates["SPL", 12.0] > 2 * rates["SMP", 12.0]


def test_shipped_scenario_and_report():
    plan = read_experiment("linked-surveys")
    assert isinstance(plan.experiment, LinkedSurveys)
    small = LinkedSurveys(columns=["sex", "race", "age"], persons=50, surveys=2, protocols=PROTOCOLS[:1], epsilon=[3.0])
    guesses, *splittings = small.run(1, 1, lambda text: None)
    assert guesses.tables[0].rows[0][1] == pytest.approx(
        100 / 3 * sum(np.exp(3.0) / (np.exp(3.0) + d - 1) for d in (2, 5, 13))
    )
    assert [section.title for section in splittings] == ["Splitting SPL", "Splitting SMP", "Splitting RS+FD"]
    assert small.run(1, 1, lambda text: None) == (guesses, *splittings)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"columns": "age"}, "columns must be a list"),
        ({"columns": ["age"]}, "at least two"),
        ({"protocols": ["Nothing"]}, "protocol must be one of"),
        ({"persons": 1}, "persons must be"),
        ({"epsilon": [0.0]}, "epsilon must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LinkedSurveys(**parameters)


def test_unknown_columns_and_too_few_people():
    with pytest.raises(ValueError, match="columns: 'adult' has no column 'shoe'"):
        linked_population("adult", ["age", "shoe"], 10)
    with pytest.raises(ValueError, match="persons: 100000 are needed"):
        linked_population("adult", ["age"], 100_000)
