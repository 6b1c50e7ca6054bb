"""The game of pk-anonymity: no adversary exceeds 1/k, and false claims are caught."""

import numpy as np
import pandas as pd
import pytest
from pk_tools import game, people, played
from playing_tools import scored
from scipy.stats import binom

from attacks import (
    BestPosterior,
    Knowledge,
    LeakagePosterior,
    LikelihoodAssignment,
    NearestNeighbour,
    NotApplicable,
    RankedAnswers,
)
from attacks.base.sides import cell_codes, column_matrix
from defenses import (
    Constant,
    GlobalRecoding,
    Guarantee,
    Identity,
    Microdata,
    OptimalRetention,
    OptimalRetentionWithPrior,
    RetentionReplacement,
)
from defenses.base.channel import Channel
from defenses.base.channel_parts import RetentionVector
from defenses.base.hierarchy import TableHierarchy
from defenses.base.release import MicrodataRelease
from leaderboard.results.store import Store
from metrics import CategoricalDomain, NumericDomain
from scenarios import PkAnonymity, load, play
from scenarios.games.playing import play_alone
from scenarios.running.plan import read_plan
from scenarios.running.runner import guarantees, run
from scenarios.running.units import Catalogue
from scenarios.running.workers import LocalProcesses
from scenarios.tables.seeds import generator


@pytest.mark.parametrize(
    "defense",
    [
        RetentionReplacement(k=2),
        RetentionReplacement(retention=0.2),
        OptimalRetention(k=3),
        OptimalRetentionWithPrior(prior={"x": [60, 30, 1]}, epsilon=1.0),
        Identity(),
    ],
)
@pytest.mark.parametrize(
    "attack",
    # The game measures the posterior, so that the attack matters by its choice of a table alone.
    [BestPosterior(), BestPosterior(table="drawn"), pytest.param(LeakagePosterior(), marks=pytest.mark.long)],
)
def test_no_adversary_sees_a_posterior_above_the_bound(defense, attack):
    summary = played(defense, attack, 5, 25, ("a", "b", "c"))
    assert summary.worst <= summary.bound * (1 + 1e-9)


class Boastful(RetentionReplacement):
    """Claims a k of 3 whatever its matrix has."""

    def guarantee(self, records):
        return Guarantee(pk=3.0)


@pytest.mark.parametrize("plays", [80, pytest.param(250, marks=pytest.mark.long)])
def test_a_false_claim_is_caught(plays):
    liar, honest = Boastful(k=1.2), RetentionReplacement(k=3)
    rules = game(6)
    for defense, caught in ((liar, True), (honest, False)):
        claimed = defense.guarantee(rules.draw(generator(1)).records).pk
        summary = played(defense, LeakagePosterior(), 6, plays)
        assert (summary.worst > 1 / claimed * (1 + 1e-9)) == caught
        measured = play(defense, BestPosterior(), rules, generator(2)).utility["pk"]
        assert (measured < claimed * (1 - 1e-9)) == caught
        # By wins alone: a truthful claim is called false with probability below 1 in 1000.
        answers = round(summary.answered.value * plays)
        wins = round(summary.win.value * plays)
        assert (answers > 0 and binom.sf(wins - 1, answers, 1 / claimed) < 0.001) == caught


def test_numbers_are_played_in_their_bins():
    frame = pd.DataFrame({"age": np.arange(20, 60)})
    domain = NumericDomain(20, 60, integer=True, cuts=(30, 40))
    records = Microdata(frame, quasi_identifiers=("age",), domains={"age": domain})
    rules = PkAnonymity(records=records, column="age", size=4)
    for table in ("worst", "drawn"):
        scores = play_alone(RetentionReplacement(k=2), BestPosterior(table=table), rules, generator(5))[2]
        assert scores.measures["posterior"] <= scores.measures["bound"] * (1 + 1e-9)
        assert scores.measures["bound"] == pytest.approx(0.5)


@pytest.mark.parametrize("defense", [Constant(), GlobalRecoding(levels={"x": 1})])
def test_defenses_without_a_matrix_are_skipped(defense):
    records = people()
    levels = TableHierarchy([["a", "all"], ["b", "all"]])
    records = Microdata(records.frame, (), ("x",), (), dict(records.domains), {"x": levels})
    rules = PkAnonymity(records=records, column="x", size=4)
    with pytest.raises(NotApplicable, match=r"no transition matrix|no category"):
        play(defense, BestPosterior(), rules, generator(1))


def test_other_goals_do_not_play():
    with pytest.raises(NotApplicable, match="is about pk"):
        play(RetentionReplacement(k=2), NearestNeighbour(), game(), generator(1))


def test_one_record_and_one_category():
    one = scored(RetentionReplacement(k=1), BestPosterior(), game(1), generator(1))
    assert (one["pk"].rate, one.measures["posterior"], one.measures["bound"]) == (1.0, 1.0, 1.0)
    alike = scored(RetentionReplacement(retention=0.5), BestPosterior(), game(4, ("a",)), generator(1))
    assert (alike.measures["posterior"], alike.measures["bound"]) == (0.25, 0.25)


