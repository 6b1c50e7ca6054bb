"""Claims: rankings, abstentions, ties at random, shares, and refusals."""

import numpy as np
import pandas as pd
import pytest

from attacks import Claims, Decisions, Predicates, RankedAnswers, ValueClaims
from scenarios.tables.seeds import generator


def test_claims_of_another_kind_are_named():
    decisions = Decisions([1.0])
    assert Decisions.of(decisions) is Claims.of(decisions) is decisions
    with pytest.raises(TypeError, match="expected ranked answers, got Decisions"):
        RankedAnswers.of(decisions)
    with pytest.raises(TypeError, match="expected predicates, got NoneType"):
        Predicates.of(None)


def test_the_highest_scores_come_first_and_ties_are_random():
    decisions = Decisions([0.5, np.inf, -np.inf, 0.5])
    firsts = [decisions.first(2, generator(seed)).tolist() for seed in range(40)]
    assert {first[0] for first in firsts} == {1}
    assert {first[1] for first in firsts} == {0, 3}
    assert sorted(decisions.first(9, generator(1))) == [0, 1, 2, 3]
    assert decisions.first(0, generator(1)).size == Decisions([]).first(3, generator(1)).size == 0
    with pytest.raises(ValueError, match="scores must not be NaN"):
        Decisions([0.1, np.nan])


def test_ranks_are_counted_within_each_target():
    claims = RankedAnswers(3, 4, [2, 0, 2, 0, 2], [0, 1, 3, 2, 1], [0.1, 0.4, 0.9, 0.3, 0.5])
    assert claims.ranking(generator(1)).tolist() == [2, 0, 0, 1, 1]
    # Target 1 has no answer.
    assert claims.best(generator(1)).tolist() == [1, -1, 3]
    assert claims.members().scores.tolist() == [0.1, 0.5, 0.3, 0.9]
    stated = RankedAnswers(1, 2, [0], [1], [0.5], membership=Decisions([3.0, 1.0]))
    assert stated.members().scores.tolist() == [3, 1]
    nobody = RankedAnswers(2, 2, [], [], [])
    assert nobody.best(generator(1)).tolist() == [-1, -1]
    assert nobody.members().scores.tolist() == [-np.inf, -np.inf]


def test_a_table_keeps_the_best_answers_and_rules_out_the_impossible():
    table = [[0.1, 0.9, -np.inf, 0.5], [-np.inf] * 4]
    claims = RankedAnswers.from_scores(table, generator(1), depth=2, confidence=np.full((2, 4), 0.25))
    assert sorted(zip(claims.target, claims.answer, claims.score, strict=True)) == [(0, 1, 0.9), (0, 3, 0.5)]
    assert claims.confidence.tolist() == [0.25, 0.25]
    assert claims.best(generator(1)).tolist() == [1, -1]
    # Every score counts for membership, also one that is not kept.
    assert claims.members().scores.tolist() == [0.1, 0.9, -np.inf, 0.5]
    firsts = {int(RankedAnswers.from_scores([[1.0, 1.0]], generator(seed), depth=1).answer[0]) for seed in range(20)}
    assert firsts == {0, 1}
    empty = RankedAnswers.from_scores(np.zeros((0, 3)), generator(1))
    assert (empty.targets, empty.answers, empty.target.size) == (0, 3, 0)


@pytest.mark.parametrize("depth", [1, 5, 60, 80])
@pytest.mark.parametrize("decimals", [9, 1, 0])
def test_the_best_answers_are_the_first_of_a_full_sort(depth, decimals):
    """Few or many ties, at the last rank too, and impossible answers."""
    table = np.round(generator(1).normal(size=(30, 60)), decimals)
    table[generator(2).random(table.shape) < 0.1] = -np.inf
    order = generator(3).permutation(60)
    expected = order[np.argsort(-table[:, order], axis=1, kind="stable")[:, :depth]]
    rows = np.repeat(np.arange(30), expected.shape[1])
    possible = table[rows, expected.ravel()] > -np.inf
    claims = RankedAnswers.from_scores(table, generator(3), depth=depth)
    np.testing.assert_array_equal(claims.target, rows[possible])
    np.testing.assert_array_equal(claims.answer, expected.ravel()[possible])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 2, [0], [0, 1], [1.0]), "one-dimensional and of one length"),
        ((1, 2, [[0]], [[1]], [[1.0]]), "one-dimensional and of one length"),
        ((1, 2, [1], [0], [1.0]), r"target must lie in 0\.\.0"),
        ((1, 2, [0], [2], [1.0]), r"answer must lie in 0\.\.1"),
        ((1, 2, [0], [-1], [1.0]), r"answer must lie in 0\.\.1"),
        ((1, 2, [0], [1], [np.nan]), "scores must not be NaN"),
        ((1, 2, [0, 0], [1, 1], [1.0, 2.0]), "a pair of target and answer stands twice"),
        ((1, 2, [0], [1], [1.0], Decisions([1.0])), "membership must hold 2 scores"),
        ((1, 2, [0], [1], [1.0], None, [0.1, 0.2]), "confidence must hold one probability a claim"),
        ((1, 2, [0], [1], [1.0], None, [1.1]), r"confidence must lie in \[0, 1\]"),
        ((1, 2, [0], [1], [1.0], None, [np.nan]), r"confidence must lie in \[0, 1\]"),
    ],
)
def test_bad_ranked_answers_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        RankedAnswers(*arguments)


def test_values_are_about_persons_in_order_by_default():
    claims = ValueClaims(pd.DataFrame({"a": ["x", None]}), [0.3, 0.2])
    assert (claims.about.tolist(), claims.weight.tolist()) == ([0, 1], [1, 1])
    assert ValueClaims(pd.DataFrame({"a": []}), []).about.size == 0
    # Shares of one person may add up to 1, in any order of the persons.
    drawn = ValueClaims(pd.DataFrame({"a": list("xyz")}), np.ones(3), [5, 0, 5], [0.7, 1.0, 0.3])
    assert drawn.about.tolist() == [5, 0, 5]


@pytest.mark.parametrize(
    ("person", "share", "message"),
    [
        ([0, -1], None, "persons be positions from 0"),
        ([0], None, "of one length"),
        ([0, 1], [0.5], "of one length"),
        ([0, 1], [0.5, 1.5], "shares must lie in"),
        ([0, 1], [0.5, np.nan], "shares must lie in"),
        ([3, 3], [0.6, 0.5], "must not add up to more than 1"),
    ],
)
def test_bad_value_claims_are_refused(person, share, message):
    with pytest.raises(ValueError, match=message):
        ValueClaims(pd.DataFrame({"a": ["x", "y"]}), np.ones(2), person, share)
