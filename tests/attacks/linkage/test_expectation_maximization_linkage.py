"""Expectation-maximization linkage: gain from learning the mechanism, and robustness to shuffled columns."""

import numpy as np
import pandas as pd
import pytest
from linkage_tools import (
    NOISY,
    calibration_error,
    correct_answers,
    reidentification_rate,
    with_shuffled_columns,
)
from playing_tools import scored

from attacks import (
    AssignmentLinkage,
    ExpectationMaximizationLinkage,
    GroupLinkage,
    Knowledge,
    LikelihoodAssignment,
    NearestNeighbour,
)
from attacks.base.sides import shared_columns
from defenses import (
    Microdata,
    MicrodataRelease,
    RankSwapping,
    RetentionReplacement,
)
from metrics import CategoricalDomain
from scenarios import CandidateFile, load
from scenarios.tables.dataset import with_columns
from scenarios.tables.seeds import generator


@pytest.mark.long
@pytest.mark.parametrize(
    ("decoys", "plays"), [("hard", 3), *(pytest.param(way, 6, marks=pytest.mark.long) for way in ("random", "hard"))]
)
def test_the_mechanism_helps_and_can_be_learned(bank, decoys, plays):
    # 300 rows a rate: the standard deviation of a difference is below .04, and the differences are .15 or more.
    game = CandidateFile(records=bank, decoys=decoys)
    nearest = reidentification_rate(NOISY, NearestNeighbour(), game, plays)
    aware = reidentification_rate(NOISY, LikelihoodAssignment(), game, plays)
    learned = reidentification_rate(NOISY, ExpectationMaximizationLinkage(), game, plays)
    assert aware > nearest + 0.1
    assert learned > aware - 0.08
    assert learned > nearest


@pytest.mark.thorough
def test_shuffled_columns_are_learned_to_be_uninformative():
    rng = np.random.default_rng(0)
    count, columns, left = 300, 20, 4
    names = [f"c{number}" for number in range(columns)]
    people = pd.DataFrame({name: rng.integers(0, 30, count).astype(str) for name in names})
    released = people.copy()
    for name in names[left:]:
        released[name] = rng.permutation(released[name].to_numpy())
    domain = CategoricalDomain(tuple(str(number) for number in range(30)))
    knowledge = Knowledge(people, Microdata(people, domains=dict.fromkeys(names, domain)))
    release = MicrodataRelease(released, np.full(count, -1))
    learned = ExpectationMaximizationLinkage().run(release, knowledge, rng).best(rng)
    nearest = NearestNeighbour().run(release, knowledge, rng).best(rng)
    assert (learned == np.arange(count)).mean() > 0.9
    assert (learned == np.arange(count)).mean() > (nearest == np.arange(count)).mean()


@pytest.mark.thorough
@pytest.mark.parametrize(("values", "count"), [(30, 300), (8, 200)])
def test_46_shuffled_columns_of_50_do_not_mislead(values, count):
    release, knowledge, rng = with_shuffled_columns(4, 50, values, count, seed=0)
    learned = ExpectationMaximizationLinkage().run(release, knowledge, rng).best(rng)
    nearest = NearestNeighbour().run(release, knowledge, rng).best(rng)
    assert (learned == np.arange(count)).mean() >= 0.85
    assert (nearest == np.arange(count)).mean() < 0.4


@pytest.mark.long
def test_swapped_numbers_are_learned_to_be_unreliable(bank):
    # Every released number equals some candidate's, but seldom the true one's. Each rate is of 500 rows.
    columns = ["age", "job", "marital", "balance", "month", "duration", "y"]
    game = CandidateFile(records=with_columns(load("bank"), columns).records)
    swapping = RankSwapping(window=0.1)
    nearest = [
        scored(swapping, AssignmentLinkage(), game, generator(21, "play", number))["reidentification"].rate
        for number in range(5)
    ]
    ((confidence, correct),) = correct_answers([ExpectationMaximizationLinkage()], swapping, game, 5).values()
    assert correct.mean() > np.mean(nearest) + 0.05
    assert calibration_error(confidence, correct) < 0.12


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_few_rows_of_a_copy_are_found_with_confidence(bank, rows):
    people = bank.take(np.arange(200))
    release = MicrodataRelease(people.frame.iloc[:rows].reset_index(drop=True), np.arange(rows))
    for attack in (ExpectationMaximizationLinkage(), GroupLinkage()):
        claims = attack.run(release, Knowledge(people.frame, people), generator(0))
        first = claims.ranking(generator(0)) == 0
        assert claims.answer[first].tolist() == list(range(rows))
        assert claims.confidence[first].min() > 0.9


def test_codes_that_look_like_numbers_are_categories_where_declared_so():
    # PRAM replaces codes at random. If codes were read as numbers, near codes would seem similar.
    rng = np.random.default_rng(0)
    codes = tuple(str(code) for code in range(100, 140))
    people = pd.DataFrame({"code": rng.choice(codes, 100), "other": rng.choice(codes, 100)})
    domains = dict.fromkeys(people.columns, CategoricalDomain(codes))
    release = RetentionReplacement(retention=0.6).apply(
        Microdata(people, quasi_identifiers=("code", "other"), domains=domains), rng
    )
    numbers = people.astype(int)
    by_text = shared_columns(release, Knowledge(people, Microdata(people, domains=domains)))
    by_number = shared_columns(release, Knowledge(numbers, Microdata(numbers, domains=domains)))
    for text, number in zip(by_text, by_number, strict=True):
        assert np.array_equal(text.expand(text.contains()), number.expand(number.contains()))
    answers = [
        ExpectationMaximizationLinkage().run(release, Knowledge(table, Microdata(table, domains=domains)), generator(0))
        for table in (people, numbers)
    ]
    assert np.array_equal(answers[0].answer, answers[1].answer)
