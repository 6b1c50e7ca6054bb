"""The Pk game: exact posteriors, adversaries that come up to 1/k and never above, and false claims."""

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import factorial, prod

import numpy as np
import pandas as pd
import pytest
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
from attacks.base.transition_matrix import cell_codes, column_matrix
from attacks.pram.best_posterior import most_informative_pair
from attacks.pram.posterior_from_counts import posterior_from_counts
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
from defenses.pram import optimal_retention, pk, transition_matrix
from leaderboard.store import Store
from metrics import CategoricalDomain, NumericDomain
from scenarios import PkAnonymity, load, play, summarize_pk
from scenarios.games.playing import play_alone
from scenarios.running.plan import read_plan
from scenarios.running.runner import guarantees, run
from scenarios.running.units import Catalogue
from scenarios.seeds import generator


def people(categories=("a", "b"), count=50):
    frame = pd.DataFrame({"x": np.resize(np.array(categories, dtype=object), count)})
    return Microdata(frame, quasi_identifiers=("x",), domains={"x": CategoricalDomain(categories)})


def game(size=6, categories=("a", "b")):
    return PkAnonymity(records=people(categories), column="x", size=size)


def played(defense, attack, size, plays, categories=("a", "b")):
    rules = game(size, categories)
    return summarize_pk(
        [play_alone(defense, attack, rules, generator(3, size, number))[2].measures for number in range(plays)]
    )


def fraction_matrix(rng, d, zeros):
    weights = rng.integers(0 if zeros else 1, 6, (d, d))
    weights[0] += weights.sum(axis=0) == 0
    return np.array([[Fraction(int(w), int(weights[:, j].sum())) for j, w in enumerate(row)] for row in weights])


def permanent(matrix):
    return sum(prod(matrix[i][s[i]] for i in range(len(matrix))) for s in permutations(range(len(matrix))))


def brute_force_posterior(matrix, released, table, i, j):
    likelihood = [[matrix[x, y] for y in table] for x in released]
    rest = [row[:j] + row[j + 1 :] for k, row in enumerate(likelihood) if k != i]
    return likelihood[i][j] * permanent(rest) / permanent(likelihood)


def posterior_of(matrix, released, table):
    x, rows = np.unique(released, return_counts=True)
    y, records = np.unique(table, return_counts=True)
    return x, y, posterior_from_counts(matrix[np.ix_(x, y)], rows, records)


def exact_k(matrix, n):
    """k of a matrix of fractions, by its formula."""
    d = len(matrix)
    ratios = [
        matrix[y, a] * matrix[x, b] / (matrix[x, a] * matrix[y, b])
        for a, b, x, y in product(range(d), repeat=4)
        if a != b and matrix[x, a] and matrix[y, b]
    ]
    return 1 + (n - 1) * min(ratios)


@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 2), (3, 2), (4, 2), (2, 3), (3, 3), (4, 3)])
@pytest.mark.parametrize("zeros", [False, True])
def test_no_posterior_exceeds_one_in_k_and_the_worst_attains_it(n, d, zeros):
    rng = np.random.default_rng(100 * n + d)
    for _ in range(3):
        matrix = fraction_matrix(rng, d, zeros)
        k, worst = exact_k(matrix, n), Fraction(0)
        for table in combinations_with_replacement(range(d), n):
            for released in combinations_with_replacement(range(d), n):
                likelihood = [[matrix[x, y] for y in table] for x in released]
                if permanent(likelihood) == 0:
                    with pytest.raises(ValueError, match="cannot stem"):
                        posterior_of(matrix, released, table)
                    continue
                _, _, found = posterior_of(matrix, released, table)
                assert all(isinstance(value, Fraction) for value in found.ravel())
                assert found.max() <= 1 / k
                worst = max(worst, found.max())
        assert worst == 1 / k
        assert pk(matrix.astype(float), n) == pytest.approx(float(k), rel=1e-12)
        *_, ratio = most_informative_pair(matrix.astype(float))
        assert 1 + (n - 1) / ratio == pytest.approx(float(k), rel=1e-12)


