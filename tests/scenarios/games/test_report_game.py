"""The report game and the pool game: attacks beat what they extend, controls are caught, bad input is refused."""

import numpy as np
import pandas as pd
import pytest

from attacks import Knowledge, LongitudinalAveraging, NotApplicable, PoolInference, RankedAnswers, ValueGuess
from attacks.reports.report_likelihood import round_likelihoods
from defenses import Identity, LocalReports, Microdata, ReportsRelease
from metrics.domains import CategoricalDomain, NumericDomain
from scenarios import Pool, Reports, play
from scenarios.experiments.emoji_population import emoji
from scenarios.games.report_utility import utility_frequencies
from scenarios.seeds import generator

SKETCHES = ("CountMeanSketch", "HadamardCountMeanSketch")
PROTOCOLS = (
    "GeneralizedRandomizedResponse",
    "SymmetricUnaryEncoding",
    "OptimizedUnaryEncoding",
    "SummationHistogramEncoding",
    "ThresholdedHistogramEncoding",
    "BinaryLocalHashing",
    "OptimizedLocalHashing",
    "SubsetSelection",
    "HadamardResponse",
    *SKETCHES,
)


@pytest.fixture(scope="module")
def game(adult):
    return Reports(records=adult, column="education")


@pytest.fixture(scope="module")
def pools():
    return Pool(records=emoji(800, 40, np.random.default_rng(0)), column="emoji", persons=200, reports=32)


def rate(game, attack, plays=3, **parameters):
    defense = LocalReports(**parameters)
    scores = [play(defense, attack, game, generator(7, "play", number)).scores for number in range(plays)]
    return np.mean([score[game.goal] for score in scores])


def with_options(name):
    return {"protocol": name, "options": {"m": 64, "k": 32} if name in SKETCHES else None}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_guessing_from_a_report_beats_the_commonest_value(game, name):
    # 3,000 guesses against a chance of .32: a standard error of .009; 5 of them.
    reached = rate(game, ValueGuess(), epsilon=4.0, **with_options(name))
    assert reached >= 0.322 + 5 * 0.009
    # More reports are better, by far.
    assert rate(game, LongitudinalAveraging(), epsilon=4.0, rounds=6, **with_options(name)) >= reached + 0.1


def test_guessing_is_chance_at_a_small_epsilon_and_sure_at_a_large_one(game):
    chance = 0.3225
    assert abs(rate(game, ValueGuess(), epsilon=0.01) - chance) <= 5 * 0.009
    assert rate(game, ValueGuess(), protocol="GeneralizedRandomizedResponse", epsilon=20.0) >= 0.999


def test_guessing_reaches_the_best_possible_rate(game):
    # Randomized response at 3: the best rate is the sum over reports y of max_v prior(v) P(y | v).
    shares = game._shares
    defense = LocalReports(protocol="GeneralizedRandomizedResponse", epsilon=3.0)
    protocol = defense.protocol_for(shares.size)
    channel = np.full((shares.size, shares.size), protocol.q)
    np.fill_diagonal(channel, protocol.p)
    best = (channel * shares).max(axis=1).sum()
    reached = rate(game, ValueGuess(), plays=10, protocol="GeneralizedRandomizedResponse", epsilon=3.0)
    # 10,000 guesses: 5 standard errors; the attacker's prior is from 5,000 others.
    assert abs(reached - best) <= 5 * 0.005


def test_averaging_gains_nothing_from_memoized_reports(game):
    for name in ("OptimizedLocalHashing", "GeneralizedRandomizedResponse", "SummationHistogramEncoding"):
        parameters = {"protocol": name, "epsilon": 1.0, "rounds": 16}
        single = rate(game, ValueGuess(), memoize=True, **parameters)
        assert rate(game, LongitudinalAveraging(), memoize=True, **parameters) == single
        assert rate(game, LongitudinalAveraging(), **parameters) >= single + 0.15


