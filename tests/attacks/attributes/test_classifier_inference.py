"""Attribute inference by a classifier trained on the release."""

import pandas as pd
import pytest
from illness_tools import RELEASE, TWELVE

from attacks import ClassifierInference, Knowledge
from scenarios.tables.seeds import generator


def test_the_commonest_value_of_the_released_class_is_predicted():
    knowledge = Knowledge(pd.DataFrame({"age": [25, 45]}), TWELVE)
    answers = ClassifierInference().run(RELEASE, knowledge, generator(0))
    assert answers.about.tolist() == [0, 1]
    assert answers.values["illness"].tolist() == ["flu", "cold"]


@pytest.mark.parametrize("trees", [0, -1, 1.5, "many"])
def test_at_least_one_tree(trees):
    with pytest.raises(ValueError, match="trees"):
        ClassifierInference(trees=trees)
