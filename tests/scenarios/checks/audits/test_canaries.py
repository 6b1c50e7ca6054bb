"""Canaries of each kind of mechanism: correct mechanisms pass with useful bounds, and broken ones fail.

Bounds hold with 99.9 %: a test that asserts that a correct mechanism passes raises a false alarm in at most 0.1 % of
seeds. Seeds are fixed.
"""

from dataclasses import replace

import numpy as np
import pytest

import defenses.synthetic.spanning_trees as synthesis
from defenses import (
    AdaptiveIterativeMechanism,
    Curator,
    FederatedAveraging,
    GraphCurator,
    Guarantee,
    MaximumSpanningTree,
    MicrodataDefense,
    PrivateMarginals,
    RefinedBins,
    RetentionReplacement,
    released_frame,
    rowwise_release,
)
from defenses.dp import DiscreteGaussian, DiscreteLaplace, Exponential, Laplace, RandomizedResponse, Staircase
from defenses.ldp import GeneralizedRandomizedResponse, PiecewiseMechanism
from defenses.synthetic.graphical.estimation import MeasuredTable
from scenarios.checks.audits.audit import audit, one_run_audit
from scenarios.checks.audits.canaries import canaries
from scenarios.checks.audits.subjects import subject

FEWER = 400
"""Canaries of a synthesis or an array: the cost grows with their square, and broken mechanisms are caught with these.

Half of the noise is caught with four seeds of four.
"""


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.usefixtures("tables_are_read_once")
@pytest.mark.parametrize(
    ("mechanism", "least", "count"),
    [
        (Laplace(epsilon=2.0), 1.7, None),
        (Laplace(epsilon=2.0, sensitivity=0.25), 1.7, None),
        (DiscreteLaplace(epsilon=2.0, sensitivity=3), 1.7, None),
        (Staircase(epsilon=2.0), 1.7, None),
        (DiscreteGaussian(epsilon=2.0, delta=1e-5), 1.2, 1000),
        (RandomizedResponse(epsilon=2.0), 1.7, None),
        (Exponential(epsilon=2.0), 0.8, None),
        (GeneralizedRandomizedResponse(epsilon=2.0, d=4), 1.7, None),
        (PiecewiseMechanism(epsilon=2.0), 1.5, None),
        (RetentionReplacement(epsilon=2.0), 1.7, None),
        (Curator(epsilon=2.0), 1.3, None),
        (Curator(epsilon=2.0, neighbours="add or remove"), 1.3, None),
        (Curator(epsilon=2.0, delta=1e-5, mechanism="gaussian"), 1.0, None),
        (PrivateMarginals(epsilon=2.0, delta=1e-5), 0.8, FEWER),
        (MaximumSpanningTree(epsilon=2.0, delta=1e-5), 0.8, FEWER),
        # Refined bins use it below.
        pytest.param(AdaptiveIterativeMechanism(epsilon=2.0, delta=1e-5), 0.8, None, marks=pytest.mark.long),
        (GraphCurator(epsilon=2.0), 1.3, None),
    ],
    ids=repr,
)
def test_correct_mechanisms_pass_with_useful_bounds(mechanism, least, count):
    result = one_run_audit(canaries(mechanism), canaries=count, rng=rng())
    assert result.subject.epsilon == 2
    assert result.holds
    assert result.bound >= least


class HalvedNoise(synthesis.Budget):
    """Standard deviations of the noise on counts are halved."""

    @property
    def single(self):
        return super().single / 4


@pytest.mark.long
@pytest.mark.parametrize(
    ("epsilon", "count"), [(2.0, FEWER), *(pytest.param(value, None, marks=pytest.mark.long) for value in (1.0, 4.0))]
)
def test_synthesis_with_half_of_the_noise_is_caught(epsilon, count, monkeypatch):
    examined = canaries(PrivateMarginals(epsilon=epsilon))
    assert one_run_audit(examined, canaries=count, rng=rng(1)).holds
    monkeypatch.setattr(synthesis, "Budget", HalvedNoise)
    assert not one_run_audit(examined, canaries=count, rng=rng(1)).holds


