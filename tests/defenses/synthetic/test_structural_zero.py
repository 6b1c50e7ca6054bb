"""Structural zeros: which rows hold one, and rules that cannot be read."""

import numpy as np
import pytest
from defense_tools import JOB, people

from defenses import GlobalRecoding, Pipeline
from defenses.synthetic.classification_trees import ClassificationTrees
from defenses.synthetic.structural_zero import structural_zeros


def test_cells_of_the_grammar_name_combinations():
    rules = [{"age": "[17,30)", "job": "{tech|blue\\|collar}"}, {"job": "{admin.|}"}, {"age": "17"}]
    young, office, seventeen = structural_zeros(people(20), rules)
    missing = JOB.size
    drawn = {
        "age": np.array([17.0, 29.9, 30.0, np.nan]),
        "job": np.array([JOB.position("tech"), JOB.position("blue|collar"), JOB.position("tech"), missing]),
    }
    assert young.holds(drawn).tolist() == [True, True, False, False]
    assert office.holds(drawn).tolist() == [False, False, False, True]
    assert seventeen.holds(drawn).tolist() == [True, False, False, False]
    assert str(young) == "age = [17,30), job = {tech|blue\\|collar}"


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([{"nothing": "1"}], "structural_zeros: there is no released column 'nothing'"),
        ([{"name": "p1"}], "structural_zeros: there is no released column 'name'"),
        ([{"job": "pilot"}], "structural_zeros: .*'job'.*pilot"),
        ([{"age": "young"}], "structural_zeros: .*'age'.*young"),
    ],
)
def test_rules_that_do_not_fit_the_table_are_named(rules, message):
    with pytest.raises(ValueError, match=message):
        ClassificationTrees(structural_zeros=rules).check(people(20))


@pytest.mark.parametrize("bad", ["age", 3, [{}], [{"age": 3}], ["age"], [{3: "age"}], None])
def test_rules_in_another_form_are_refused(bad):
    with pytest.raises(ValueError, match="structural_zeros must be a list of mappings"):
        ClassificationTrees(structural_zeros=bad)


def test_a_column_of_released_cells_is_refused():
    steps = [GlobalRecoding(levels={"age": 1}), ClassificationTrees(structural_zeros=[{"age": "17"}])]
    with pytest.raises(ValueError, match="structural_zeros: column 'age' holds released cells already"):
        Pipeline(steps=steps).apply(people(40), np.random.default_rng(0))
