"""Synthesizers with declared structural zeros: conditional columns, rules finer than bins, guarantees and bad rules."""

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table

from defenses import (
    AdaptiveIterativeMechanism,
    ClassificationTrees,
    GaussianCopula,
    MaximumSpanningTree,
    NeighbourInterpolation,
    PrivateMarginals,
    PrivBayes,
)
from defenses.synthetic.graphical import graphical_synthesis
from defenses.synthetic.graphical.estimation import NoisyMarginal, estimated
from defenses.synthetic.graphical.refined_column import MergedValues
from defenses.synthetic.row_synthesizer import structural_zeros
from metrics import CategoricalDomain, NumericDomain

PRIVATE = [MaximumSpanningTree, AdaptiveIterativeMechanism, PrivateMarginals, PrivBayes]
METHODS = [*(method(epsilon=2.0) for method in PRIVATE), GaussianCopula()]
# The age of 15 lies inside a public bin.
DOMAINS = {
    "age": NumericDomain(0, 99, integer=True, cuts=(18, 40, 65)),
    "income": NumericDomain(0, 99_999, integer=True, cuts=(1, 1000, 5000)),
    "job": CategoricalDomain(("none", "cook", "clerk")),
}
RULES = [{"age": "[0,15)", "income": "[1,99999]"}, {"age": "[0,15)", "job": "{cook|clerk}"}]


def conditional(n=1500, seed=0):
    """A quarter of the people are children without income and job."""
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(n) < 0.25, rng.integers(0, 15, n), rng.integers(15, 100, n))
    adult = age >= 15
    income = np.where(adult, rng.integers(0, 9000, n), 0)
    job = np.where(adult, rng.choice(["cook", "clerk"], n), "none").astype(object)
    return table(DOMAINS, age=age, income=income, job=job)


def impossible(frame):
    """Rows that a rule forbids."""
    child = frame["age"] < 15
    return int((child & ((frame["income"] >= 1) | (frame["job"] != "none"))).sum())


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_conditional_columns_do_not_come_out_impossible(method):
    records = conditional()
    assert impossible(records.frame) == 0
    assert impossible(apply(method, records).frame) > 0
    bound = method.clone().set_params(structural_zeros=RULES)
    frame = apply(bound, records).frame
    assert len(frame) == len(records)
    assert impossible(frame) == 0
    # Drawing again does not empty the group that the rules are about.
    assert 0.1 < (frame["age"] < 15).mean() < 0.35


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_rules_change_neither_the_guarantee_nor_rows_that_hold_none(method):
    """Rules only decide which rows of the fitted model are drawn again, so that they cost no budget."""
    records = conditional(300)
    harmless = method.clone().set_params(structural_zeros=[{"age": "99", "income": "99999", "job": "cook"}])
    assert harmless.guarantee(records) == method.guarantee(records)
    pd.testing.assert_frame_equal(apply(harmless, records).frame, apply(method, records).frame)


@pytest.mark.thorough_beyond(1)
@pytest.mark.filterwarnings("ignore:.*epsilon is too small")
@pytest.mark.parametrize("method", [GaussianCopula(), *(method(epsilon=0.01) for method in PRIVATE)])
def test_bad_rules_are_named(method):
    def refused(message, *rules):
        bad = method.clone().set_params(structural_zeros=rules)
        with pytest.raises(ValueError, match=message):
            bad.check(conditional(50))
        with pytest.raises(ValueError, match=message):
            apply(bad, conditional(50))

    refused("structural_zeros: there is no released column 'town'", {"town": "Ulm"})
    refused("structural_zeros: .*'job'.*'pilot' holds an unknown category", {"job": "pilot"})
    refused("structural_zeros: column 'age': 130 covers no number of the domain, which is 0 to 99", {"age": "130"})
    refused(r"structural_zeros: the combination age = \*, job = \* forbids every row", {"age": "*", "job": "*"})
    with pytest.raises(ValueError, match="structural_zeros must be a list of mappings"):
        method.clone().set_params(structural_zeros={"age": "3"})
    everything = method.clone().set_params(structural_zeros=[{"job": "none"}, {"job": "{cook|clerk}"}])
    with pytest.raises(ValueError, match=r"structural_zeros: 100 draws did not avoid .* job = (none|\{cook)"):
        apply(everything, conditional(50))


