"""Distance to the closest record: calibration, and mechanisms that refuse small samples."""

import numpy as np
import pandas as pd
import pytest
from membership_tools import mean_measure

from attacks import Decisions, DistanceToClosestRecord, EuclideanClosestRecord
from attacks.base.attack import Knowledge
from defenses import Microdata, MicrodataRelease, Mondrian
from metrics.columns.domains import CategoricalDomain, NumericDomain


@pytest.mark.long
def test_calibration_finds_more_at_small_rates_of_false_positives(membership_game):
    class Uncalibrated(DistanceToClosestRecord):
        def run(self, release, knowledge, rng):
            return Decisions(-self.closest(release, knowledge))

    plain = mean_measure(Mondrian(k=5), Uncalibrated(), membership_game, "tpr_at_1_percent_fpr", plays=4)
    calibrated = mean_measure(
        Mondrian(k=5), DistanceToClosestRecord(), membership_game, "tpr_at_1_percent_fpr", plays=4
    )
    assert calibrated > plain + 0.05


def test_a_mechanism_that_refuses_the_attackers_people_is_left_out():
    def refuse(records, rng):
        raise ValueError("too few")

    frame = pd.DataFrame({"x": ["a", "b", "a"]})
    people = Microdata(frame, domains={"x": CategoricalDomain(("a", "b"))})
    release = MicrodataRelease(frame, np.full(3, -1))
    decided = DistanceToClosestRecord().run(release, Knowledge(frame, people, refuse), np.random.default_rng(0))
    assert decided.scores == pytest.approx(0)


def test_euclidean_distance_is_that_of_standardized_features():
    """Ages 0 and 4 have a deviation of 2; either of two equally common categories has one of 1/2."""
    domains = {"age": NumericDomain(0, 10), "sex": CategoricalDomain(("f", "m"))}
    candidates = pd.DataFrame({"age": [0.0, 4.0], "sex": ["f", "m"]})
    knowledge = Knowledge(candidates, Microdata(candidates, domains=domains))
    rows = pd.DataFrame({"age": [4.0, 1.0], "sex": ["f", "m"]})
    closest = EuclideanClosestRecord().closest(MicrodataRelease(rows, np.full(2, -1)), knowledge)
    # (0, f) differs from (4, f) by two deviations of age, and (4, m) from (1, m) by one and a half. The other pairs
    # differ in both indicators, by two deviations each.
    assert closest == pytest.approx([2.0, 1.5])
    none = EuclideanClosestRecord().closest(MicrodataRelease(rows.iloc[:0], np.zeros(0, dtype=int)), knowledge)
    assert none.tolist() == [1.0, 1.0]