@pytest.mark.long_for("RefinedBins")
@pytest.mark.parametrize(
    "defense",
    [
        MaximumSpanningTree(epsilon=2.0),
        # Refined bins draw the noise of the same mechanism.
        pytest.param(AdaptiveIterativeMechanism(epsilon=2.0), marks=pytest.mark.long),
        RefinedBins(synthesizer=AdaptiveIterativeMechanism(epsilon=2.0)),
    ],
    ids=lambda defense: type(defense).__name__,
)
def test_graphical_synthesis_with_half_of_the_noise_is_caught(defense, monkeypatch):
    examined, measured = canaries(defense), MeasuredTable.measured
    assert examined.gaussian
    assert one_run_audit(examined, canaries=FEWER, rng=rng()).holds
    halved = lambda table, columns, variance, rng: measured(table, columns, variance / 4, rng)  # noqa: E731
    monkeypatch.setattr(MeasuredTable, "measured", halved)
    assert not one_run_audit(examined, canaries=FEWER, rng=rng()).holds


class TwiceTheRetention(RetentionReplacement):
    """Spends twice what it claims."""

    def apply(self, records, rng):
        return RetentionReplacement(epsilon=2 * self.epsilon).apply(records, rng)


class Spendthrift(Curator):
    """Answers with half of the noise."""

    def session(self, records, rng, account=None):
        return Curator(epsilon=2 * self.epsilon, neighbours=self.neighbours).session(records, rng)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "broken", [TwiceTheRetention(epsilon=1.0), Spendthrift(epsilon=1.0), Spendthrift(neighbours="add or remove")]
)
def test_half_of_the_noise_is_caught(broken):
    result = one_run_audit(canaries(broken), rng=rng())
    assert not result.holds
    assert result.bound <= 2


class ShuffledRows(RetentionReplacement):
    """Releases its rows in random order."""

    def apply(self, records, rng):
        release = super().apply(records, rng)
        order = rng.permutation(len(records))
        return replace(release, frame=release.frame.iloc[order].reset_index(drop=True), origin=release.origin[order])


@pytest.mark.thorough
@pytest.mark.usefixtures("declarations_are_believed")
def test_rows_are_recognized_by_their_origin():
    assert one_run_audit(canaries(ShuffledRows(epsilon=2.0)), rng=rng()).bound > 1.7


class Silent(Curator):
    """Refuses every query."""

    def session(self, records, rng, account=None):
        session = super().session(records, rng)
        session.answer_all = None
        while session.remaining > 0:
            from defenses.base.queries import Count

            session.answer(Count(), session.remaining)
        return session


def test_a_curator_that_refuses_is_named():
    with pytest.raises(ValueError, match="refuses a histogram"):
        one_run_audit(canaries(Silent()), rng=rng())


class Deficient(MicrodataDefense):
    """Returns no release of a table, or one without columns."""

    def __init__(self, *, columns=False):
        self.columns = columns

    def guarantee(self, records):
        return Guarantee(epsilon=1.0, statement="one record replaced by any other")

    def apply(self, records, rng):
        return rowwise_release(released_frame(records)[[]], channel=None) if self.columns else 3


@pytest.mark.parametrize(
    ("columns", "words"),
    [(False, "Deficient: apply must return a MicrodataRelease, got int"), (True, "reads column '{}' of its table")],
)
def test_a_defense_without_a_table_to_read_is_named(columns, words):
    with pytest.raises(ValueError, match=words.format("name")):
        one_run_audit(canaries(Deficient(columns=columns)), rng=rng())
    with pytest.raises(ValueError, match=words.format("answer")):
        audit(subject(Deficient(columns=columns)), runs=8, rng=rng())


@pytest.mark.parametrize("make", [canaries, subject])
def test_other_kinds_of_release_are_named(make):
    with pytest.raises(ValueError, match="FederatedAveraging releases training; audit the mechanism behind it"):
        make(FederatedAveraging())