def test_scores_are_those_of_the_surest_pair_and_of_abstention():
    rules = game(3)
    secret = rules.draw(generator(1), pd.DataFrame({"x": ["a", "b", "b"]}))
    release = rules.publish(Identity().apply(secret.records, generator(2)), generator(2))
    row = int(np.flatnonzero(release.origin == 0)[0])
    claims = RankedAnswers(3, 3, [row, (row + 1) % 3], [0, 0], [0.9, 0.1])
    scores = rules.score(secret, release, claims, generator(3))
    assert (scores["pk"].rate, scores.measures["win"], scores.measures["answered"]) == (1.0, 1.0, 1.0)
    assert (scores.measures["posterior"], scores.measures["bound"], scores["pk"].chance, scores["pk"].trials) == (
        1.0,
        1.0,
        1 / 3,
        1,
    )
    silent = rules.score(secret, release, RankedAnswers(3, 3, [], [], []), generator(3))
    assert (silent["pk"].rate, silent.measures["win"], silent.measures["answered"]) == (None, 0.0, 0.0)
    with pytest.raises(ValueError, match="2 rows"):
        rules.score(secret, release, RankedAnswers(2, 3, [], [], []), generator(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PkAnonymity(records=people(), column="y"), "no column 'y'"),
        (lambda: PkAnonymity(records=people(), column="x", size=0), "size"),
        (lambda: PkAnonymity(records=people().with_frame(pd.DataFrame({"x": [None, None]})), column="x"), "no value"),
        (lambda: game(3).draw(generator(1), pd.DataFrame({"x": ["a", "b"]})), "3 rows"),
        (lambda: game(2).draw(generator(1), pd.DataFrame({"x": ["a", None]})), "missing"),
        (lambda: game(2).draw(generator(1), pd.DataFrame({"x": ["a", "z"]})), "unknown category; known are"),
        (lambda: game(2).draw(generator(1), pd.DataFrame({"y": ["a", "a"]})), "column 'x'"),
        (lambda: BestPosterior(table="mine"), "table"),
        (lambda: LeakagePosterior(share=0), "share"),
        (lambda: LeakagePosterior(share=1.5), "share"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_cells_and_channels_that_are_no_categories_are_named():
    domain = CategoricalDomain(("a", "b"))
    with pytest.raises(NotApplicable, match="row 1"):
        cell_codes(pd.Series(["a", "*"], name="x"), domain)
    with pytest.raises(NotApplicable, match="no channel"):
        column_matrix(None, "x", domain)


def test_missing_values_are_left_out():
    frame = pd.DataFrame({"x": ["a", None, "b", None]})
    rules = PkAnonymity(records=people().with_frame(frame), column="x", size=20)
    assert rules.draw(generator(1)).records.frame["x"].notna().all()


SCENARIO = """
[scenario]
name = "pk"
dataset = "bank"
columns = ["marital"]
game = { use = "PkAnonymity", column = "marital", size = 4 }
plays = 3

[[defense]]
use = "RetentionReplacement"
k = 2

[[attack]]
use = "BestPosterior"
table = ["worst", "drawn"]

[[attack]]
use = "LeakagePosterior"

[[attack]]
use = "NearestNeighbour"
"""


class Quiet:
    def started(self, total, known):
        self.total = total

    def ended(self, results):
        pass

    def first_board(self, plays):
        pass


@pytest.mark.thorough
def test_a_scenario_plays_it_and_each_trial_has_its_own_table(tmp_path):
    path = tmp_path / "pk.toml"
    path.write_text(SCENARIO)
    plan = read_plan(str(path))
    catalogue = Catalogue(plan, guarantees(plan))
    with Store(str(tmp_path / "results.db")) as store:
        assert run(plan, catalogue, store, Quiet(), LocalProcesses(1)) == 0
        results = store.results("pk")
    assert (len(results), {result.status for result in results}) == (15, {"ok", "skipped"})
    status = {result.attack: result.status for result in results}
    assert status == {None: "ok", "BestPosterior": "ok", "LeakagePosterior": "ok", "NearestNeighbour": "skipped"}
    trials = [result.values for result in results if result.attack == "BestPosterior"]
    assert all(values["posterior"] <= 0.5 + 1e-9 and values["bound"] == pytest.approx(0.5) for values in trials)
    released = [result.values for result in results if result.attack is None]
    assert all(values["pk"] == pytest.approx(2) for values in released)


def test_real_columns_play():
    rules = PkAnonymity(records=load("bank").records, column="job", size=5)
    outcome = play(OptimalRetention(k=2), BestPosterior(table="drawn"), rules, generator(4))
    assert outcome.scores.measures["posterior"] <= outcome.scores.measures["bound"] * (1 + 1e-9)
    assert outcome.utility["associations"] is None
    assert outcome.scores["pk"].chance == 0.2


@pytest.mark.thorough
def test_utility_does_not_depend_on_how_many_releases_were_measured_before(bank):
    rules = PkAnonymity(records=bank, column="job", size=50)
    defense = RetentionReplacement(retention=0.9)
    first, second = (rules.draw(generator(1)) for _ in range(2))
    releases = [rules.publish(defense.apply(first.records, generator(2, play)), generator(3)) for play in range(4)]
    measured = [rules.utility(first, release) for release in releases]
    assert [rules.utility(second, release) for release in reversed(releases)] == measured[::-1]
    assert len({utility["queries"] for utility in measured}) > 1


def test_likelihood_assignment_reads_the_released_matrix():
    domain = CategoricalDomain(("a", "b"))
    frame = pd.DataFrame({"x": ["a", "b"]})
    records = Microdata(frame, quasi_identifiers=("x",), domains={"x": domain})
    for kept, named in ((0.9, [0, 1]), (0.1, [1, 0])):
        channel = Channel((RetentionVector(("x",), (domain,), (2,), (kept, kept)),))
        release = MicrodataRelease(frame.copy(), [-1, -1], channel)
        claims = LikelihoodAssignment().run(release, Knowledge(frame, records.take([])), generator(1))
        assert claims.best(generator(1)).tolist() == named
