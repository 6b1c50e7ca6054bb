"""Longitudinal averaging gains from fresh rounds only."""

import numpy as np
import pytest
from report_tools import mean_rate

from attacks import LongitudinalAveraging, ValueGuess
from attacks.reports.inference_from_reports import round_likelihoods
from defenses import LocalReports


@pytest.mark.thorough
def test_averaging_gains_nothing_from_memoized_reports(report_game):
    for name in ("OptimizedLocalHashing", "GeneralizedRandomizedResponse", "SummationHistogramEncoding"):
        parameters = {"protocol": name, "epsilon": 1.0, "rounds": 16}
        single = mean_rate(report_game, ValueGuess(), memoize=True, **parameters)
        assert mean_rate(report_game, LongitudinalAveraging(), memoize=True, **parameters) == single
        assert mean_rate(report_game, LongitudinalAveraging(), **parameters) >= single + 0.15


def test_rounds_sent_again_count_once(report_game):
    records = report_game.draw(np.random.default_rng(0)).records
    for memoize, tables in ((True, 1), (False, 3)):
        release = LocalReports(rounds=3, memoize=memoize).apply(records, np.random.default_rng(0))
        assert len(round_likelihoods(release)) == tables
