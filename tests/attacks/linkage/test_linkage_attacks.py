"""All linkage attacks: copies and constants, rows that outnumber candidates, and bad input."""

import numpy as np
import pytest
from linkage_tools import (
    small_release,
)
from playing_tools import secret_of

from attacks import (
    AssignmentLinkage,
    EnsembleLinkage,
    ExpectationMaximizationLinkage,
    FellegiSunter,
    GroupLinkage,
    Knowledge,
    LearnedLinkage,
    LikelihoodAssignment,
    NearestNeighbour,
    NotApplicable,
    RankedAnswers,
)
from attacks.base.attack import Decisions
from defenses import (
    Channel,
    Constant,
    Identity,
    MicrodataRelease,
)
from scenarios import CandidateFile
from scenarios.tables.seeds import generator

ONE_TO_ONE = [AssignmentLinkage(), LikelihoodAssignment(), ExpectationMaximizationLinkage(), FellegiSunter()]


ATTACKS = [
    NearestNeighbour(),
    AssignmentLinkage(),
    LikelihoodAssignment(),
    ExpectationMaximizationLinkage(),
    FellegiSunter(),
    FellegiSunter(classifier="logistic"),
    FellegiSunter(classifier="svm"),
    LearnedLinkage(simulations=3),
    GroupLinkage(),
    EnsembleLinkage(),
]


@pytest.mark.thorough
@pytest.mark.long_for(
    "EnsembleLinkage(attacks=None)",
    "ExpectationMaximizationLinkage(iterations=12, sharpness=100.0)",
    "FellegiSunter(classifier='logistic', near=5, far=10, tolerance=0.01)",
    "LearnedLinkage(simulations=3, near=20, far=20, penalty=0.3)",
)
@pytest.mark.parametrize("attack", ATTACKS, ids=repr)
def test_a_copy_is_linked_and_constants_are_at_chance_level(bank, attack):
    game = CandidateFile(records=bank, originals=50, candidates=100, auxiliary=300)
    correct = {}
    for defense in (Identity(), Constant()):
        hits = 0
        for number in range(2):
            secret = secret_of(game, generator(6, "draw", number))
            release = game.publish(defense.apply(secret.records, generator(6)), generator(6, "publish", number))
            claims = attack.run(
                release.view(generator(0)), game.knowledge(secret, defense), generator(6, "run", number)
            )
            hits += (claims.best(generator(0)) == secret.answers[release.origin]).sum()
        correct[type(defense).__name__] = hits
    assert correct["Identity"] >= 99
    # 100 guesses, each correct with probability 1/100: the probability of 8 or more hits is 1/10,000.
    assert correct["Constant"] <= 7


@pytest.mark.parametrize("attack", ONE_TO_ONE, ids=repr)
def test_rows_that_the_assignment_leaves_over_are_not_answered(attack):
    release, knowledge = small_release({"age": [20] * 6, "job": ["a"] * 6}, channel=Channel())
    claims = attack.run(release, knowledge, generator(0))
    best = claims.best(generator(0))
    assert claims.targets == 6
    # Four rows are answered with four candidates. There is no claim about the other two.
    assert sorted(best) == [-1, -1, 0, 1, 2, 3]
    assert np.unique(claims.target).tolist() == np.flatnonzero(best >= 0).tolist()


def test_rows_that_outnumber_candidates_are_left_out_one_to_one(bank):
    people = bank.take(np.arange(30))
    release = Identity().apply(people, generator(0))
    few = Knowledge(people.frame.iloc[:10].reset_index(drop=True), people)
    for attack in (AssignmentLinkage(), LikelihoodAssignment(), ExpectationMaximizationLinkage(), FellegiSunter()):
        best = attack.run(release, few, generator(0)).best(generator(0))
        assert (best >= 0).sum() == 10
        assert np.unique(best[best >= 0]).size == 10
        if isinstance(attack, AssignmentLinkage | LikelihoodAssignment):
            assert best[:10].tolist() == list(range(10))


def test_attacks_that_need_the_mechanism_say_so(bank):
    people = bank.take(np.arange(30))
    release = MicrodataRelease(people.frame, np.full(30, -1))
    knowledge = Knowledge(people.frame, people)
    with pytest.raises(NotApplicable, match="repeat the defense"):
        FellegiSunter(classifier="svm").run(release, knowledge, generator(0))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: NearestNeighbour(metric="precomputed"), "metric"),
        (lambda: FellegiSunter(classifier="forest"), "classifier"),
        (lambda: RankedAnswers(1, 1, [0], [0], [1.0], None, [1.5]), "confidence"),
        (lambda: RankedAnswers(1, 1, [0], [0], [1.0], None, [np.nan]), "confidence"),
        (lambda: RankedAnswers(1, 1, [0], [0], [1.0], None, [0.5, 0.5]), "confidence"),
    ],
)
def test_bad_parameters_are_refused(make, match):
    with pytest.raises(ValueError, match=match):
        make()


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
def test_invalid_claims_are_refused(arguments):
    with pytest.raises(ValueError, match=r"target|answer|score|pair|membership"):
        RankedAnswers(*arguments)
