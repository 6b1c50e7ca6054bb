"""Assignment linkage: one-to-one answers by Gower's distance."""

import numpy as np
import pandas as pd
import pytest
from linkage_tools import (
    small_release,
)

from attacks import (
    AssignmentLinkage,
    Knowledge,
    NearestNeighbour,
)
from defenses import (
    Microdata,
    MicrodataRelease,
)
from metrics import CategoricalDomain, NumericDomain
from scenarios.tables.seeds import generator


@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("attack", [NearestNeighbour(), AssignmentLinkage()], ids=repr)
def test_a_value_at_an_open_end_is_linked_to_the_cell_that_covers_it(attack, integer):
    people = pd.DataFrame({"age": [25, 30], "job": ["a", "a"]})
    domains = {"age": NumericDomain(0, 100, integer=integer), "job": CategoricalDomain(("a",))}
    release = MicrodataRelease(pd.DataFrame({"age": ["[20,30)", "[30,40)"], "job": ["a", "a"]}), np.full(2, -1))
    for seed in range(8):
        claims = attack.run(release, Knowledge(people, Microdata(people, domains=domains)), generator(seed))
        assert claims.best(generator(seed)).tolist() == [0, 1]


def test_assignment_differs_from_nearest_neighbours_where_rows_compete():
    # Both rows are nearest to person 0. A one-to-one assignment gives the second row another person.
    release = {"age": [20, 22], "job": ["a", "a"]}
    nearest = NearestNeighbour().run(*small_release(release), generator(0)).best(generator(0))
    optimal = AssignmentLinkage().run(*small_release(release), generator(0)).best(generator(0))
    assert nearest.tolist() == [0, 0]
    assert sorted(optimal.tolist()) != [0, 0]
    assert optimal[0] == 0