@pytest.mark.parametrize("method", [ClassificationTrees(), NeighbourInterpolation(k=2), GaussianCopula()])
def test_a_rule_may_name_a_column_without_values(method):
    records = table({"empty": CategoricalDomain(("a", "b"))}, x=[1, 2, 3, 4] * 5, empty=[None] * 20)
    bound = method.clone().set_params(structural_zeros=[{"empty": "a", "x": "1"}])
    assert (apply(bound, records).frame["x"] == 1).any()
    bound = method.clone().set_params(structural_zeros=[{"empty": "*", "x": "1"}])
    assert not (apply(bound, records).frame["x"] == 1).any()


def test_cells_of_whole_categories_and_bins():
    """The third bin of ages is 40 to 64; a rule that covers a part of a bin leaves the bin possible."""
    names = ["job", "age", "income"]

    def cells(**rule):
        return structural_zeros(conditional(5), [rule])[0].cells_of(names)

    whole = cells(age="[40,64]", job="{cook|clerk}")
    assert whole.shape == (3, 4)
    assert np.argwhere(whole).tolist() == [[1, 2], [2, 2]]
    assert cells(age="[0,40)").tolist() == [True, True, False, False]
    assert not cells(age="[0,15)").any()
    assert cells(age="{0|17}").sum() == 0
    assert cells(age="*", job="none").tolist() == [[True] * 4, [False] * 4, [False] * 4]
    halves = table({"x": NumericDomain(0, 1, cuts=(0.5,))}, x=[0.1])
    assert structural_zeros(halves, [{"x": "[0,0.5)"}])[0].cells_of(["x"]).tolist() == [True, False]
    assert structural_zeros(halves, [{"x": "[0.5,1]"}])[0].cells_of(["x"]).tolist() == [False, True]


@pytest.mark.thorough
@pytest.mark.long_for("MaximumSpanningTree")
@pytest.mark.parametrize("method", [MaximumSpanningTree, AdaptiveIterativeMechanism])
def test_the_model_knows_rules_of_whole_bins(method):
    """The group that rules are about keeps its size at a small epsilon, where drawing again would thin it."""
    domains = {**DOMAINS, "age": NumericDomain(0, 99, integer=True, cuts=(15, 40, 65))}
    records = conditional(600)
    records = table(domains, **{name: records.frame[name].to_numpy() for name in domains})
    defense = method(epsilon=0.5, structural_zeros=RULES)

    def share(seeds=range(6)):
        frames = [apply(defense, records, seed).frame for seed in seeds]
        assert sum(map(impossible, frames)) == 0
        return np.mean([np.abs((frame["age"] < 15).mean() - (records.frame["age"] < 15).mean()) for frame in frames])

    with_rules = share()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphical_synthesis, "MOST_RULE_CELLS", 0)
        assert with_rules < 0.8 * share()


def test_merged_values_are_impossible_together():
    """The last three of five values are rare and merged; they are impossible if each of them is."""
    merged = MergedValues(NoisyMarginal((0,), np.array([90.0, 80, 1, 2, 0]), 1.0))
    assert merged.size == 3
    cells = np.zeros((2, 5), dtype=bool)
    cells[0, 2:4] = cells[1, 1:] = True
    assert merged.impossible(cells, 1).tolist() == [[False, False, False], [False, True, True]]


def test_estimation_keeps_impossible_cells_empty_and_fits_the_rest():
    """Both one-way distributions are kept although one cell is impossible, also where the noisy pair says otherwise."""
    forbidden = np.array([[True, False], [False, False]])
    singles = [NoisyMarginal((column,), np.array([40.0, 60.0]), 1.0) for column in (0, 1)]
    pair = NoisyMarginal((0, 1), np.array([[5.0, 35], [35, 25]]), 50.0)
    for measured in (singles, [*singles, pair]):
        model = estimated((2, 2), measured, 100, iterations=500, impossible={(0, 1): forbidden})
        (belief,) = model.beliefs
        assert belief[0, 0] < 1e-12
        assert belief.sum(axis=0) == pytest.approx([0.4, 0.6], abs=0.01)
        assert belief.sum(axis=1) == pytest.approx([0.4, 0.6], abs=0.01)
    # A value that is impossible altogether leaves finite beliefs.
    nothing = {(0,): np.array([True, False])}
    assert np.isfinite(estimated((2, 2), singles, 100, iterations=50, impossible=nothing).beliefs[0]).all()


@pytest.mark.parametrize("method", [MaximumSpanningTree, AdaptiveIterativeMechanism, PrivateMarginals])
def test_epsilon_has_the_limits_of_the_noise(method):
    for epsilon in (2.0**-20, 2.0**20):
        assert method(epsilon=epsilon).epsilon == epsilon
    for epsilon in (0.99 * 2.0**-20, 1.01 * 2.0**20):
        with pytest.raises(ValueError, match="epsilon"):
            method(epsilon=epsilon)
