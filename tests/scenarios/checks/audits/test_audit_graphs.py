"""Audits of curators of graphs: broken ones are caught, honest ones pass.

Lower bounds hold with 99.9 %, so an honest curator raises a false alarm in at most 0.1 % of seeds. Seeds are fixed.
"""

import numpy as np
import pytest

from defenses import GraphCurator
from defenses.base.guarantee import Guarantee
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import subject

pytestmark = pytest.mark.usefixtures("tables_are_read_once")


class EdgeNoiseForNodes(GraphCurator):
    """Claims to hide persons with noise that hides friendships."""

    def guarantee(self, records):
        return Guarantee(epsilon=self.epsilon, delta=0.0)

    def apply(self, records, rng):
        return GraphCurator(epsilon=self.epsilon, level="edge", queries=self.queries).apply(records, rng)


@pytest.mark.thorough
def test_noise_for_friendships_does_not_hide_persons():
    found = audit(subject(EdgeNoiseForNodes(epsilon=1.0, level="node")), runs=180, rng=np.random.default_rng(0))
    assert not found.holds
    assert found.bound > 2


@pytest.mark.thorough
def test_noise_for_friendships_does_not_hide_who_is_there():
    found = audit(subject(EdgeNoiseForNodes(epsilon=1.0, level="person")), runs=180, rng=np.random.default_rng(0))
    assert not found.holds
    assert found.bound > 2


@pytest.mark.long_for("150-2-edge", "150-2-node", "150-None-node", "150-None-person")
@pytest.mark.parametrize("level", ["edge", "node", "person"])
@pytest.mark.parametrize("bound", [None, 2])
@pytest.mark.parametrize("runs", [150, pytest.param(1000, marks=pytest.mark.long)])
def test_honest_curators_pass(level, bound, runs):
    found = audit(subject(GraphCurator(epsilon=1.5, level=level, bound=bound)), runs=runs, rng=np.random.default_rng(1))
    assert found.holds, found.bounds
    if level == "edge":
        assert found.bound > 0.5
