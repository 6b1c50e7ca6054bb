"""Marginal likelihood of rows, and the gain by one more column."""

import numpy as np
import pandas as pd
import pytest

from attacks import Knowledge
from attacks.base.sides import shared_columns
from attacks.linkage.fitting.column_models import candidate_weights, gains, marginal_log_likelihood
from defenses import Microdata, MicrodataRelease


def test_a_row_without_information_has_the_likelihood_of_any_candidate():
    assert marginal_log_likelihood(np.full((3, 7), -2.0)) == pytest.approx(-6)


def test_one_certain_candidate_of_four_costs_the_logarithm_of_four():
    evidence = np.where(np.eye(4, dtype=bool), 0.0, -800.0)
    assert marginal_log_likelihood(evidence) == pytest.approx(-4 * np.log(4))


def test_gains_are_differences_of_marginal_likelihoods():
    people = pd.DataFrame({"a": list("xyzxyz"), "b": list("ppqqrr")})
    release = MicrodataRelease(people.iloc[[5, 0, 2]].reset_index(drop=True), np.array([5, 0, 2]))
    first, second = shared_columns(release, Knowledge(people, Microdata(people)))
    ratios = [0.3 + 2.0 * column.contains() for column in (first, second)]
    alone = first.expand(np.log(ratios[0]))
    both = alone + second.expand(np.log(ratios[1]))
    gain = gains(candidate_weights(alone), [second], ratios[1:])
    assert gain[0] == pytest.approx(marginal_log_likelihood(both) - marginal_log_likelihood(alone), rel=1e-5)
    assert gains(candidate_weights(both), [second], [1 / ratios[1]])[0] == pytest.approx(-gain[0], rel=1e-5)