@pytest.mark.parametrize(("n", "d"), [(3, 2), (4, 3), (5, 3)])
def test_posterior_equals_permanents(n, d):
    rng = np.random.default_rng(n)
    for _ in range(20):
        matrix, table = fraction_matrix(rng, d, zeros=False), rng.integers(d, size=n)
        released = rng.integers(d, size=n)
        x, y, found = posterior_of(matrix, released, table)
        for i, j in product(range(n), repeat=2):
            cell = found[np.searchsorted(x, released[i]), np.searchsorted(y, table[j])]
            assert cell == brute_force_posterior(matrix, released, table, i, j)


def test_posterior_of_the_worst_table_is_the_closed_form():
    matrix = transition_matrix(optimal_retention([50, 3, 9], 1.5))
    odds = matrix[:, 0] / matrix[:, 2]
    counts = np.array([3, 900, 97])
    found = posterior_from_counts(matrix[:, [0, 2]], counts, np.array([1, 999]))
    np.testing.assert_allclose(found[:, 0], odds / (counts @ odds))
    np.testing.assert_allclose(counts @ found, 1)
    np.testing.assert_allclose(found @ np.array([1, 999]), 1)


def test_posterior_refuses_what_does_not_fit():
    even = np.full((2, 2), 0.5)
    with pytest.raises(ValueError, match="3 rows and 4 records"):
        posterior_from_counts(even, np.array([1, 2]), np.array([2, 2]))
    with pytest.raises(ValueError, match="too many matchings"):
        posterior_from_counts(np.full((6, 6), 1 / 6), np.full(6, 40), np.full(6, 40))


def informative_odds(matrix, n, share):
    """Exact probabilities that the worst table's release is informative enough, and that the answer is then right."""
    a, b, ratio = most_informative_pair(matrix)
    d, bound = len(matrix), 1 / (1 + (n - 1) / ratio)
    answered = right = 0.0
    for counts in product(range(n + 1), repeat=d):
        if sum(counts) != n:
            continue
        for x in range(d):  # the lone record's release
            if counts[x]:
                others = [count - (y == x) for y, count in enumerate(counts)]
                ways = factorial(n - 1) // prod(map(factorial, others))
                mass = matrix[x, a] * ways * prod(matrix[y, b] ** c for y, c in enumerate(others))
                odds = matrix[:, a] / matrix[:, b]
                best = max(odds[y] for y in range(d) if counts[y]) / (np.array(counts) @ odds)
                if best >= share * bound * (1 - 1e-9):
                    answered += mass
                    right += mass * best
    return answered, right / answered, bound


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("d", [2, 3])
def test_expected_wins_of_the_abstaining_adversary_reach_the_bound(n, d):
    for retention in (np.full(d, 0.75), optimal_retention([n - 1, 1, 0][:d], 1.0)):
        answered, right, bound = informative_odds(transition_matrix(retention), n, 0.95)
        assert answered > 0
        assert 0.95 * bound <= right <= bound * (1 + 1e-12)


def test_the_abstaining_adversary_wins_what_is_promised_of_its_answers():
    wins = answers = 0
    for n, plays in ((3, 700), (6, 1200)):
        summary = played(RetentionReplacement(k=2), LeakagePosterior(), n, plays)
        answered, _, bound = informative_odds(transition_matrix(np.full(2, 0.5 + _half_excess(n))), n, 0.95)
        assert summary.bound == pytest.approx(0.5) == pytest.approx(bound)
        # Four standard errors: 1 in 16,000 for a random seed.
        assert abs(summary.answered.value - answered) < 4 * np.sqrt(answered * (1 - answered) / plays)
        assert summary.worst <= summary.bound * (1 + 1e-9)
        answers += round(summary.answered.value * plays)
        wins += round(summary.win.value * plays)
    # Of some 600 answers half are right in expectation: fewer than .9/k come about with probability 1 %, so many that
    # 1/k is refuted with 0.1 %, for a random seed; the seed is fixed.
    assert wins >= 0.9 * 0.5 * answers
    assert binom.sf(wins - 1, answers, 0.5) > 0.001


def _half_excess(n):
    """Retention of two categories with k = 2, less a half: e^(-2 epsilon) = 1/(n - 1)."""
    return 1 / (1 + (n - 1) ** -0.5) - 0.5


