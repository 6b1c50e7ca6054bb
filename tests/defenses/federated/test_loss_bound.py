"""The bound on the loss of private federated learning, by hand and by its shape."""

import math

import numpy as np
import pytest

from defenses.federated import LossBound

BOUND = LossBound(decay=0.9, start=1.0, kappa1=2.0, kappa0=3.0, clip=0.5)


def test_the_printed_bound_by_hand():
    # u = C T / (m sqrt(N) epsilon) = 0.5 x 2 / (10 x 2 x 0.1) = 0.5.
    expected = 0.81 + (2 * 0.5 + 3 * 0.25) * 0.19
    assert BOUND.gap(2, records=10, clients=4, epsilon=0.1) == pytest.approx(expected)


def test_the_bound_falls_with_clients_and_epsilon_and_is_convex_around_its_best_number_of_rounds():
    by_clients = BOUND.gap(20, records=50, clients=np.array([10, 50, 250]), epsilon=1.0)
    by_epsilon = BOUND.gap(20, records=50, clients=10, epsilon=np.array([0.5, 1, 2, math.inf]))
    assert (np.diff(by_clients) < 0).all()
    assert (np.diff(by_epsilon) < 0).all()
    assert by_epsilon[-1] == pytest.approx(0.9**20)
    best = BOUND.best_rounds(records=1000, clients=250, epsilon=2.0)
    around = BOUND.gap(np.arange(1, 2 * best), records=1000, clients=250, epsilon=2.0)
    assert 1 < best == np.argmin(around) + 1
    assert (np.diff(around, n=2) > 0).all()


def test_with_more_clients_or_a_larger_budget_more_rounds_are_best():
    few, many = (BOUND.best_rounds(records=100, clients=count, epsilon=1.0) for count in (10, 1000))
    small, large = (BOUND.best_rounds(records=100, clients=10, epsilon=level) for level in (0.1, 10.0))
    assert few < many
    assert small < large
    assert BOUND.best_rounds(records=100, clients=10, epsilon=math.inf, most=7) == 7


@pytest.mark.parametrize("settings", [{"decay": 1.0}, {"start": -1.0}, {"kappa1": math.nan}, {"clip": 0.0}])
def test_bad_constants_are_named(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        LossBound(**{"decay": 0.9, "start": 1.0, "kappa1": 1.0, "kappa0": 1.0, **settings})


@pytest.mark.parametrize(
    "settings",
    [{"rounds": 0}, {"records": 0}, {"clients": 0}, {"clients": math.inf}, {"epsilon": 0.0}, {"epsilon": math.nan}],
)
def test_bad_settings_are_named(settings):
    good = {"rounds": 5, "records": 10, "clients": 4, "epsilon": 1.0}
    with pytest.raises(ValueError, match=next(iter(settings))):
        BOUND.gap(**{**good, **settings})
