"""The cuts that bounds leave are those of all places."""

import numpy as np
import pytest

from defenses.grouping.mondrian import partition as record_cuts
from defenses.grouping.mondrian.columns import OrderedNumbers
from defenses.grouping.mondrian.partition import CutRules, OpenClasses, PlaceRuns, cuts_between_records
from metrics.columns.domains import NumericDomain


def cut_by_formula(numbers, k, width):
    """Gain, value and left size of the first best cut of one class, place by place."""
    ordered, n = np.sort(numbers), numbers.size
    loss = lambda spread: min(1.0, spread / width)  # noqa: E731
    best = (-np.inf, 0, 0)
    for left in range(k, n - k + 1):
        if ordered[left - 1] == ordered[left]:
            continue
        gain = n * loss(ordered[-1] - ordered[0])
        gain = gain - left * loss(ordered[left - 1] - ordered[0]) - (n - left) * loss(ordered[-1] - ordered[left])
        if gain > best[0]:
            best = (gain, ordered[left - 1], left)
    return best


@pytest.mark.thorough_beyond(14)
@pytest.mark.parametrize("law", ["normal", "uniform", "heavy", "grid"])
@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize("width", [1.0, 20.0])
def test_cuts_are_those_of_the_formula(law, k, width):
    rng = np.random.default_rng(4)
    lengths = np.array([1, 2, 5, 79, 80, 81, 300, 2000])
    numbers = {
        "normal": rng.normal(size=lengths.sum()),
        "uniform": rng.random(lengths.sum()),
        "heavy": rng.standard_cauchy(lengths.sum()),
        "grid": np.round(rng.random(lengths.sum()) * 10, 4),
    }[law]
    distinct, position = np.unique(numbers, return_inverse=True)
    column = OrderedNumbers(
        "x", NumericDomain(0.0, width), position + 1, distinct.size + 1, np.concatenate([[0.0], distinct])
    )
    classes = OpenClasses.of(np.arange(numbers.size), lengths)
    rules = CutRules(k, True)
    cuts = cuts_between_records(column, classes, PlaceRuns.between(classes, k), rules)
    ends = np.cumsum(lengths)
    for one, (start, end) in enumerate(zip(ends - lengths, ends, strict=True)):
        gain, value, left = cut_by_formula(numbers[start:end], k, width)
        assert cuts.gain[one] == gain
        if gain > -np.inf:
            assert (column.numbers[cuts.value[one]], cuts.left[one]) == (value, left)


def test_most_runs_of_a_large_class_are_skipped(monkeypatch):
    rng = np.random.default_rng(6)
    numbers = np.sort(rng.normal(size=50_000))
    column = OrderedNumbers(
        "x", NumericDomain(-5.0, 5.0), np.arange(1, numbers.size + 1), numbers.size + 1, np.append(0.0, numbers)
    )
    classes = OpenClasses.of(np.arange(numbers.size), np.array([numbers.size]))
    kept = []
    taken = PlaceRuns.taken
    monkeypatch.setattr(record_cuts.PlaceRuns, "taken", lambda self, runs: kept.append(runs.size) or taken(self, runs))
    runs = PlaceRuns.between(classes, 5)
    cuts_between_records(column, classes, runs, CutRules(5, True))
    assert kept[0] < runs.group.size / 10
