"""Repetition of the defense on the attacker's people, which the attacks on one release share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from attacks.base.attack import Knowledge
from defenses.base import Microdata, MicrodataRelease
from metrics.columns import Integers


@dataclass(frozen=True)
class Simulation:
    """A release of the attacker's people by the same mechanism.

    - order, shape (auxiliary,): Random order of the attacker's people. The first ones are released.
    - release: Their release. Its origins are positions among the released people.
    - auxiliary, publisher: The attacker's people and the mechanism, by which later calls recognize the simulation.
    """

    order: Integers
    release: MicrodataRelease
    auxiliary: Microdata
    publisher: Callable[..., Any]


def simulation(release: MicrodataRelease, knowledge: Knowledge, rows: int, number: int) -> Simulation:
    """Repeat the defense on `rows` of the attacker's people, once for all attacks on a release.

    The seed follows from the release, so that all attacks share a simulation, whichever runs first. Different numbers
    give independent simulations.

    If the attacker does not know the mechanism, a TypeError is raised; if the defense refuses so few people, a
    ValueError.
    """
    if knowledge.simulate is None:
        raise TypeError("the attacker does not know the mechanism")
    key = ("simulation", rows, number)
    past: Simulation | None = release.shared.simulations.get(key)
    if past is not None and past.auxiliary is knowledge.auxiliary and past.publisher == knowledge.simulate:
        return past
    if "digest" not in release.shared.simulations:
        release.shared.simulations["digest"] = _digest(release)
    rng = np.random.default_rng([release.shared.simulations["digest"], number])
    order = rng.permutation(len(knowledge.auxiliary))
    repeated: MicrodataRelease = knowledge.simulate(knowledge.auxiliary.take(order[:rows]), rng)
    fresh = Simulation(order, repeated, knowledge.auxiliary, knowledge.simulate)
    release.shared.simulations[key] = fresh
    return fresh


def _digest(release: MicrodataRelease) -> int:
    """An integer of 64 bits that follows from the released cells and their order."""
    rows = pd.util.hash_pandas_object(release.frame.astype(str), index=False).to_numpy()
    odd_numbers = np.arange(1, 2 * len(rows), 2, dtype=np.uint64)
    return int((rows * odd_numbers).sum(dtype=np.uint64))
