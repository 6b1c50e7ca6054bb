"""Linkage attacks on tables small enough to check by hand, and their strength on bank customers."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from attacks import (
    AssignmentLinkage,
    ExpectationMaximizationLinkage,
    FellegiSunter,
    Knowledge,
    LikelihoodAssignment,
    NearestNeighbour,
    NotApplicable,
    RankedAnswers,
)
from attacks.base.claims import Decisions
from attacks.base.sides import gower_distance, shared_columns
from attacks.linkage.row_matching import matching_posterior, one_to_one
from defenses import Channel, Microdata, MicrodataRelease, Pipeline, RetentionReplacement, Shuffle
from defenses.base.channel_parts import Retention
from defenses.perturbation.additive_noise import AdditiveNoise
from metrics import CategoricalDomain, NumericDomain
from scenarios import CandidateFile, play
from scenarios.seeds import generator

DOMAINS = {"age": NumericDomain(0, 100, integer=True), "job": CategoricalDomain(("a", "b", "c"))}
PEOPLE = pd.DataFrame({"age": [20, 40, 60, 60], "job": ["a", "b", "c", "a"]})


def handed(released, candidates=PEOPLE, channel=None):
    frame = pd.DataFrame(released)
    knowledge = Knowledge(candidates, Microdata(candidates, domains=DOMAINS))
    return MicrodataRelease(frame, np.full(len(frame), -1), channel), knowledge


def test_gowers_distance_by_hand():
    columns = shared_columns(*handed({"age": ["30", "[35,45]", "*"], "job": ["a", "{b|c}", "*"]}))
    # Ages span 40; a cell is as far as the nearest value that it covers.
    assert gower_distance(columns) == pytest.approx(
        np.array([[0.125, 0.625, 0.875, 0.375], [0.6875, 0, 0.1875, 0.6875], [0, 0, 0, 0]])
    )


def test_missing_values_are_far_from_values_and_near_each_other():
    candidates = pd.DataFrame({"age": [20.0, np.nan], "job": ["a", None]})
    columns = shared_columns(*handed({"age": [20.0, np.nan], "job": ["a", None]}, candidates))
    assert gower_distance(columns) == pytest.approx(np.array([[0, 1], [1, 0]]))


@pytest.mark.parametrize(("integer", "beside", "beyond"), [(True, 1 / 40, 2 / 40), (False, 1e-6, 1 / 40)])
def test_the_open_end_of_a_cell_is_outside_it(integer, beside, beyond):
    candidates = pd.DataFrame({"age": [20.0, 29.0, 30.0, 31.0, 60.0]})
    cells = ["[20,30)", "[30,40)", "{[20,25)|[28,30)}", "[20,30]", "[20,29]"]
    release = MicrodataRelease(pd.DataFrame({"age": cells}), np.full(5, -1))
    domains = {"age": NumericDomain(0, 100, integer=integer)}
    distance = gower_distance(shared_columns(release, Knowledge(candidates, Microdata(candidates, domains=domains))))
    assert distance[0, :4] == pytest.approx([0, 0, beside, beyond])
    assert distance[1, :4] == pytest.approx([10 / 40, 1 / 40, 0, 0])
    assert distance[2, :4] == pytest.approx([0, 0, beside, beyond])
    # Closed cells cover both of their ends, and are measured from them.
    assert distance[3].tolist() == [0, 0, 0, 1 / 40, 30 / 40]
    assert distance[4].tolist() == [0, 0, 1 / 40, 2 / 40, 31 / 40]
    assert (distance[0, 1:] >= distance[0, :-1]).all()


def test_gaps_inside_half_open_cells_are_outside_them():
    candidates = pd.DataFrame({"age": [20.0, 25.0, 27.0, 28.0, 60.0]})
    columns = shared_columns(*handed({"age": ["{[20,25)|[28,30)}"]}, candidates.assign(job="a")))
    assert (gower_distance(columns)[0] > 0).tolist() == [False, True, True, False, True]


@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("attack", [NearestNeighbour(), AssignmentLinkage()], ids=repr)
def test_who_stands_at_an_open_end_is_linked_to_the_cell_that_holds_it(attack, integer):
    people = pd.DataFrame({"age": [25, 30], "job": ["a", "a"]})
    domains = {"age": NumericDomain(0, 100, integer=integer), "job": CategoricalDomain(("a",))}
    release = MicrodataRelease(pd.DataFrame({"age": ["[20,30)", "[30,40)"], "job": ["a", "a"]}), np.full(2, -1))
    for seed in range(8):
        claims = attack.run(release, Knowledge(people, Microdata(people, domains=domains)), generator(seed))
        assert claims.best(generator(seed)).tolist() == [0, 1]


def test_assignment_differs_from_greed_where_rows_compete():
    # Both rows are nearest to person 0; one to one, the second goes to the next.
    release = {"age": [20, 22], "job": ["a", "a"]}
    greedy = NearestNeighbour().run(*handed(release), generator(0)).best(generator(0))
    optimal = AssignmentLinkage().run(*handed(release), generator(0)).best(generator(0))
    assert greedy.tolist() == [0, 0]
    assert sorted(optimal.tolist()) != [0, 0]
    assert optimal[0] == 0


def test_likelihood_assignment_is_the_best_of_all_permutations():
    names = tuple("abcdef")
    domain = CategoricalDomain(names)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        candidates = pd.DataFrame({name: rng.choice(names, 6) for name in ("x", "y", "z")})
        records = Microdata(candidates, quasi_identifiers=("x", "y", "z"), domains=dict.fromkeys("xyz", domain))
        release = RetentionReplacement(retention=0.6).apply(records, rng)
        knowledge = Knowledge(candidates, records)
        answer = LikelihoodAssignment().run(release.view(rng), knowledge, rng).best(rng)
        parts = release.channel.likelihoods(release.frame, candidates, dict(records.domains))
        table = np.sum([part.table() for part in parts.values()], axis=0)
        best = max(sum(table[row, person] for row, person in enumerate(order)) for order in permutations(range(6)))
        assert table[np.arange(6), answer].sum() == pytest.approx(best)


def test_likelihood_needs_a_channel_and_uses_it():
    with pytest.raises(NotApplicable, match="channel"):
        LikelihoodAssignment().run(*handed({"age": [20], "job": ["a"]}), generator(0))
    # A channel that says that jobs are always exchanged for another one.
    channel = Channel((Retention("job", DOMAINS["job"], 1e-9, 3),))
    release, knowledge = handed({"age": [60], "job": ["a"]}, channel=channel)
    assert LikelihoodAssignment().run(release, knowledge, generator(0)).best(generator(0)).tolist() == [2]


def test_one_to_one_assigns_every_candidate_and_leaves_the_other_rows():
    assert sorted(one_to_one(np.zeros((5, 3)))) == [-1, -1, 0, 1, 2]


ONE_TO_ONE = [AssignmentLinkage(), LikelihoodAssignment(), ExpectationMaximizationLinkage(), FellegiSunter()]


@pytest.mark.parametrize("attack", ONE_TO_ONE, ids=repr)
def test_rows_that_the_assignment_leaves_over_are_not_answered(attack):
    release, knowledge = handed({"age": [20] * 6, "job": ["a"] * 6}, channel=Channel())
    claims = attack.run(release, knowledge, generator(0))
    best = claims.best(generator(0))
    assert claims.targets == 6
    # Four candidates answer four rows; nothing at all is claimed of the other two.
    assert sorted(best) == [-1, -1, 0, 1, 2, 3]
    assert np.unique(claims.target).tolist() == np.flatnonzero(best >= 0).tolist()


def test_the_nearest_candidate_answers_every_row_also_where_rows_outnumber_candidates():
    release, knowledge = handed({"age": [20] * 6, "job": ["a"] * 6})
    assert NearestNeighbour().run(release, knowledge, generator(0)).best(generator(0)).tolist() == [0] * 6


def test_posterior_rows_sum_to_one_and_columns_to_at_most_one():
    rng = np.random.default_rng(0)
    posterior = matching_posterior(rng.normal(0, 5, (20, 50)))
    assert posterior.sum(axis=1) == pytest.approx(np.ones(20))
    assert posterior.sum(axis=0).max() < 1.01
    assert posterior.sum() == pytest.approx(20)


def test_posterior_comes_near_the_permanents():
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = rng.normal(0, 1, (3, 6))
        exact = np.zeros((3, 6))
        for order in permutations(range(6), 3):
            exact[np.arange(3), order] += np.exp(scores[np.arange(3), order].sum())
        exact /= exact[0].sum()
        assert matching_posterior(scores) == pytest.approx(exact, abs=0.05)


def test_posterior_is_exact_where_nothing_competes():
    # One row: the posterior is the normalised likelihood.
    likelihood = np.array([[0.1, 0.2, 0.7]])
    assert matching_posterior(np.log(likelihood)) == pytest.approx(likelihood)


PRAM_AND_NOISE = Pipeline(
    steps=[
        RetentionReplacement(
            retention=0.7,
            columns=["job", "marital", "education", "default", "housing", "loan", "contact", "month", "poutcome"],
        ),
        AdditiveNoise(scale=0.5),
    ]
)


def found(defense, attack, game, plays=6):
    rates = [play(defense, attack, game, generator(11, "play", number)).scores for number in range(plays)]
    return np.mean([rate["reidentification"].rate for rate in rates])


@pytest.mark.parametrize("decoys", ["random", "hard"])
def test_knowing_the_mechanism_helps_and_can_be_learned(bank, decoys):
    # 600 rows a rate: the deviation of a difference is below .03, and the differences are .15 and more.
    game = CandidateFile(records=bank, decoys=decoys)
    greedy = found(PRAM_AND_NOISE, NearestNeighbour(), game)
    aware = found(PRAM_AND_NOISE, LikelihoodAssignment(), game)
    learned = found(PRAM_AND_NOISE, ExpectationMaximizationLinkage(), game)
    assert aware > greedy + 0.1
    assert learned > aware - 0.08
    assert learned > greedy


def test_shuffled_columns_do_not_mislead_what_learns():
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


def test_shuffle_gives_members_away(bank):
    outcome = play(Shuffle(), LikelihoodAssignment(), CandidateFile(records=bank), generator(1, "play"))
    assert outcome.scores["reidentification"].rate is None
    assert outcome.scores["membership"].rate > 0.9


@pytest.mark.parametrize(
    "arguments",
    [
        (2, 2, [0, 0], [0, 0], [1, 2]),
        (2, 2, [0, 2], [0, 0], [1, 2]),
        (2, 2, [0], [2], [1]),
        (2, 2, [0], [1], [np.nan]),
        (2, 2, [0, 1], [1], [1]),
        (2, 2, [0], [1], [1], Decisions([0.0])),
    ],
)
def test_impossible_claims_are_refused(arguments):
    with pytest.raises(ValueError, match=r"target|answer|score|pair|membership"):
        RankedAnswers(*arguments)
