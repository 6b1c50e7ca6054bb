"""The conformance suite catches broken attribute attacks."""

import numpy as np
import pandas as pd
import pytest

from attacks import MajorityInClass, ValueClaims
from scenarios.checks.conformance.suite import checks


class Unseeded(MajorityInClass):
    """Claims at random, from no generator of the game's."""

    def run(self, release, knowledge, rng):
        said = super().run(release, knowledge, rng)
        chosen = np.random.default_rng().choice(np.array(["none", "flu", "cold"], dtype=object), len(said.values))
        return ValueClaims(pd.DataFrame({"illness": chosen}), said.confidence, said.about, said.weight)


class Meddling(MajorityInClass):
    """Overwrites the release."""

    def run(self, release, knowledge, rng):
        said = super().run(release, knowledge, rng)
        release.frame["age"] = 50
        return said


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("method", "title"),
    [
        (Unseeded, "same seed, same claims"),
        (Unseeded, "names 90 % of the values in a plain copy"),
        (Meddling, "does not modify its inputs"),
    ],
)
def test_the_conformance_suite_catches_broken_attacks(method, title):
    (run,) = (check for name, check in checks(method) if name == title)
    with pytest.raises(AssertionError):
        run()
