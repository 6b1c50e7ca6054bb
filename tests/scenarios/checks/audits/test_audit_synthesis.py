"""Audits of synthesis from noisy marginals: broken ones are caught, and honest ones keep their claim.

Bounds hold with 99.9 %, so that an honest defense fails in at most 0.1 % of seeds. Seeds are fixed.
"""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from defenses import AdaptiveIterativeMechanism, MaximumSpanningTree
from defenses.base.microdata import Microdata
from defenses.synthetic.graphical.candidates import Candidates
from metrics.columns.domains import CategoricalDomain, infer_domain
from scenarios.checks.audits.audit import Neighbours, Subject, audit
from scenarios.checks.audits.names import mechanism_of
from scenarios.checks.audits.subjects import subject

DEFENSES = (MaximumSpanningTree, AdaptiveIterativeMechanism)
ONE_QUICKLY = (MaximumSpanningTree, pytest.param(AdaptiveIterativeMechanism, marks=pytest.mark.long))
"""Both share the code of selection and of domains; one is enough outside of long runs."""
# A large delta makes the worst event frequent enough for few releases.
DELTA = 0.05

pytestmark = pytest.mark.filterwarnings("ignore:.*epsilon is too small")


def rng(seed=0):
    return np.random.default_rng(seed)


def broken(defense, title):
    """A subclass of the defense that breaks its guarantee in one way, under the same name."""

    class HalfNoise(defense):
        """Spends four times the budget, so that all noise is halved."""

        def _fitted(self, table, rho, names, rng):
            return super()._fitted(table, 4 * rho, names, rng)

    class DomainFromData(defense):
        """Reads the values that occur from the records."""

        def apply(self, records, rng):
            domains = {name: replace(infer_domain(records.frame[name]), inferred=False) for name in records.frame}
            return super().apply(replace(records, domains=domains), rng)

    class PlainSelection(defense):
        """Selects the best option without noise."""

        def _selected(self, scores, epsilon, sensitivity, runs, rng):
            return np.full(runs, np.argmax(scores))

    return {cls.__name__: cls for cls in (HalfNoise, DomainFromData, PlainSelection)}[title]


def tied(which, n=400):
    """The first (0) or second (1) of two neighbouring tables of three columns.

    The first two columns agree in nine of ten records. The third agrees with each of them in three of four. In the
    first table it agrees with the first column in one record more than with the second; in the second table it is the
    other way round. The best spanning tree holds the pair of the first two columns, and the better of the other two.
    """
    part = n // 80
    # Rows of values of the three columns, and their numbers.
    kinds = {(0, 0, 0): 28, (0, 0, 1): 8, (0, 1, 0): 2, (0, 1, 1): 2}
    rows = [
        (first ^ a, first ^ b, first ^ c) for first in (0, 1) for (a, b, c), m in kinds.items() for _ in range(m * part)
    ]
    values = np.array(rows)
    # Replacing one record moves one score up and the other one down.
    values[0] = (0, 1, 0) if which == 0 else (0, 1, 1)
    frame = pd.DataFrame(np.array(["no", "yes"], dtype=object)[values], columns=["a", "b", "c"])
    return Microdata(frame, domains={name: CategoricalDomain(("no", "yes")) for name in frame})


def agreements(defense, records, runs, rng):
    """Numbers of released rows in which each pair of columns agrees, shape (runs, 4); the last is a difference."""
    rows = []
    for _ in range(runs):
        frame = defense.apply(records, rng).frame
        same = [(frame[x] == frame[y]).sum() for x, y in (("a", "b"), ("a", "c"), ("b", "c"))]
        rows.append([*same, same[1] - same[2]])
    return np.array(rows, dtype=float)


def of_selection(method, epsilon=1.0):
    """The audit on tables that differ in the best pair of columns.

    The model of the adaptive mechanism may hold a single pair, so that its last selection decides on which.
    """
    parameters = (
        {"workload": [["a", "c"], ["b", "c"]], "most_cells": 7} if "workload" in method.parameter_names() else {}
    )
    defense = method(epsilon=epsilon, delta=DELTA, **parameters)
    pair = Neighbours("ties", *(partial(agreements, defense, tied(which)) for which in (0, 1)))
    return Subject(repr(defense), epsilon, DELTA, (pair,), tight=False)


def of_two_categories(defense):
    examined = subject(defense)
    return replace(examined, neighbours=examined.neighbours[-1:])


@pytest.mark.thorough
@pytest.mark.parametrize("defense", ONE_QUICKLY)
def test_a_domain_read_from_data_is_caught(defense):
    examined = subject(broken(defense, "DomainFromData")(epsilon=1.0, delta=DELTA))
    first = replace(examined, neighbours=examined.neighbours[:1])
    assert not audit(first, runs=70, rng=rng()).holds
    honest = subject(defense(epsilon=1.0, delta=DELTA))
    assert audit(replace(honest, neighbours=honest.neighbours[:1]), runs=70, rng=rng()).holds


@pytest.fixture
def even_rows(monkeypatch):
    """Rows of the model with which records are compared: all eight combinations, without the noise of drawing rows."""
    combinations = list(np.indices((2, 2, 2)).reshape(3, -1))
    monkeypatch.setattr(Candidates, "rows", lambda self, model, rng: combinations)


@pytest.mark.long
@pytest.mark.usefixtures("even_rows")
@pytest.mark.parametrize("defense", ONE_QUICKLY)
def test_selection_without_noise_is_caught(defense):
    found = audit(of_selection(broken(defense, "PlainSelection")), runs=70, rng=rng())
    assert not found.holds
    assert audit(of_selection(defense), runs=70, rng=rng()).holds


@pytest.mark.long
@pytest.mark.parametrize("defense", DEFENSES)
def test_half_the_noise_is_caught(defense):
    found = audit(of_two_categories(broken(defense, "HalfNoise")(epsilon=1.0, delta=DELTA)), runs=3000, rng=rng())
    assert not found.holds
    honest = audit(of_two_categories(defense(epsilon=1.0, delta=DELTA)), runs=3000, rng=rng())
    assert honest.holds
    # The bound is not trivial, so that the event that catches half the noise is seen here too.
    assert honest.bound > 0.1


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("defense", DEFENSES)
def test_the_whole_audit_holds(defense, epsilon):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for examined in (subject(defense(epsilon=epsilon)), of_selection(defense, epsilon)):
            assert audit(examined, runs=2000, rng=rng()).holds


def test_a_defense_within_a_defense_is_audited_by_name():
    parameters = {"synthesizer": {"use": "AdaptiveIterativeMechanism", "epsilon": 2.0}}
    examined = subject(mechanism_of("RefinedBins", parameters))
    assert examined.epsilon == 2
    with pytest.raises(ValueError, match="synthesizer must be MaximumSpanningTree"):
        mechanism_of("RefinedBins", {"synthesizer": {"use": "Identity"}})
