"""Adversarial random forests: associations, stopping, numbers, bad parameters, and what attacks find."""

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table
from membership_tools import mean_score

from attacks import DistanceToClosestRecord
from defenses import ClassificationTrees, ForestSynthesis
from defenses.synthetic import tree_synthesis
from metrics import CategoricalDomain
from scenarios.datasets import load
from scenarios.games.candidate_file import Membership
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator


def test_each_column_is_drawn_given_all_before_it():
    """The third column is the exclusive or of the first two: every pair of columns is independent."""
    first, second = np.array([0, 0, 1, 1] * 50), np.array([0, 1] * 100)
    records = table(first=first, second=second, third=np.where(first ^ second, "one", "zero"))
    frame = apply(ClassificationTrees(leaf_size=1, rows=3000), records).frame
    assert (frame["third"] == np.where(frame["first"] ^ frame["second"], "one", "zero")).all()
    # 3,000 rows hold a share of 1/4 within 0.032 with probability 1 - 1e-4.
    assert frame.value_counts(normalize=True).to_numpy() == pytest.approx([0.25] * 4, abs=0.032)


def test_values_are_drawn_in_proportion_to_their_number_in_the_leaf():
    domain = {"mood": CategoricalDomain(("good", "bad", "never"))}
    records = table(domain, weather=["sun"] * 30 + ["rain"] * 30, mood=["good"] * 24 + ["bad"] * 36)
    frame = apply(ClassificationTrees(rows=4000), records).frame
    shares = pd.crosstab(frame["weather"], frame["mood"], normalize="index")
    assert shares.loc["rain", "bad"] == 1
    assert shares.loc["sun", "good"] == pytest.approx(0.8, abs=0.04)
    assert list(shares) == ["bad", "good"]


@pytest.mark.parametrize(("rare", "common"), [("b", "a"), (1, 0)])
def test_a_leaf_hides_a_single_record_among_others(rare, common):
    records = table(x=range(40), y=[rare if x == 7 else common for x in range(40)])
    shares = {}
    for size in (1, 10):
        frame = apply(ClassificationTrees(leaf_size=size, rows=8000), records).frame
        shares[size] = (frame.loc[frame["x"] == 7, "y"] == rare).mean()
    assert shares[1] == 1
    # About 200 rows with a share of at most 1/10: a deviation of 0.021.
    assert shares[10] < 0.19


def test_with_a_leaf_of_all_records_columns_are_independent():
    records = table(x=[0, 1] * 100, y=[0, 1] * 100)
    frame = apply(ClassificationTrees(leaf_size=200, rows=4000), records).frame
    assert (frame["x"] == frame["y"]).mean() == pytest.approx(0.5, abs=0.032)
    assert (apply(ClassificationTrees(leaf_size=100), records).frame.eval("x == y")).all()


def test_numbers_are_those_of_records():
    records = people(300, generator(0, "people"))
    frame = apply(ClassificationTrees(), records).frame
    assert frame["income"].isin(records.frame["income"]).all()


def test_leaf_size_may_be_at_most_the_number_of_records():
    records = people(20, generator(0, "people"))
    assert len(apply(ClassificationTrees(leaf_size=20), records).frame) == 20
    message = "leaf_size must not exceed the number of records, got leaf_size = 21 for n = 20"
    with pytest.raises(ValueError, match=message):
        apply(ClassificationTrees(leaf_size=21), records)
    for bad in (0, -1, 1.5, True, "5", None):
        with pytest.raises(ValueError, match="leaf_size must be an integer of at least 1"):
            ClassificationTrees(leaf_size=bad)


@pytest.mark.long
def test_smaller_leaves_show_more_members():
    """Mean of three plays on 150 people; members are found in vain with leaves of all records, rate 0.5."""
    game = Membership(records=load("adult").records, members=150, auxiliary=450)
    rates = [
        mean_score(ClassificationTrees(leaf_size=size), DistanceToClosestRecord(rounds=2), game, plays=3)
        for size in (1, 5, 150)
    ]
    assert rates[0] > rates[1] > rates[2]
    assert rates[0] > 0.6
    # 900 decisions on people who the release says nothing about: deviation 0.017.
    assert abs(rates[2] - 0.5) < 0.055


