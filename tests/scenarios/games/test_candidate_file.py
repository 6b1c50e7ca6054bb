"""The candidate-file game keeps its rules, and its references hold."""

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored

from attacks import AssignmentLinkage, ExpectationMaximizationLinkage, LikelihoodAssignment, NearestNeighbour
from attacks.base.attack import RankedAnswers
from defenses import Constant, Identity, RetentionReplacement
from defenses.base.defense import MicrodataDefense, released_frame
from defenses.base.release import MicrodataRelease
from metrics.columns.cells import escape_column
from metrics.table_utility import MEASURES
from scenarios import CandidateFile, play
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator

PLAYS = 10


def rates(defense, attack, game, plays, *names):
    """Rates of each play, shape (plays, number of names)."""
    played = [scored(defense, attack, game, generator(7, "play", number)) for number in range(plays)]
    return np.array([[scores[name].rate for name in names] for scores in played])


@pytest.fixture(scope="module")
def games(bank):
    """A game of each kind of decoys; hard ones are found once for all draws."""
    return {decoys: CandidateFile(records=bank, decoys=decoys) for decoys in ("random", "hard")}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("decoys", ["random", "hard"])
def test_draws_are_disjoint_and_answers_are_true(games, decoys):
    secret = games[decoys].draw(generator(1, "draw"))
    assert (len(secret.records), len(secret.candidates), len(secret.auxiliary)) == (100, 200, 2000)
    pd.testing.assert_frame_equal(
        secret.candidates.iloc[secret.answers].reset_index(drop=True), secret.records.frame, check_dtype=False
    )
    assert len(set(secret.answers)) == 100
    # Originals are not gathered at either end: their positions have the mean of a random half within 5 deviations.
    assert abs(secret.answers.mean() - 99.5) < 5 * 199 / np.sqrt(12 * 100)


def test_the_originals_do_not_depend_on_the_decoys(games):
    drawn = [game.draw(generator(1, "draw")) for game in games.values()]
    pd.testing.assert_frame_equal(drawn[0].records.frame, drawn[1].records.frame)
    assert not drawn[0].candidates.equals(drawn[1].candidates)


def test_hard_decoys_are_near_and_no_equals(games):
    secret = games["hard"].draw(generator(2, "draw"))
    decoys = secret.candidates.drop(index=secret.candidates.index[secret.answers])
    merged = decoys.merge(secret.records.frame, how="inner")
    assert merged.empty
    easy = games["random"].draw(generator(2, "draw"))
    others = easy.candidates.drop(index=easy.candidates.index[easy.answers])
    categories = [name for name in decoys.columns if decoys[name].dtype == object]

    def agreement(frame):
        left, right = secret.records.frame[categories].to_numpy(), frame[categories].to_numpy()
        return (left[:, None, :] == right[None, :, :]).mean(axis=2).max(axis=1).mean()

    assert agreement(decoys) > agreement(others) + 0.1


def test_a_small_table_plays_with_what_it_has():
    records = people(30, generator(0, "people"))
    game = CandidateFile(records=records, originals=10, candidates=30)
    outcome = play(Identity(), NearestNeighbour(), game, generator(0, "play"))
    assert outcome.scores["reidentification"].rate == 1.0
    assert outcome.utility["classifier_auc"] is None


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"originals": 0}, "originals"),
        ({"candidates": 100}, "candidates"),
        ({"candidates": 60_000}, "candidates"),
        ({"decoys": "cheap"}, "decoys"),
        ({"attacker_knows": "everything"}, "attacker_knows"),
    ],
)
def test_bad_parameters_are_named(bank, changes, names):
    with pytest.raises(ValueError, match=names):
        CandidateFile(records=bank, **changes)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("attack", [NearestNeighbour(), AssignmentLinkage(), LikelihoodAssignment()])
def test_identity_is_found(bank, attack):
    assert rates(Identity(), attack, CandidateFile(records=bank), 3, "reidentification").mean() >= 0.99


@pytest.mark.thorough
def test_identity_is_worth_everything(bank):
    utility = play(Identity(), NearestNeighbour(), CandidateFile(records=bank), generator(7, "play", 0)).utility
    assert {utility[name] for name in MEASURES} == {1.0}
    assert utility["classifier_auc"] == utility["classifier_auc_original"]


@pytest.mark.thorough
def test_constants_are_worth_nothing_and_give_nothing_away(bank):
    game = CandidateFile(records=bank)
    outcome = play(Constant(), NearestNeighbour(), game, generator(7, "play", 0))
    assert {outcome.utility[name] for name in MEASURES} == {0.0}
    assert outcome.utility["classifier_auc"] == 0.5
    found, members = rates(Constant(), NearestNeighbour(), game, PLAYS, "reidentification", "membership").T
    # 1,000 rows, each found with probability 1/200: more than 17 have a probability below 1e-5.
    assert found.sum() * 100 <= 17
    # The hypergeometric share of a play has deviation .0355; five deviations of the mean.
    assert abs(members.mean() - 0.5) < 5 * 0.0355 / np.sqrt(PLAYS)


