"""Nearest-neighbour linkage with Gower's distance and with metrics of scikit-learn."""

import numpy as np
import pytest
from linkage_tools import (
    small_release,
)

from attacks import (
    Knowledge,
    NearestNeighbour,
)
from attacks.linkage.nearest_neighbour import METRICS
from defenses import (
    Identity,
)
from scenarios.tables.seeds import generator


def test_the_nearest_candidate_answers_every_row_also_where_rows_outnumber_candidates():
    release, knowledge = small_release({"age": [20] * 6, "job": ["a"] * 6})
    assert NearestNeighbour().run(release, knowledge, generator(0)).best(generator(0)).tolist() == [0] * 6


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_finds_the_people_of_a_copy(bank, metric):
    people = bank.take(np.arange(60))
    knowledge = Knowledge(people.frame, people)
    best = (
        NearestNeighbour(metric=metric)
        .run(Identity().apply(people, generator(0)), knowledge, generator(0))
        .best(generator(0))
    )
    assert (best == np.arange(60)).mean() > 0.9 or metric in (
        "dice",
        "jaccard",
        "rogerstanimoto",
        "russellrao",
        "sokalsneath",
        "yule",
    )
