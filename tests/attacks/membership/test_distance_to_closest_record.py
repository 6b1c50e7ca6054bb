"""Distance to the closest record: calibration, and mechanisms that refuse small samples."""

import numpy as np
import pandas as pd
import pytest
from membership_tools import mean_measure

from attacks import Decisions, DistanceToClosestRecord
from attacks.base.attack import Knowledge
from defenses import Microdata, MicrodataRelease, Mondrian
from metrics.columns.domains import CategoricalDomain


@pytest.mark.long
def test_calibration_finds_more_at_small_rates_of_false_positives(membership_game):
    class Uncalibrated(DistanceToClosestRecord):
        def run(self, release, knowledge, rng):
            from attacks.membership.distance_to_closest_record import _closest

            return Decisions(-_closest(release, knowledge))

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
