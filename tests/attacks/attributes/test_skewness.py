"""The skewness attack on a table made by hand, and t-closeness against it."""

from illness_tools import claims
from numpy.testing import assert_allclose
from playing_tools import scored

from attacks import Skewness
from defenses import Mondrian
from scenarios import AttributeInference
from scenarios.tables.seeds import generator


def test_skewness_bets_on_the_most_over_represented_value_of_distant_classes():
    answers = claims(Skewness(distance=0.3), [25, 35, 45])
    # The table has 1/2 flu, 5/12 cold, 1/12 ulcer; the second class is at distance 1/12.
    assert answers.about.tolist() == [0, 2]
    assert answers.values["illness"].tolist() == ["flu", "cold"]
    assert_allclose(answers.confidence, [1 / 2, 3 / 4 - 5 / 12 + 1 / 4 - 1 / 12])
    assert claims(Skewness(distance=0.6), [25, 35, 45]).about.size == 0


def test_t_closeness_answers_skewness(adult_attributes):
    game = AttributeInference(records=adult_attributes, originals=300, strangers=300)
    answered = [
        scored(defense, Skewness(distance=0.3), game, generator(0, "play")).measures["answered"]
        for defense in (Mondrian(k=3), Mondrian(k=3, t=0.29))
    ]
    assert answered[0] > 0.1
    assert answered[1] == 0
