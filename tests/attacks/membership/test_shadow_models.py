"""Shadow models: the features of their classifier, bad parameters."""

import numpy as np
import pandas as pd
import pytest

from attacks import ShadowModels
from attacks.membership.shadow_models import _confidence_features


class Fixed:
    target, classes = "y", ("a", "b", "c")

    def predict_proba(self, people):
        return np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]])[: len(people)]


def test_features_are_the_class_its_probability_the_next_one_and_the_entropy():
    features = _confidence_features(Fixed(), pd.DataFrame({"y": ["b", "c"]}))
    # The entropy of (1/2, 1/4, 1/4) is 1.5 bits; a sure answer has none.
    assert features[0] == pytest.approx([1, 0.25, 0.5, 1.5 * np.log(2)])
    assert features[1] == pytest.approx([2, 1.0, 0.0, 0.0])


@pytest.mark.parametrize("shadows", [0, -1, 1.5, "8"])
def test_at_least_one_shadow_model(shadows):
    with pytest.raises(ValueError, match="shadows"):
        ShadowModels(shadows=shadows)
