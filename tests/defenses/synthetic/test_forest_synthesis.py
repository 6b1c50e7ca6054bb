"""Adversarial random forests: associations, stopping, numbers, bad parameters, and what attacks find."""

import numpy as np
import pytest
from defense_tools import apply, table
from membership_tools import mean_score

from attacks import DistanceToClosestRecord
from defenses import ForestSynthesis
from defenses.synthetic import forest_synthesis
from scenarios.datasets import load
from scenarios.games.candidate_file import Membership
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator


def accuracies(records, monkeypatch, **parameters):
    """Accuracy of each forest that was fitted."""
    result = []
    original = forest_synthesis._accuracy

    def noted(*arguments):
        result.append(original(*arguments))
        return result[-1]

    monkeypatch.setattr(forest_synthesis, "_accuracy", noted)
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


def test_with_a_leaf_of_all_records_columns_are_independent():
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
def test_smaller_leaves_show_more_members():
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