def accuracies(records, monkeypatch, **parameters):
    """Accuracy of each forest that was fitted."""
    result = []
    original = tree_synthesis._accuracy

    def noted(*arguments):
        result.append(original(*arguments))
        return result[-1]

    monkeypatch.setattr(tree_synthesis, "_accuracy", noted)
    apply(ForestSynthesis(**parameters), records)
    return result


def exclusive_or(n=400):
    first, second = np.random.default_rng(0).integers(0, 2, (2, n))
    return table(first=first, second=second, third=np.where(first ^ second, "one", "zero"))


@pytest.mark.thorough
def test_forests_are_fitted_until_one_is_no_better_than_guessing(monkeypatch):
    found = accuracies(exclusive_or(), monkeypatch)
    # Rows with independent columns are wrong half of the time, so a forest can be right about 3/4 of rows.
    assert found[0] == pytest.approx(0.75, abs=0.05)
    assert found[-1] <= 0.5 or found[-1] >= found[-2]
    assert len(accuracies(exclusive_or(), monkeypatch, delta=0.3)) == 1
    independent = np.random.default_rng(0).integers(0, 3, (2, 400))
    assert accuracies(table(x=independent[0], y=independent[1]), monkeypatch)[0] < 0.56


def test_associations_of_three_columns_are_learned():
    frame = apply(ForestSynthesis(rows=2000), exclusive_or()).frame
    assert (frame["third"] == np.where(frame["first"] ^ frame["second"], "one", "zero")).mean() > 0.95


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("numbers", ["normal", "uniform", "resample"])
def test_only_resampled_numbers_are_those_of_records(numbers):
    records = people(200, generator(0, "people"))
    frame = apply(ForestSynthesis(numbers=numbers), records).frame
    copied = frame["income"].isin(records.frame["income"]).mean()
    assert (copied == 1) if numbers == "resample" else (copied < 0.05)
    assert frame["income"].between(records.frame["income"].min(), records.frame["income"].max()).all()


def test_with_a_leaf_of_all_records_columns_are_independent_in_forests():
    records = table(x=[0, 1] * 100, y=["a", "b"] * 100)
    frame = apply(ForestSynthesis(leaf_size=200, rows=4000, numbers="resample"), records).frame
    assert ((frame["x"] == 1) == (frame["y"] == "b")).mean() == pytest.approx(0.5, abs=0.032)


def test_one_record_and_one_column():
    assert (
        apply(ForestSynthesis(leaf_size=1, rows=4), table(x=[3.5], y=["a"])).frame.values.tolist() == [[3.5, "a"]] * 4
    )
    frame = apply(ForestSynthesis(), table(y=["a"] * 30 + ["b"] * 10)).frame
    assert set(frame["y"]) == {"a", "b"}


def test_bad_parameters_are_refused():
    for name in ("leaf_size", "trees"):
        for bad in (0, -1, 1.5, True, "5", None):
            with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1"):
                ForestSynthesis(**{name: bad})
    for bad in (-0.1, 0.5, "0", True, np.nan):
        with pytest.raises(ValueError, match="delta must be a finite number"):
            ForestSynthesis(delta=bad)
    with pytest.raises(ValueError, match="numbers must be one of 'normal', 'uniform', 'resample', got 'beta'"):
        ForestSynthesis(numbers="beta")
    with pytest.raises(
        ValueError, match="leaf_size must not exceed the number of records, got leaf_size = 9 for n = 5"
    ):
        ForestSynthesis(leaf_size=9).check(table(x=range(5)))


@pytest.mark.long
def test_smaller_leaves_show_more_members_in_forests():
    """Three plays on 150 people of Adult, two reference tables each; leaves of all records say nothing, rate 0.5."""
    game = Membership(records=load("adult").records, members=150, auxiliary=450)
    rates = [
        mean_score(
            ForestSynthesis(leaf_size=size, numbers="resample"), DistanceToClosestRecord(rounds=2), game, plays=3
        )
        for size in (1, 20, 150)
    ]
    assert rates[0] > rates[1] > rates[2]
    # 900 decisions on people whom the release says nothing about: deviation 0.017.
    assert abs(rates[2] - 0.5) < 0.055
