"""Reconstruction of bits and numbers from sums over random groups."""

import pytest
from statistics_tools import disclosure_rate, rng

from attacks import Reconstruction
from defenses import Curator, ExactCurator, UnaccountedCurator


@pytest.mark.thorough
@pytest.mark.parametrize("solver", ["least_squares", "linear_program"])
def test_reconstruction(bits, solver):
    attack = Reconstruction(solver=solver)
    assert disclosure_rate(ExactCurator(), attack, bits, 3) >= 0.95
    assert disclosure_rate(UnaccountedCurator(epsilon=1.0), attack, bits, 3) >= 0.95
    # 3 plays of 60 bits each at chance a half: three standard errors are 0.11; the larger share of bits is higher.
    assert disclosure_rate(Curator(epsilon=0.1), attack, bits, 3) <= 0.62


def test_reconstruction_from_no_answer(bits):
    secret = bits.draw(rng())
    session = Curator(epsilon=1.0, queries=1).apply(secret.records, rng()).open(rng())
    session.answer(secret.known.targets[0].queries[0])
    claims = Reconstruction().run(session, secret.known, rng())
    assert claims.values["value"].isna().all()


@pytest.mark.parametrize("change", [{"queries_per_person": 0}, {"solver": "guess"}])
def test_bad_parameters_are_named(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        Reconstruction(**change)