def test_scores_and_utility(game):
    outcome = play(LocalReports(epsilon=1.0), ValueGuess(), game, generator(1, "play"))
    assert set(outcome.scores) == {"value", "value_chance", "value_trials", "answered"}
    assert outcome.scores["value_chance"] == pytest.approx(10_501 / 32_561)
    assert outcome.scores["value_trials"] == 1000
    assert outcome.scores["answered"] == 1.0
    assert set(outcome.utility) == {"utility_frequencies"}
    assert 0 <= outcome.utility["utility_frequencies"] <= 1
    same = play(LocalReports(epsilon=1.0), ValueGuess(), game, generator(1, "play"))
    assert same == outcome
    worth = [
        play(LocalReports(epsilon=level), ValueGuess(), game, generator(1, "play")).utility["utility_frequencies"]
        for level in (0.01, 2.0, 20.0)
    ]
    assert worth[0] < 0.2 < 0.5 < worth[1] < worth[2]
    assert worth[2] >= 0.999


def test_utility_is_anchored():
    class Exact:
        d = 3

        def estimate(self, reports):
            return np.asarray(reports, dtype=float)

    counts = np.array([6, 3, 0])

    def worth(*estimates):
        return utility_frequencies(ReportsRelease(estimates, Exact()), counts)

    assert worth([6, 3, 0]) == 1
    assert worth([3, 3, 3]) == 0
    assert worth([0, 0, 9]) == 0
    assert worth([8, 3, -2], [4, 3, 2]) == 1
    assert worth([4.5, 3, 1.5]) == pytest.approx(0.5)
    assert utility_frequencies(ReportsRelease(([1],), Exact()), np.array([2, 2, 2])) is None
    assert utility_frequencies(ReportsRelease(([1],), Exact()), np.zeros(3, dtype=int)) is None


@pytest.mark.parametrize("name", [*SKETCHES, "OptimizedLocalHashing"])
def test_pool_inference_beats_the_commonest_pool(pools, name):
    # 600 persons against a chance below .40: a standard error of .02; 5 of them.
    options = {"m": 256, "k": 128} if name in SKETCHES else None
    scores = play(
        LocalReports(protocol=name, epsilon=4.0, options=options), PoolInference(), pools, generator(1, "play")
    ).scores
    assert set(scores) == {"pool", "pool_chance", "pool_trials", "answered"}
    assert scores["pool_chance"] <= 0.4
    reached = rate(pools, PoolInference(), protocol=name, epsilon=4.0, options=options)
    assert reached >= scores["pool_chance"] + 5 * 0.02
    few = Pool(records=pools.records, column="emoji", persons=200, reports=2)
    assert rate(few, PoolInference(), protocol=name, epsilon=4.0, options=options) <= reached - 0.1


def test_pool_inference_is_chance_at_a_small_epsilon_and_sure_without_noise(pools):
    assert abs(rate(pools, PoolInference(), epsilon=0.01) - pools._chance) <= 5 * 0.02
    assert rate(pools, PoolInference(), protocol="GeneralizedRandomizedResponse", epsilon=30.0) >= 0.98


def test_pool_game_draws_whole_persons_apart(pools):
    secret = pools.draw(np.random.default_rng(0))
    assert np.bincount(secret.records.frame["person"]).tolist() == [32] * 200
    others = secret.auxiliary.frame["person"].nunique()
    assert others == 600
    assert (secret.auxiliary.frame["person"].value_counts() == 40).all()


def test_misfits_are_said(game):
    with pytest.raises(NotApplicable, match="needs a reports release"):
        play(Identity(), ValueGuess(), game, generator(1, "play"))
    with pytest.raises(NotApplicable, match="about value"):
        play(LocalReports(), PoolInference(), game, generator(1, "play"))


