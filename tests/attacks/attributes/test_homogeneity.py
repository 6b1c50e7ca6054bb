"""The homogeneity attack on a table made by hand and on k-anonymous and l-diverse ones."""

import pytest
from illness_tools import advantage, rates
from numpy.testing import assert_allclose

from attacks import Homogeneity
from defenses import Mondrian
from metrics import risk_after_control


def test_homogeneity_on_twelve_rows_exactly():
    attack, control = rates(Homogeneity())
    assert attack == 4 / 12
    assert control == 1 / 8
    assert_allclose((attack - control) / (1 - control), 5 / 21)
    assert_allclose(risk_after_control(4, 12, 1, 8).value, 5 / 21)


@pytest.mark.thorough
def test_k_anonymity_falls_to_homogeneity_and_l_diversity_answers_it(adult_attributes):
    assert advantage(Mondrian(k=3), Homogeneity(), adult_attributes) > 0.1
    assert advantage(Mondrian(k=3, l=2), Homogeneity(), adult_attributes) == 0
