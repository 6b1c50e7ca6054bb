"""Risk after control: coverage of its interval, its ends, bad input."""

import numpy as np
import pytest

from metrics import risk_after_control
from scenarios.tables.seeds import generator


def test_risk_after_control_covers_the_truth_for_extreme_rates_too():
    # 16 cases of 2000 simulations; Binomial(2000, .93) is below 1805 with probability .0000001.
    rng = generator(0, "risk")
    for attack in (0.02, 0.3, 0.7, 0.98):
        for control in (0.02, 0.3, 0.7, 0.9):
            hits, controls = rng.binomial(80, attack, 2000), rng.binomial(60, control, 2000)
            pairs = np.unique(np.column_stack([hits, controls]), axis=0, return_counts=True)
            truth = (attack - control) / (1 - control)
            inside = 0
            for (hit, chance), times in zip(*pairs, strict=True):
                risk = risk_after_control(hit, 80, chance, 60)
                assert risk.low <= risk.value <= risk.high
                inside += times * (risk.low <= truth <= risk.high)
            assert inside >= 1805, (attack, control, inside)


def test_risk_after_control_at_the_ends():
    assert risk_after_control(10, 10, 0, 10).value == 1
    assert risk_after_control(10, 10, 0, 10).high == 1
    assert risk_after_control(0, 10, 0, 10).value == 0
    nothing_to_learn = risk_after_control(5, 10, 10, 10)
    assert (nothing_to_learn.value, nothing_to_learn.low, nothing_to_learn.high) == (0, 0, 1)
    assert risk_after_control(1, 10, 5, 10).value < 0
    for arguments in ((11, 10, 1, 10), (1, 0, 1, 10), (1, 10, -1, 10), (np.nan, 10, 1, 10)):
        with pytest.raises(ValueError, match="successes"):
            risk_after_control(*arguments)
    with pytest.raises(ValueError, match="confidence"):
        risk_after_control(1, 10, 1, 10, confidence=1)


def test_risks_are_those_of_anonymeter():
    # Expected values of anonymeter's own tests, printed with 3 decimals.
    assert risk_after_control(900, 1000, 800, 1000).value == pytest.approx(0.5, abs=5e-4)
    assert risk_after_control(900, 1000, 850, 1000).value == pytest.approx(0.333, abs=5e-4)