def test_many_records_leave_the_typical_posterior_far_below_the_bound():
    summary = played(RetentionReplacement(k=2), LeakagePosterior(), 1000, 40)
    assert summary.win_answered is None
    assert summary.typical < 0.1 * summary.bound
    assert summary.bound == pytest.approx(0.5)


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
@pytest.mark.parametrize("attack", [BestPosterior(), BestPosterior(table="drawn"), LeakagePosterior()])
def test_no_adversary_sees_a_posterior_above_the_bound(defense, attack):
    summary = played(defense, attack, 5, 25, ("a", "b", "c"))
    assert summary.worst <= summary.bound * (1 + 1e-9)


def test_the_worst_table_is_found_where_categories_are_not_alike():
    defense = OptimalRetentionWithPrior(prior={"x": [60, 30, 1]}, epsilon=1.0)
    rules = game(5, ("a", "b", "c"))
    secret, release, scores = play_alone(defense, BestPosterior(), rules, generator(1))
    matrix = column_matrix(release.channel, "x", rules.records.domain("x"))
    a, b, ratio = most_informative_pair(matrix)
    table = secret.records.frame["x"].tolist()
    assert table == ["abc"[a]] + ["abc"[b]] * 4
    assert scores.measures["bound"] == pytest.approx(1 / (1 + 4 / ratio)) == pytest.approx(1 / pk(matrix, 5))


def test_best_posterior_wins_as_often_as_it_says():
    # The mean posterior and the win rate differ by less than 4 standard errors: 1 in 16,000 for a random seed.
    summary = played(RetentionReplacement(k=2), BestPosterior(), 4, 400)
    assert summary.answered.value == 1.0
    assert abs(summary.win.value - summary.typical) < 4 * np.sqrt(0.25 / 400)


class Boastful(RetentionReplacement):
    """Claims a k of 3 whatever its matrix has."""

    def guarantee(self, records):
        return Guarantee(pk=3.0)


def test_a_false_claim_is_caught():
    liar, honest = Boastful(k=1.2), RetentionReplacement(k=3)
    rules = game(6)
    for defense, caught in ((liar, True), (honest, False)):
        claimed = defense.guarantee(rules.draw(generator(1)).records).pk
        summary = played(defense, LeakagePosterior(), 6, 250)
        assert (summary.worst > 1 / claimed * (1 + 1e-9)) == caught
        measured = play(defense, BestPosterior(), rules, generator(2)).utility["pk"]
        assert (measured < claimed * (1 - 1e-9)) == caught
        # By wins alone: a truthful claim is called false with probability below 1 in 1000.
        answers = round(summary.answered.value * 250)
        wins = round(summary.win.value * 250)
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
    one = play(RetentionReplacement(k=1), BestPosterior(), game(1), generator(1)).scores
    assert (one["pk"].rate, one.measures["posterior"], one.measures["bound"]) == (1.0, 1.0, 1.0)
    alike = play(RetentionReplacement(retention=0.5), BestPosterior(), game(4, ("a",)), generator(1)).scores
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
        (lambda: game(2).draw(generator(1), pd.DataFrame({"x": ["a", "z"]})), "unknown category 'z'"),
        (lambda: game(2).draw(generator(1), pd.DataFrame({"y": ["a", "a"]})), "column 'x'"),
        (lambda: BestPosterior(table="mine"), "table"),
        (lambda: LeakagePosterior(share=0), "share"),
        (lambda: LeakagePosterior(share=1.5), "share"),
        (lambda: summarize_pk([]), "plays"),
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


def test_a_scenario_plays_it_and_each_trial_has_its_own_table(tmp_path):
    path = tmp_path / "pk.toml"
    path.write_text(SCENARIO)
    plan = read_plan(str(path))
    catalogue = Catalogue(plan, tuple(map(str, guarantees(plan))))
    with Store(str(tmp_path / "results.db")) as store:
        summary = run(plan, catalogue, store, Quiet(), jobs=1, fresh=False)
        results = store.results("pk")
    assert (summary.played, summary.failed) == (15, 0)
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
