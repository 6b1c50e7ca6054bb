"""DOMIAS: the density ratio of a small table, bad parameters."""

import numpy as np
import pandas as pd
import pytest
from membership_tools import mean_measure

from attacks import DensityRatioMembership, Knowledge
from attacks.membership.density_ratio_membership import population_density
from defenses import AdditiveNoise, Microdata, MicrodataRelease, Shuffle
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


@pytest.mark.long
def test_the_fitted_kernel_beats_the_fixed_one(membership_game):
    # Plays of 120 members; standard error of an area over two about .03. Measured .97 and .88, 1.0 and .55. Over one
    # play, equal kernels would differ by .3 with a probability below 1e-6.
    for defense, plays, least in ((AdditiveNoise(scale=2), 2, 0.02), (Shuffle(), 1, 0.3)):
        fitted, fixed = (
            mean_measure(defense, DensityRatioMembership(bandwidth=bandwidth), membership_game, "membership_auc", plays)
            for bandwidth in (None, 0.5)
        )
        assert fitted > fixed + least


def test_the_reference_is_the_mean_of_release_and_tables():
    own, tables = np.log([1.0, 4.0]), [np.log([1.0, 2.0]), np.log([3.0, 2.0])]
    assert np.exp(population_density([own, *tables])) == pytest.approx([(1 + 2) / 2, (4 + 2) / 2])


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
