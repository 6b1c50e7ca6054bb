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


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_rules_change_neither_the_guarantee_nor_rows_that_hold_none(method):
    """Rules only decide which rows of the fitted model are drawn again, so that they cost no budget."""
    records = conditional(300)
    harmless = method.clone().set_params(structural_zeros=[{"age": "99", "income": "99999", "job": "cook"}])
    assert harmless.guarantee(records) == method.guarantee(records)
    pd.testing.assert_frame_equal(apply(harmless, records).frame, apply(method, records).frame)


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
    refused("structural_zeros: .*'job'.*unknown category 'pilot'", {"job": "pilot"})
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
