"""Linkage by a classifier of pairs that was trained on simulated releases."""

import numpy as np
import pytest

from attacks import Knowledge, LearnedLinkage, NotApplicable
from defenses import Identity, MicrodataRelease
from scenarios.seeds import generator


def test_it_needs_the_defense_and_people_of_its_own(bank):
    people = bank.take(np.arange(30))
    release = MicrodataRelease(people.frame, np.full(30, -1))
    with pytest.raises(NotApplicable, match="repeat the defense"):
        LearnedLinkage().run(release, Knowledge(people.frame, people), generator(0))
    with pytest.raises(NotApplicable, match="people of its own"):
        LearnedLinkage().run(release, Knowledge(people.frame, people.take([0]), Identity().apply), generator(0))


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({"penalty": 0}, "penalty"), ({"simulations": 0}, "simulations"), ({"near": 0}, "near"), ({"far": -1}, "far")],
)
def test_bad_parameters_are_refused(parameters, name):
    with pytest.raises(ValueError, match=name):
        LearnedLinkage(**parameters)