class Strangers(MicrodataDefense):
    """Releases other people of the population: no row stems from an original."""

    def __init__(self, *, population):
        self.population = population

    def apply(self, records, rng):
        others = self.population.take(rng.choice(len(self.population), 100, replace=False))
        return MicrodataRelease(released_frame(others), np.full(100, -1), None)


@pytest.mark.thorough
def test_a_table_of_strangers_has_no_row_to_find_and_membership_at_chance(bank):
    game = CandidateFile(records=bank)
    strangers = Strangers(population=bank)
    outcome = play(strangers, NearestNeighbour(), game, generator(7, "play", 0))
    assert outcome.scores["reidentification"].rate is None
    assert outcome.scores.measures["hits"] == 0
    members = rates(strangers, NearestNeighbour(), game, PLAYS, "membership")
    assert abs(members.mean() - 0.5) < 5 * 0.0355 / np.sqrt(PLAYS)


@pytest.mark.thorough
def test_equal_play_equal_outcome(games):
    first, second = (
        play(RetentionReplacement(retention=0.5), ExpectationMaximizationLinkage(), games["hard"], generator(3, "play"))
        for _ in range(2)
    )
    assert first == second


def test_ties_are_drawn_and_not_taken_by_position():
    scores = np.zeros((40, 40))
    answers = [RankedAnswers.from_scores(scores, generator(seed)).best(generator(seed)) for seed in range(20)]
    hits = np.mean([answer == np.arange(40) for answer in answers])
    # 800 answers, each right with probability 1/40: between 2 and 45 but for a probability below 1e-4.
    assert 2 / 800 <= hits <= 45 / 800


def test_answers_about_other_tables_are_refused(bank):
    game = CandidateFile(records=bank)
    secret = game.draw(generator(1, "draw"))
    release = game.publish(Identity().apply(secret.records, generator(1, "x")), generator(1, "y"))
    claims = RankedAnswers.from_scores(np.zeros((99, 200)), generator(1, "z"))
    with pytest.raises(ValueError, match="99 rows"):
        game.score(secret, release, claims, generator(1, "w"))


def test_scores_of_hand_made_answers(bank):
    game = CandidateFile(records=bank)
    secret = game.draw(generator(1, "draw"))
    release = game.publish(Identity().apply(secret.records, generator(1, "x")), generator(1, "y"))
    truth = secret.answers[release.origin]
    # Row 0 right, row 1 second, row 2 wrong, all others unanswered.
    wrong = np.setdiff1d(np.arange(200), truth)[:2]
    claims = RankedAnswers(
        100,
        200,
        np.array([0, 1, 1, 2]),
        np.array([truth[0], wrong[0], truth[1], wrong[1]]),
        np.array([1.0, 0.9, 0.5, 0.4]),
    )
    scores = game.score(secret, release, claims, generator(1, "w"))
    assert scores["reidentification"].rate == 0.01
    assert scores.measures["top3"] == 0.02
    assert scores.measures["hits"] == 0.01
    assert scores.measures["answered"] == 0.03
    assert scores.measures["precision"] == pytest.approx(1 / 3)
    assert scores["reidentification"].chance == 1 / 200


def test_the_attacker_sees_no_origin_and_no_original_order(bank):
    game = CandidateFile(records=bank)
    secret = game.draw(generator(1, "draw"))
    published = game.publish(Identity().apply(secret.records, generator(1, "x")), generator(1, "y"))
    view = game.view(published, generator(1, "v"))
    assert (view.origin == -1).all()
    assert not (published.origin == np.arange(100)).all()
    ignorant = CandidateFile(records=bank, attacker_knows="nothing")
    assert ignorant.view(published, generator(1, "v")).channel is None
    assert ignorant.knowledge(secret, Identity()).simulate is None
    knowing = game.knowledge(secret, Identity())
    simulated = knowing.simulate(knowing.auxiliary.take(np.arange(5)), generator(1, "s"))
    assert sorted(simulated.origin) == list(range(5))


def test_nothing_prints_records(bank):
    game = CandidateFile(records=bank)
    secret = game.draw(generator(1, "draw"))
    release = Identity().apply(secret.records, generator(1, "x"))
    shown = " ".join(map(repr, (bank, game, secret, release, game.knowledge(secret, Identity()))))
    assert not set(escape_column(secret.records.frame["job"])) & set(shown.replace("'", " ").split())
    assert len(shown) < 2000