def test_attacks_say_what_they_lack(game):
    secret = game.draw(np.random.default_rng(0))
    knowledge = game.knowledge(secret, LocalReports())
    rng = np.random.default_rng(0)
    release = LocalReports().apply(secret.records, rng)
    for attack in (ValueGuess(), LongitudinalAveraging()):
        with pytest.raises(NotApplicable, match="likelihood"):
            attack.run(ReportsRelease(release.reports, object()), knowledge, rng)
        with pytest.raises(NotApplicable, match="no report"):
            attack.run(ReportsRelease((), release.protocol), knowledge, rng)
        with pytest.raises(NotApplicable, match="which column"):
            attack.run(release, Knowledge(knowledge.candidates, Microdata(secret.records.frame)), rng)
    with pytest.raises(NotApplicable, match="several reports"):
        PoolInference().run(release, knowledge, rng)
    with pytest.raises(NotApplicable, match="which column"):
        PoolInference().run(release, Knowledge(knowledge.candidates, Microdata(secret.records.frame)), rng)


def test_rounds_sent_again_count_once(game):
    records = game.draw(np.random.default_rng(0)).records
    for memoize, tables in ((True, 1), (False, 3)):
        release = LocalReports(rounds=3, memoize=memoize).apply(records, np.random.default_rng(0))
        assert len(round_likelihoods(release)) == tables


def test_claims_of_another_size_are_refused(game, pools):
    rng = np.random.default_rng(0)
    for one, short in ((game, RankedAnswers(3, 16, [0], [0], [1.0])), (pools, RankedAnswers(3, 6, [0], [0], [1.0]))):
        secret = one.draw(rng)
        release = LocalReports().apply(secret.records, rng)
        with pytest.raises(ValueError, match="the answers are about 3 persons"):
            one.score(secret, release, short, rng)
        with pytest.raises(TypeError, match="ranked answers"):
            one.score(secret, release, object(), rng)


def table(values, **more):
    frame = pd.DataFrame({"city": values, "person": np.arange(len(values)) // 2})
    domain = CategoricalDomain(("Nara", "Uji"))
    return Microdata(frame, identifiers=("person",), **{"domains": {"city": domain}, "person": "person", **more})


def test_report_game_refuses_bad_input():
    records = table(["Nara", "Uji", None] * 4)
    assert len(Reports(records=records, column="city", persons=8).draw(np.random.default_rng(0)).values) == 8
    for parameters, message in (
        ({"column": "no such"}, "no released column"),
        ({"column": "person"}, "no released column"),
        ({"persons": 9}, "9 are needed and 8"),
        ({"persons": 0}, "persons"),
        ({"persons": np.nan}, "persons"),
        ({"auxiliary": -1}, "auxiliary"),
        ({"records": table(["Nara"] * 9)}, "fewer than two values"),
        ({"records": table([None] * 9)}, "are needed and 0"),
    ):
        with pytest.raises(ValueError, match=message):
            Reports(**{"records": records, "column": "city", "persons": 5, **parameters})


def test_pool_game_refuses_bad_input():
    records = emoji(20, 4, np.random.default_rng(0))
    number = Microdata(
        pd.DataFrame({"person": [1, 1, 2], "age": [3, 4, 5]}), domains={"age": NumericDomain(0, 9)}, person="person"
    )
    frame = records.frame.copy()
    frame.loc[0, "emoji"] = None
    alike = records.frame.assign(emoji=records.frame["emoji"].iloc[0])
    for parameters, message in (
        ({"records": table(["Nara", "Uji"] * 9), "column": "city"}, "hierarchy"),
        ({"records": table(["Nara", "Uji"] * 9, person=None), "column": "city"}, "whose item"),
        ({"records": number, "column": "age"}, "hierarchy"),
        ({"records": records.with_frame(frame)}, "missing"),
        ({"records": records.with_frame(alike)}, "fewer than two pools"),
        ({"records": records.take([])}, "fewer than two pools"),
        ({"persons": 20}, "there are 20"),
        ({"reports": 5}, "there are 0"),
        ({"persons": 0}, "persons"),
        ({"reports": np.nan}, "reports"),
    ):
        with pytest.raises(ValueError, match=message):
            Pool(**{"records": records, "column": "emoji", "persons": 5, "reports": 2, **parameters})
