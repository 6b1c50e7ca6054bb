"""What linkage attacks say of their own answers is true, and useless columns do not mislead them."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

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
from attacks.base.features import encode_features
from attacks.base.sides import shared_columns
from attacks.linkage.nearest_neighbour import METRICS
from attacks.linkage.row_matching import enumerated_posterior, matching_posterior, propagated_posterior
from defenses import (
    Constant,
    Identity,
    Microaggregation,
    Microdata,
    MicrodataRelease,
    Mondrian,
    Pipeline,
    RankSwapping,
    RetentionReplacement,
)
from defenses.perturbation.additive_noise import AdditiveNoise
from metrics import CategoricalDomain, NumericDomain
from scenarios import CandidateFile, load, play
from scenarios.seeds import generator
from scenarios.tables.dataset import with_columns

CATEGORIES = ["job", "marital", "education", "default", "housing", "loan", "contact", "month", "poutcome"]
NOISY = Pipeline(steps=[RetentionReplacement(retention=0.7, columns=CATEGORIES), AdditiveNoise(scale=0.5)])


@pytest.fixture(scope="module")
def games(bank):
    return {decoys: CandidateFile(records=bank, decoys=decoys) for decoys in ("random", "hard")}


def permanents(scores):
    """Marginals of a random matching, by enumeration."""
    rows, candidates = scores.shape
    exact = np.zeros(scores.shape)
    for order in permutations(range(candidates), rows):
        exact[np.arange(rows), order] += np.exp(scores[np.arange(rows), order].sum())
    return exact / exact[0].sum()


@pytest.mark.parametrize("shape", [(6, 6), (1, 1), (3, 7), (4, 4)])
def test_posterior_of_few_candidates_is_the_ratio_of_permanents(shape):
    rng = np.random.default_rng(0)
    for _ in range(5):
        scores = rng.normal(0, 3, shape)
        assert enumerated_posterior(scores) == pytest.approx(permanents(scores), abs=1e-9)
        assert matching_posterior(scores + rng.normal(0, 50, (shape[0], 1))) == pytest.approx(
            permanents(scores), abs=1e-9
        )


def test_propagated_posterior_is_near_the_exact_one_for_twelve_candidates():
    # Belief propagation alone errs by more than .05 where six rows fill six candidates, hence the exact way there.
    rng = np.random.default_rng(1)
    loose = rng.normal(0, 2, (6, 12))
    assert propagated_posterior(loose) == pytest.approx(enumerated_posterior(loose), abs=0.05)


def test_impossible_pairs_leave_a_posterior():
    scores = np.array([[0, -1000, -np.inf], [0, -2000, -1500], [0, -np.inf, -np.inf]])
    posterior = matching_posterior(scores)
    assert np.isfinite(posterior).all()
    assert posterior.sum(axis=1) == pytest.approx(np.ones(3))


@pytest.mark.parametrize("seed", range(5))
def test_likelihood_assignment_states_exact_marginals_on_tiny_tables(bank, seed):
    rng = generator(seed, "tiny")
    people = bank.take(rng.permutation(len(bank))[:6])
    release = NOISY.apply(people, rng)
    columns = list(people.released_columns)
    knowledge = Knowledge(people.frame[columns], people)
    claims = LikelihoodAssignment().run(release.view(rng), knowledge, rng)
    parts = release.channel.likelihoods(release.frame, people.frame, {c: people.domain(c) for c in columns})
    table = np.sum([np.maximum(part.table(), -1000) for part in parts.values()], axis=0)
    best = max(table[range(6), order].sum() for order in permutations(range(6)))
    assert table[np.arange(6), claims.best(rng)].sum() == pytest.approx(best)
    assert claims.confidence == pytest.approx(
        permanents(table - table.max(axis=1, keepdims=True))[claims.target, claims.answer], abs=0.05
    )


def answered(attacks, defense, game, plays):
    """Of each attack, how sure it is of its answers, and which are right."""
    answers = {attack: ([], []) for attack in attacks}
    for number in range(plays):
        secret = game.draw(generator(21, "draw", number))
        release = game.publish(defense.apply(secret.records, generator(21, "release", number)), generator(21, number))
        for attack, (sure, right) in answers.items():
            claims = attack.run(
                release.view(generator(0)), game.knowledge(secret, defense), generator(21, "run", number)
            )
            first = claims.ranking(generator(0)) == 0
            sure.append(claims.confidence[first])
            right.append(claims.answer[first] == secret.answers[release.origin][claims.target[first]])
    return {attack: (np.concatenate(sure), np.concatenate(right)) for attack, (sure, right) in answers.items()}


def calibration_error(sure, right):
    """Expected calibration error in ten bins of confidence."""
    bins = np.minimum((sure * 10).astype(int), 9)
    return sum(abs(sure[bins == b].sum() - right[bins == b].sum()) for b in range(10)) / sure.size


DEFENSES = {
    "a copy": Identity(),
    "PRAM and noise": NOISY,
    "PRAM on bins": RetentionReplacement(retention=0.5),
    "ranks swapped": RankSwapping(window=0.1),
    "equal groups": Mondrian(k=5),
    "means of groups": Microaggregation(k=5),
}
CONFIDENT = (LikelihoodAssignment(), GroupLinkage(), ExpectationMaximizationLinkage(), EnsembleLinkage())


@pytest.mark.parametrize("decoys", ["random", "hard"])
@pytest.mark.parametrize("name", DEFENSES)
def test_confidences_are_calibrated(games, name, decoys):
    # With 300 rows chance alone gives an error of about .04; the long test below is stricter.
    for sure, right in answered(CONFIDENT, DEFENSES[name], games[decoys], plays=3).values():
        assert calibration_error(sure, right) < 0.1


@pytest.mark.long
@pytest.mark.parametrize("decoys", ["random", "hard"])
@pytest.mark.parametrize("name", DEFENSES)
def test_confidences_are_calibrated_over_many_plays(games, name, decoys):
    # 3,000 rows, of which those of one play and one group are right or wrong together: chance gives about .015.
    attacks = (*CONFIDENT, LearnedLinkage())
    for sure, right in answered(attacks, DEFENSES[name], games[decoys], plays=30).values():
        assert calibration_error(sure, right) < 0.06


def test_learned_confidences_are_calibrated(bank):
    ((sure, right),) = answered([LearnedLinkage(simulations=3)], NOISY, CandidateFile(records=bank), 2).values()
    assert calibration_error(sure, right) < 0.12
    assert right.mean() > 0.65


def test_swapped_numbers_do_not_mislead_what_learns(bank):
    # Every released number is somebody's, which the right matches seldom are: 500 rows a rate.
    columns = ["age", "job", "marital", "balance", "month", "duration", "y"]
    game = CandidateFile(records=with_columns(load("bank"), columns).records)
    swapping = RankSwapping(window=0.1)
    nearest = [
        play(swapping, AssignmentLinkage(), game, generator(21, "play", number)).scores["reidentification"].rate
        for number in range(5)
    ]
    ((sure, right),) = answered([ExpectationMaximizationLinkage()], swapping, game, 5).values()
    assert right.mean() > np.mean(nearest) + 0.05
    assert calibration_error(sure, right) < 0.12


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_few_rows_of_a_copy_are_found_with_confidence(bank, rows):
    people = bank.take(np.arange(200))
    release = MicrodataRelease(people.frame.iloc[:rows].reset_index(drop=True), np.arange(rows))
    for attack in (ExpectationMaximizationLinkage(), GroupLinkage()):
        claims = attack.run(release, Knowledge(people.frame, people), generator(0))
        first = claims.ranking(generator(0)) == 0
        assert claims.answer[first].tolist() == list(range(rows))
        assert claims.confidence[first].min() > 0.9


def test_a_boastful_attack_is_caught_by_the_calibration(bank):
    class Boastful(GroupLinkage):
        def run(self, release, knowledge, rng):
            claims = super().run(release, knowledge, rng)
            return RankedAnswers(
                claims.targets,
                claims.answers,
                claims.target,
                claims.answer,
                claims.score,
                None,
                np.ones(claims.target.size),
            )

    ((sure, right),) = answered([Boastful()], NOISY, CandidateFile(records=bank), 3).values()
    assert calibration_error(sure, right) > 0.12


def test_groups_are_answered_better_than_one_to_one(bank):
    # 600 rows a rate: the deviation of a difference is below .025, and it measures .06 and more.
    game = CandidateFile(records=bank)
    rates = {}
    for attack in (NearestNeighbour(), AssignmentLinkage(), LikelihoodAssignment(), GroupLinkage()):
        right = []
        for number in range(6):
            secret = game.draw(generator(4, "draw", number))
            release = game.publish(
                Microaggregation(k=5).apply(secret.records, generator(4, number)), generator(4, "p", number)
            )
            claims = attack.run(release, game.knowledge(secret, Identity()), generator(4, "run", number))
            right.append((claims.best(generator(0)) == secret.answers[release.origin]).mean())
        rates[type(attack).__name__] = np.mean(right)
    assert rates["GroupLinkage"] > max(rates[name] for name in rates if name != "GroupLinkage")
    assert rates["GroupLinkage"] < 0.26


def shuffled_but(left, total, values, count, seed):
    rng = np.random.default_rng(seed)
    names = [f"c{number}" for number in range(total)]
    people = pd.DataFrame({name: rng.integers(0, values, count).astype(str) for name in names})
    released = people.copy()
    for name in names[left:]:
        released[name] = rng.permutation(released[name].to_numpy())
    domain = CategoricalDomain(tuple(str(value) for value in range(values)))
    knowledge = Knowledge(people, Microdata(people, domains=dict.fromkeys(names, domain)))
    return MicrodataRelease(released, np.full(count, -1)), knowledge, rng


@pytest.mark.parametrize(("values", "count"), [(30, 300), (8, 200)])
def test_46_shuffled_columns_of_50_do_not_mislead(values, count):
    release, knowledge, rng = shuffled_but(4, 50, values, count, seed=0)
    learned = ExpectationMaximizationLinkage().run(release, knowledge, rng).best(rng)
    nearest = NearestNeighbour().run(release, knowledge, rng).best(rng)
    assert (learned == np.arange(count)).mean() >= 0.85
    assert (nearest == np.arange(count)).mean() < 0.4


def test_codes_that_look_like_numbers_are_categories_where_declared_so():
    # Codes are exchanged for others at random; as numbers, a near code would seem half right.
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


@pytest.mark.parametrize("attack", ATTACKS, ids=repr)
def test_a_copy_is_found_and_constants_give_chance(bank, attack):
    game = CandidateFile(records=bank, originals=50, candidates=100, auxiliary=300)
    right = {}
    for defense in (Identity(), Constant()):
        hits = 0
        for number in range(2):
            secret = game.draw(generator(6, "draw", number))
            release = game.publish(defense.apply(secret.records, generator(6)), generator(6, "publish", number))
            claims = attack.run(
                release.view(generator(0)), game.knowledge(secret, defense), generator(6, "run", number)
            )
            hits += (claims.best(generator(0)) == secret.answers[release.origin]).sum()
        right[type(defense).__name__] = hits
    assert right["Identity"] >= 99
    # 100 guesses at 1 in 100: 8 or more happen once in 10,000 times.
    assert right["Constant"] <= 7


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_finds_the_people_of_a_copy(bank, metric):
    people = bank.take(np.arange(60))
    knowledge = Knowledge(people.frame, people)
    best = (
        NearestNeighbour(metric=metric)
        .run(Identity().apply(people, generator(0)), knowledge, generator(0))
        .best(generator(0))
    )
    assert (best == np.arange(60)).mean() > 0.9 or metric in (
        "dice",
        "jaccard",
        "rogerstanimoto",
        "russellrao",
        "sokalsneath",
        "yule",
    )


def test_vectors_by_hand():
    people = pd.DataFrame({"age": [20.0, 60.0, np.nan], "job": ["a", "b", None]})
    domains = {"age": NumericDomain(0, 100), "job": CategoricalDomain(("a", "b"))}
    release = MicrodataRelease(pd.DataFrame({"age": ["[20,60]"], "job": ["{a|b}"]}), np.array([-1]))
    knowledge = Knowledge(people, Microdata(people, domains=domains))
    rows, candidates = encode_features(shared_columns(release, knowledge), standardize=True)
    half = np.sqrt(0.5)
    assert rows == pytest.approx(np.array([[0.5, 0, half / 2, half / 2, 0]]))
    assert candidates == pytest.approx(np.array([[0, 0, half, 0, 0], [1, 0, 0, half, 0], [0.5, 1, 0, 0, half]]))


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
        LearnedLinkage().run(release, knowledge, generator(0))
    with pytest.raises(NotApplicable, match="repeat the defense"):
        FellegiSunter(classifier="svm").run(release, knowledge, generator(0))
    with pytest.raises(NotApplicable, match="people of its own"):
        LearnedLinkage().run(release, Knowledge(people.frame, people.take([0]), Identity().apply), generator(0))
    with pytest.raises(NotApplicable, match="channel"):
        EnsembleLinkage(attacks=[LikelihoodAssignment()]).run(release, knowledge, generator(0))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: NearestNeighbour(metric="precomputed"), "metric"),
        (lambda: FellegiSunter(classifier="forest"), "classifier"),
        (lambda: EnsembleLinkage(attacks=[]), "attacks"),
        (lambda: EnsembleLinkage(attacks=[NearestNeighbour()]), "attacks"),
        (lambda: EnsembleLinkage(attacks="all"), "attacks"),
        (lambda: LearnedLinkage(penalty=0), "penalty"),
        (lambda: RankedAnswers(1, 1, [0], [0], [1.0], None, [1.5]), "confidence"),
        (lambda: RankedAnswers(1, 1, [0], [0], [1.0], None, [np.nan]), "confidence"),
        (lambda: RankedAnswers(1, 1, [0], [0], [1.0], None, [0.5, 0.5]), "confidence"),
    ],
)
def test_bad_parameters_are_refused(make, match):
    with pytest.raises(ValueError, match=match):
        make()
