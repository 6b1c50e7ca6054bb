"""DOMIAS: the density ratio of a small table, bad parameters."""

import numpy as np
import pandas as pd
import pytest

from attacks import DensityRatioMembership, Knowledge
from defenses import Microdata, MicrodataRelease
from metrics import CategoricalDomain


def release(jobs):
    return MicrodataRelease(pd.DataFrame({"job": jobs}), np.full(len(jobs), -1))


def test_score_is_the_log_ratio_of_kernel_densities():
    domains = {"job": CategoricalDomain(("a", "b"))}
    auxiliary = Microdata(pd.DataFrame({"job": ["a", "b"]}), domains=domains)
    knowledge = Knowledge(pd.DataFrame({"job": ["a", "b"]}), auxiliary)
    attack = DensityRatioMembership(bandwidth=0.5)
    scores = attack.scores(release(["a", "a", "a", "b"]), iter([release(["a", "b"])]), knowledge)
    # A row of another job lies at distance 1 and has weight exp(-1 / 0.5).
    other = np.exp(-2)
    expected = [(3 + other) / 4 / ((1 + other) / 2), (1 + 3 * other) / 4 / ((1 + other) / 2)]
    assert scores == pytest.approx(np.log(expected))


def test_an_empty_release_has_no_score():
    domains = {"job": CategoricalDomain(("a", "b"))}
    people = pd.DataFrame({"job": ["a", "b"]})
    knowledge = Knowledge(people, Microdata(people, domains=domains))
    empty = MicrodataRelease(people.iloc[:0], np.empty(0, dtype=int))
    assert DensityRatioMembership().scores(empty, iter([release(["a", "b"])]), knowledge).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({"bandwidth": 0}, "bandwidth"), ({"bandwidth": np.nan}, "bandwidth"), ({"rounds": 0}, "rounds")],
)
def test_bad_parameters_are_refused(parameters, name):
    with pytest.raises(ValueError, match=name):
        DensityRatioMembership(**parameters)
