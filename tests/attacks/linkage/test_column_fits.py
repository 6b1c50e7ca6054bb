"""Most likely mechanism of a column from known matches."""

import numpy as np
import pandas as pd
import pytest

from attacks import Knowledge
from attacks.base.sides import shared_columns
from attacks.linkage.fitting.column_models import ColumnModels
from attacks.linkage.fitting.column_tables import GAUSSIAN, LAPLACE
from attacks.linkage.fitting.linkage_fit import chosen_fit, first_fit, refined, weighted_pairs
from defenses import Microdata, MicrodataRelease
from metrics import CategoricalDomain, NumericDomain

COUNT = 600
CODES = tuple("abcdefgh")


def learned(people, released, domains):
    """Mechanism of the only column if every row is known to stem from the candidate at its place."""
    knowledge = Knowledge(people, Microdata(people, domains=domains))
    models = ColumnModels(shared_columns(MicrodataRelease(released, np.arange(len(released))), knowledge))
    pairs = weighted_pairs(models.tables, models.expected_counts(np.eye(len(people))))
    fit = first_fit(pairs, models.fit)
    for _ in range(6):
        fit = chosen_fit(pairs, refined(pairs, fit, 30))
    return fit


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("family", "offset"), [(GAUSSIAN, 0), (LAPLACE, 0), (LAPLACE, 25)])
def test_family_scale_and_offset_of_noise_are_found(family, offset):
    rng = np.random.default_rng(1)
    people = pd.DataFrame({"x": rng.integers(0, 10_000, COUNT)})
    noise = rng.normal(0, 40, COUNT) if family == GAUSSIAN else rng.laplace(0, 40, COUNT)
    released = pd.DataFrame({"x": (people["x"] + noise + offset).round()})
    mechanism = learned(people, released, {"x": NumericDomain(-1000, 11_000)})
    assert mechanism.noise(0).family == family
    assert mechanism.noise(0).scale == pytest.approx(40, rel=0.15)
    # Four standard errors of a median are 7; without an offset none is claimed.
    assert abs(mechanism.noise(0).offset - offset) <= (7 if offset else 0)
    assert mechanism.shares[0, 1] > 0.9


@pytest.mark.parametrize("evenly", [True, False])
def test_replacement_by_frequency_or_evenly_is_found(evenly):
    rng = np.random.default_rng(2)
    people = pd.DataFrame({"x": rng.choice(CODES, COUNT, p=[0.65, *[0.05] * 7])})
    drawn = rng.choice(CODES, COUNT) if evenly else rng.permutation(people["x"].to_numpy())
    kept = rng.random(COUNT) < 0.5
    released = pd.DataFrame({"x": np.where(kept, people["x"], drawn)})
    mechanism = learned(people, released, {"x": CategoricalDomain(CODES)})
    assert mechanism.even[0] == evenly
    assert mechanism.shares[0, 0] == pytest.approx(0.5, abs=0.1)
