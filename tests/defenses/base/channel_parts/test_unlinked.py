"""The channel parts of cells without a link to their record."""

import numpy as np
import pandas as pd

from defenses.base.microdata import Microdata
from defenses.perturbation.swapping import Shuffle


def test_shuffle_says_how_often_a_value_occurs():
    records = Microdata(pd.DataFrame({"c": ["x", "x", "{", None], "n": [1, 2, 2, 2]}), quasi_identifiers=("c", "n"))
    release = Shuffle().apply(records, np.random.default_rng(0))
    original = pd.DataFrame({"c": ["x", "{", None, "y"], "n": [1.0, 2.0, 3.0, np.nan]})
    parts = {part.columns[0]: part for part in release.channel.parts}
    text = np.exp(parts["c"].bind(release.frame, original).table())
    numbers = np.exp(parts["n"].bind(release.frame, original).table())
    np.testing.assert_allclose(text, np.tile([0.5, 0.25, 0.25, 0], (4, 1)))
    np.testing.assert_allclose(numbers, np.tile([0.25, 0.75, 0, 0], (4, 1)))
