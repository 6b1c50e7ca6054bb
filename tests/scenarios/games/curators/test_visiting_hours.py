"""The visiting-hours game: the regular's visits, weeks that add up, and refusals."""

import math

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored
from statistics_tools import rng

from attacks import Differencing
from defenses import Curator, ExactCurator, Microdata
from metrics.columns.domains import CategoricalDomain
from scenarios import (
    VisitingHours,
    load,
    play,
    read_plan,
)


def test_a_shop_with_missing_hours_and_one_constant_hour():
    records = Microdata(
        pd.DataFrame({"hour": ["12:00", None, "12:00"]}), domains={"hour": CategoricalDomain(("11:00", "12:00"))}
    )
    outcome = play(ExactCurator(), Differencing(), VisitingHours(records=records), rng())
    assert outcome.scores["disclosure"].rate == outcome.scores["disclosure"].chance == 1


@pytest.mark.thorough
def test_the_ramen_shop_as_told_gives_the_hour_away_in_one_week():
    plan = read_plan("ramen-shop-told")
    (game,) = plan.games
    assert (game.weeks, game.crowd) == (1, 0.0)
    secret = game.draw(rng(1))
    # Only the regular visits the shop, once.
    assert len(secret.records) == 1
    assert secret.records.frame["hour"].tolist() == secret.truths.tolist()
    rates = [scored(ExactCurator(), Differencing(), game, rng(seed))["disclosure"].rate for seed in range(10)]
    assert rates == [1.0] * 10
    hidden = [scored(Curator(epsilon=0.1), Differencing(), game, rng(seed))["disclosure"].rate for seed in range(40)]
    # 12 hours at epsilon 0.1: close to the best guess of 17 %; 5 standard errors of 40 plays.
    assert np.mean(hidden) <= 0.18 + 5 * np.sqrt(0.18 * 0.82 / 40)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda r: VisitingHours(records=r, column="spending"), "column"),
        (lambda r: VisitingHours(records=r.take([]), column="district"), "no value"),
        (lambda r: VisitingHours(records=r, column="district", weeks=0), "weeks"),
        (lambda r: VisitingHours(records=r, column="district", crowd=math.inf), "crowd"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make(load("city").records)


def test_the_difference_of_the_days_peaks_at_the_regular():
    game = VisitingHours(records=load("visits").records, weeks=3, crowd=0.0)
    secret = game.draw(rng(3))
    (target,) = secret.known.targets
    assert target.weights == pytest.approx((1 / 3, 1 / 3, 1 / 3, -1 / 3, -1 / 3, -1 / 3))
    difference = sum(w * q.exact(secret.records) for w, q in zip(target.weights, target.queries, strict=True))
    # Nobody else comes: one visit a week at the regular's hour, and none at any other.
    categories = load("visits").records.domains["hour"].categories
    assert difference == pytest.approx([float(hour == secret.truths[0]) for hour in categories])
    assert len(secret.records) == 3


def test_the_crowd_has_its_mean():
    # 40 days of a crowd of 30: 1,200 visits on average, with a standard deviation of 35; 5 of them.
    game = VisitingHours(records=load("visits").records, weeks=20, crowd=30.0)
    secret = game.draw(rng(4))
    assert abs(len(secret.records) - 20 - 1200) <= 5 * math.sqrt(1200)
    assert secret.records.frame["day"].nunique() == 40
