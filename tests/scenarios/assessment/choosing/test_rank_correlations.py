"""Rank correlations show what the measure of associations hides."""

import numpy as np
import pandas as pd
import pytest

from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.assessment.choosing.column_costs import SHOWN, correlation_warnings, rank_correlations
from scenarios.assessment.reporting.release_report import association_words

DOMAINS = {name: NumericDomain(0, 100) for name in ("stay", "cost", "age")} | {"sex": CategoricalDomain(("F", "M"))}


@pytest.fixture
def original():
    rng = np.random.default_rng(0)
    stay = rng.uniform(0, 50, 400)
    return pd.DataFrame(
        {"stay": stay, "cost": stay + rng.uniform(0, 20, 400), "age": rng.uniform(0, 100, 400), "sex": "F"}
    )


def test_the_largest_change_comes_first_and_a_loss_of_half_is_warned_of(original):
    released = original.assign(cost=np.random.default_rng(1).permutation(original["cost"])).astype(str)
    pairs = rank_correlations(original, released, DOMAINS)
    assert pairs[0].columns == ("stay", "cost")
    assert pairs[0].before > 0.8
    assert abs(pairs[0].after) < 0.2
    [warning] = correlation_warnings(pairs)
    assert warning.startswith("stay and cost: the rank correlation is 0.")
    assert correlation_warnings(rank_correlations(original, original.astype(str), DOMAINS)) == []


def test_ranges_count_as_their_middle_and_suppressed_cells_are_left_out(original):
    coarse = original.assign(
        stay=[f"[{10 * (value // 10):g},{10 * (value // 10) + 10:g})" for value in original["stay"]]
    )
    coarse = coarse.astype(str)
    coarse.loc[:9, "stay"] = "*"
    [pair] = [one for one in rank_correlations(original, coarse, DOMAINS) if one.columns == ("stay", "cost")]
    assert 0.8 < pair.after < pair.before
    [lost] = correlation_warnings(rank_correlations(original, coarse.assign(stay="*"), DOMAINS))
    assert lost.endswith("0.00 in the release")


def test_few_pairs_are_shown():
    names = [f"column {number}" for number in range(6)]
    frame = pd.DataFrame(np.random.default_rng(0).uniform(size=(30, 6)), columns=names)
    assert len(rank_correlations(frame, frame.astype(str), dict.fromkeys(names, NumericDomain(0, 1)))) == SHOWN


def test_associations_of_1_say_what_they_mean():
    assert "no further from the table than in a fresh sample of as many people" in association_words(1.0, 5)
    assert association_words(0.9, 5) == ""
