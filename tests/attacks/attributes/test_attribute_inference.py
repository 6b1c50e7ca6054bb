"""Attribute inference: the game, its attacks on hand-made tables, and what defenses do to them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from attacks import (
    BayesInference,
    ClassifierInference,
    Homogeneity,
    Knowledge,
    MajorityInClass,
    NearestNeighbour,
    NearestRowInference,
    NotApplicable,
    Skewness,
    ValueClaims,
)
from defenses import Constant, Guarantee, Identity, Microdata, MicrodataRelease, Mondrian
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from metrics import CategoricalDomain, NumericDomain, risk_after_control
from scenarios import AttributeInference, load, play
from scenarios.conformance.suite import checks
from scenarios.games.attribute_inference import successes
from scenarios.games.playing import play_alone
from scenarios.seeds import generator
from scenarios.tables.dataset import with_columns

ILLNESS = CategoricalDomain(("flu", "cold", "ulcer"))
AGE = NumericDomain(0, 99, integer=True, cuts=(20, 40, 60, 80))


def people(ages, illnesses):
    return Microdata(
        pd.DataFrame({"age": ages, "illness": illnesses}),
        quasi_identifiers=("age",),
        sensitive=("illness",),
        domains={"age": AGE, "illness": ILLNESS},
    )


# Three classes of four: the first has flu only, the second flu and cold, the third cold thrice and one ulcer.
TWELVE = people(
    [21, 23, 25, 29, 30, 33, 35, 39, 40, 42, 44, 49],
    ["flu"] * 4 + ["flu", "flu", "cold", "cold"] + ["cold"] * 3 + ["ulcer"],
)
DECADES = ["[20,29]"] * 4 + ["[30,39]"] * 4 + ["[40,49]"] * 4
RELEASE = MicrodataRelease(pd.DataFrame({"age": DECADES, "illness": TWELVE.frame["illness"]}), np.full(12, -1))
# Eight strangers: four that the homogeneous class covers (one of them has flu), two of the second class, two of none.
STRANGERS = people([22, 24, 26, 28, 31, 34, 70, 80], ["flu", "cold", "cold", "ulcer", "flu", "cold", "flu", "flu"])


OTHERS = {f"other{number}": "same" for number in range(20)}


def claims(attack, ages, release=RELEASE, auxiliary=TWELVE):
    knowledge = Knowledge(pd.DataFrame({"age": ages}), auxiliary)
    return attack.run(release, knowledge, generator(0, "attack"))


def rates(attack):
    result = []
    for group in (TWELVE, STRANGERS):
        said = claims(attack, group.frame["age"])
        correct, _ = successes(said, "illness", ILLNESS, ILLNESS.codes(group.frame["illness"]))
        result.append(correct.sum() / len(group))
    return result


def test_homogeneity_on_twelve_rows_exactly():
    attack, control = rates(Homogeneity())
    assert attack == 4 / 12
    assert control == 1 / 8
    assert_allclose((attack - control) / (1 - control), 5 / 21)
    assert_allclose(risk_after_control(4, 12, 1, 8).value, 5 / 21)


def test_majority_on_twelve_rows_exactly():
    # All four of the first class, two of four in the tied second, three of four in the third.
    # Strangers: one of the four covered by the first class, half each of the two in the second, and the two beyond
    # all classes are nearest to the third, whose majority has a cold.
    assert_allclose(rates(MajorityInClass()), [9 / 12, (1 + 1) / 8])


def test_nearest_row_counts_ties_by_expected_success():
    # 4 x 1, 4 x 1/2, then 3 x 3/4 + 1/4; strangers: 1, 2 x 1/2, nothing (no flu in the third class).
    assert_allclose(rates(NearestRowInference()), [(4 + 2 + 2.5) / 12, 2 / 8])


def test_inference_on_a_copy_equals_enumeration_and_is_nothing_on_unrelated_values():
    rng = generator(0, "copy")
    population = people(
        rng.integers(0, 30, 2000), np.array(ILLNESS.categories, dtype=object)[rng.integers(3, size=2000)]
    )
    game = AttributeInference(records=population, originals=40, strangers=40, auxiliary=0)
    copy = play_alone(Identity(), NearestRowInference(), game, generator(0, "play"))
    frame = copy[0].records.frame
    # Everybody's nearest rows are those of the same age; one of them is drawn.
    same_age = frame.groupby("age")["illness"]
    expected = (frame["illness"].to_numpy()[:, None] == frame["illness"].to_numpy()) & (
        frame["age"].to_numpy()[:, None] == frame["age"].to_numpy()
    )
    rate = (expected.sum(axis=1) / same_age.transform("size")).mean()
    assert 0.4 < rate < 0.95
    assert_allclose(copy[2]["attribute"], rate, atol=1e-12)
    large = AttributeInference(records=population, originals=500, strangers=500, auxiliary=0)
    scores = play_alone(Unrelated(), NearestRowInference(), large, generator(0, "play"))[2]
    # The interval of the risk holds 0 with 95 %; this seed is fixed.
    assert scores["risk_low"] <= 0 <= scores["risk_high"]
    assert play_alone(Unrelated(), NearestRowInference(), large, generator(0, "play"))[2] == scores


def test_skewness_bets_on_the_most_over_represented_value_of_distant_classes():
    said = claims(Skewness(distance=0.3), [25, 35, 45])
    # The table has 1/2 flu, 5/12 cold, 1/12 ulcer; the second class is at distance 1/12.
    assert said.about.tolist() == [0, 2]
    assert said.values["illness"].tolist() == ["flu", "cold"]
    assert_allclose(said.confidence, [1 / 2, 3 / 4 - 5 / 12 + 1 / 4 - 1 / 12])
    assert claims(Skewness(distance=0.6), [25, 35, 45]).about.size == 0


@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize("attack", [Homogeneity(), MajorityInClass(), NearestRowInference(), Skewness()], ids=repr)
def test_who_stands_at_the_open_end_of_a_class_is_not_of_it(attack, integer):
    frame = pd.DataFrame({"age": ["[20,30)"] * 6 + ["[30,40)"] * 6, "illness": ["flu"] * 6 + ["cold"] * 6})
    domains = {"age": NumericDomain(20, 40, integer=integer, cuts=(30,)), "illness": ILLNESS}
    auxiliary = Microdata(
        pd.DataFrame({"age": [20, 39], "illness": ["flu", "cold"]}),
        quasi_identifiers=("age",),
        sensitive=("illness",),
        domains=domains,
    )
    # Targets of more columns than one: the mean over them must not make a tie of it.
    frame, known = frame.assign(**OTHERS), pd.DataFrame({"age": [20, 29, 30, 31]}).assign(**OTHERS)
    auxiliary = auxiliary.with_frame(auxiliary.frame.assign(**OTHERS))
    said = attack.run(MicrodataRelease(frame, np.full(12, -1)), Knowledge(known, auxiliary), generator(0, "attack"))
    assert said.about.tolist() == [0, 1, 2, 3]
    assert said.values["illness"].tolist() == ["flu", "flu", "cold", "cold"]


def test_bayes_uses_what_is_known_of_people_like_the_target():
    # In the second class flu and cold are tied; the attacker's own people of 35 to 39 mostly have a cold.
    own = people([31, 32, 33, 34, 45, 46, 47, 48] * 5, ["flu"] * 20 + ["cold"] * 20)
    mixed = MicrodataRelease(
        pd.DataFrame({"age": ["[30,49]"] * 4, "illness": ["flu", "flu", "cold", "cold"]}), [-1] * 4
    )
    said = claims(BayesInference(), [32, 47], mixed, own)
    assert said.values["illness"].tolist() == ["flu", "cold"]


def test_bayes_equals_enumeration_of_the_worlds_of_a_class():
    from itertools import permutations

    from attacks.attributes.naive_bayes import NaiveBayes
    from metrics.profile import original_profile

    own = people([31, 32, 33, 34, 45, 46, 47, 48, 30, 49] * 20, (["flu"] * 3 + ["cold"] * 5 + ["ulcer"] * 2) * 20)
    release = MicrodataRelease(
        pd.DataFrame({"age": ["[30,49]"] * 4, "illness": ["flu", "cold", "cold", "ulcer"]}), [-1] * 4
    )
    study = original_profile(own.frame[["age"]], {"age": AGE})
    model = NaiveBayes.fit(study, np.eye(4)[ILLNESS.codes(own.frame["illness"])][:, :3])
    target = model.posterior(original_profile(pd.DataFrame({"age": [47]}), {"age": AGE}))[0]
    others = model.posterior(study).mean(axis=0)
    world = np.zeros(3)
    for values in permutations([0, 1, 1, 2]):
        world[values[0]] += target[values[0]] * np.prod(others[list(values[1:])])
    said = claims(BayesInference(), [47], release, own)
    # The one more person with the table's background that the attack adds moves it by less than 1 in 200.
    assert_allclose(said.confidence[0], (world / world.sum()).max(), rtol=5e-3)


@pytest.fixture(scope="module")
def adult():
    names = ["age", "workclass", "education", "marital-status", "race", "sex", "hours-per-week", "salary-class"]
    return with_columns(load("adult"), names).records


def advantage(defense, attack, records, plays=3):
    game = AttributeInference(records=records, originals=300, strangers=300, auxiliary=300)
    scores = [play_alone(defense, attack, game, generator(0, "play", number))[2] for number in range(plays)]
    rate, chance = (np.mean([each[name] for each in scores]) for name in ("attribute", "attribute_chance"))
    return (rate - chance) / (1 - chance)


def test_k_anonymity_falls_to_homogeneity_and_l_diversity_answers_it(adult):
    assert advantage(Mondrian(k=3), Homogeneity(), adult) > 0.1
    assert advantage(Mondrian(k=3, l=2), Homogeneity(), adult) == 0


def test_t_closeness_answers_skewness(adult):
    game = AttributeInference(records=adult, originals=300, strangers=300)
    answered = [
        play(defense, Skewness(distance=0.3), game, generator(0, "play")).scores["answered"]
        for defense in (Mondrian(k=3), Mondrian(k=3, t=0.29))
    ]
    assert answered[0] > 0.1
    assert answered[1] == 0


@pytest.mark.parametrize(
    "attack",
    [Homogeneity(), Skewness(), MajorityInClass(), BayesInference(), ClassifierInference(), NearestRowInference()],
)
def test_every_attack_reads_a_plain_copy_and_finds_no_leak_in_unrelated_values(attack, adult):
    assert advantage(Identity(), attack, adult, plays=1) > 0.9
    # The sensitive values of 3 x 300 people permuted: no more than 4 standard deviations of the difference of two
    # shares of 900 (false alarms below 1 in 10,000), on the scale of the advantage with a chance below 3/4. Bayes,
    # misled about the table's people but not about strangers, does worse than that.
    assert advantage(Unrelated(), attack, adult) < 4 * np.sqrt(2 * 0.25 / 900) / 0.25


class Unrelated(MicrodataDefense):
    """Quasi-identifiers as they are, the sensitive column permuted."""

    def apply(self, records, rng):
        frame = released_frame(records)
        for name in records.sensitive:
            frame[name] = frame[name].to_numpy()[rng.permutation(len(frame))]
        return rowwise_release(frame, None)

    def guarantee(self, records):
        return Guarantee()


class Flipped(MicrodataDefense):
    """Quasi-identifiers as they are, 30 % of binary values flipped."""

    def apply(self, records, rng):
        frame = released_frame(records)
        frame["secret"] = (frame["secret"] + (rng.random(len(frame)) < 0.3)) % 2
        return rowwise_release(frame, None)


def test_the_interval_covers_the_truth_in_95_percent_of_200_simulations():
    # Everybody has a number of their own; a stranger's nearest row is somebody else's, whose secret agrees in half of
    # the cases. The attack is right with probability .7, so that the risk is (.7 - .5) / (1 - .5) = .4 exactly.
    records = Microdata(
        pd.DataFrame({"number": np.arange(4000), "secret": 0}),
        quasi_identifiers=("number",),
        sensitive=("secret",),
        domains={
            "number": NumericDomain(0, 3999, integer=True),
            "secret": NumericDomain(0, 1, integer=True, cuts=(1,)),
        },
    )
    covered = 0
    for number in range(200):
        fresh = records.with_frame(records.frame.assign(secret=generator(1, number).integers(2, size=4000)))
        game = AttributeInference(records=fresh, originals=150, strangers=100, auxiliary=0)
        scores = play_alone(Flipped(), NearestRowInference(), game, generator(0, "simulation", number))[2]
        covered += scores["risk_low"] <= 0.4 <= scores["risk_high"]
    # Binomial(200, .95): fewer than 180 in .2 % of all cases, 200 in less than .004 %.
    assert 180 <= covered < 200


def test_risk_after_control_covers_the_truth_for_extreme_rates_too():
    # 16 cases of 2000 simulations; Binomial(2000, .93) is below 1805 with probability .0000001.
    rng = generator(0, "risk")
    for attack in (0.02, 0.3, 0.7, 0.98):
        for control in (0.02, 0.3, 0.7, 0.9):
            hits, controls = rng.binomial(80, attack, 2000), rng.binomial(60, control, 2000)
            pairs = np.unique(np.column_stack([hits, controls]), axis=0, return_counts=True)
            truth = (attack - control) / (1 - control)
            inside = 0
            for (hit, chance), times in zip(*pairs, strict=True):
                risk = risk_after_control(hit, 80, chance, 60)
                assert risk.low <= risk.value <= risk.high
                inside += times * (risk.low <= truth <= risk.high)
            assert inside >= 1805, (attack, control, inside)


def test_risk_after_control_at_the_ends():
    assert risk_after_control(10, 10, 0, 10).value == 1
    assert risk_after_control(10, 10, 0, 10).high == 1
    assert risk_after_control(0, 10, 0, 10).value == 0
    nothing_to_learn = risk_after_control(5, 10, 10, 10)
    assert (nothing_to_learn.value, nothing_to_learn.low, nothing_to_learn.high) == (0, 0, 1)
    assert risk_after_control(1, 10, 5, 10).value < 0
    for arguments in ((11, 10, 1, 10), (1, 0, 1, 10), (1, 10, -1, 10), (np.nan, 10, 1, 10)):
        with pytest.raises(ValueError, match="successes"):
            risk_after_control(*arguments)
    with pytest.raises(ValueError, match="confidence"):
        risk_after_control(1, 10, 1, 10, confidence=1)


def test_the_game_reports_what_the_board_reads(adult):
    game = AttributeInference(records=adult, originals=40, strangers=60, auxiliary=50)
    outcome = play(Mondrian(k=5), MajorityInClass(), game, generator(0, "play"))
    scores = outcome.scores
    assert (scores["attribute_trials"], scores["attribute_control_trials"]) == (40, 60)
    assert 0 <= scores["attribute_chance"] <= 1
    assert scores["answered"] == 1
    assert scores["precision"] == scores["attribute"]
    assert scores["risk_low"] <= scores["risk"] <= scores["risk_high"]
    assert outcome.utility["k"] >= 5
    again = play(Mondrian(k=5), MajorityInClass(), game, generator(0, "play"))
    assert again == outcome


def test_attackers_see_no_sensitive_value_and_cannot_tell_strangers_by_position(adult):
    game = AttributeInference(records=adult, originals=40, strangers=40, auxiliary=50)
    secret = game.draw(generator(0, "draw"))
    knowledge = game.knowledge(secret, Identity())
    assert "salary-class" not in knowledge.candidates
    assert 8 < secret.member[:40].sum() < 32
    truth = adult.frame.merge(knowledge.candidates.drop_duplicates(), on=list(knowledge.candidates.columns))
    assert len(truth) > 0


def test_numbers_are_named_by_public_bins(adult):
    game = AttributeInference(records=adult, sensitive="age", originals=60, strangers=60, auxiliary=60)
    secret = game.draw(generator(0, "draw"))
    ages = secret.people()["age"]
    domain = adult.domains["age"]
    edges = np.array([domain.low, *domain.cuts])[domain.codes(ages)]
    said = ValueClaims(pd.DataFrame({"age": edges}), np.ones(len(ages)))
    release = game.publish(Identity().apply(secret.records, generator(0)), generator(0))
    assert game.score(secret, release, said, generator(0))["attribute"] == 1
    assert play(Identity(), NearestRowInference(), game, generator(0, "play")).scores["attribute"] > 0.5


def test_abstentions_and_missing_values():
    truth = np.array([0, 1, 3])
    said = ValueClaims(pd.DataFrame({"illness": ["flu", None, "cold"]}), np.ones(3))
    correct, answered = successes(said, "illness", ILLNESS, truth)
    assert correct.tolist() == [1, 0, 0]
    assert answered.tolist() == [1, 0, 1]
    shared = ValueClaims(
        pd.DataFrame({"illness": ["flu", "cold"]}), np.ones(2), np.array([1, 1]), np.array([0.25, 0.75])
    )
    assert successes(shared, "illness", ILLNESS, truth)[0].tolist() == [0, 0.75, 0]


def test_bad_claims_are_refused():
    with pytest.raises(ValueError, match="add up"):
        ValueClaims(pd.DataFrame({"a": ["x", "y"]}), np.ones(2), np.array([0, 0]), np.array([0.6, 0.6]))
    with pytest.raises(ValueError, match="confidence"):
        ValueClaims(pd.DataFrame({"a": ["x"]}), np.array([np.nan]))
    with pytest.raises(ValueError, match="length"):
        ValueClaims(pd.DataFrame({"a": ["x"]}), np.ones(2))
    with pytest.raises(ValueError, match="shares"):
        ValueClaims(pd.DataFrame({"a": ["x"]}), np.ones(1), np.array([0]), np.array([-0.1]))
    said = ValueClaims(pd.DataFrame({"illness": ["flu"]}), np.ones(1), np.array([7]))
    with pytest.raises(ValueError, match="person 7"):
        successes(said, "illness", ILLNESS, np.array([0]))
    with pytest.raises(ValueError, match="no column"):
        successes(said, "age", ILLNESS, np.array([0]))
    with pytest.raises(ValueError, match="scurvy"):
        successes(ValueClaims(pd.DataFrame({"illness": ["scurvy"]}), np.ones(1)), "illness", ILLNESS, np.array([0]))
    with pytest.raises(TypeError, match="claimed values"):
        successes(None, "illness", ILLNESS, np.array([0]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"originals": 0}, "originals"),
        ({"strangers": 0}, "strangers"),
        ({"strangers": 2.5}, "strangers"),
        ({"auxiliary": -1}, "auxiliary"),
        ({"attacker_knows": "all"}, "attacker_knows"),
        ({"sensitive": "shoe size"}, "shoe size"),
        ({"originals": 10**6}, "records are needed"),
    ],
)
def test_bad_games_are_refused(changes, message, adult):
    with pytest.raises(ValueError, match=message):
        AttributeInference(records=adult, **changes)


def test_a_table_without_sensitive_columns_needs_one_to_be_named():
    bare = Microdata(TWELVE.frame, quasi_identifiers=("age",))
    with pytest.raises(ValueError, match="name one"):
        AttributeInference(records=bare, originals=3, strangers=3)
    AttributeInference(records=bare, sensitive="illness", originals=3, strangers=3)


def test_unseen_categories_and_other_goals(adult):
    with pytest.raises(ValueError, match="scurvy"):
        claims(Homogeneity(), [25], MicrodataRelease(pd.DataFrame({"age": [25], "illness": ["scurvy"]}), [-1]))
    with pytest.raises(NotApplicable, match="attribute"):
        play(Constant(), NearestNeighbour(), AttributeInference(records=adult), generator(0))


def test_what_columns_may_hold_is_public_where_it_is_not_declared():
    # Eighty rare values: the attacker's own people have hardly any of those in the release.
    number = np.arange(160)
    frame = pd.DataFrame({"age": number, "illness": np.char.add("i", (number // 2).astype(str)).astype(object)})
    records = Microdata(frame, quasi_identifiers=("age",), sensitive=("illness",))
    game = AttributeInference(records=records, originals=50, strangers=50)
    outcome = play(Identity(), MajorityInClass(), game, generator(0))
    assert outcome.scores["attribute"] == 1
    assert outcome.utility["marginals"] == 1


class Unseeded(MajorityInClass):
    """Claims at random, from no generator of the game's."""

    def run(self, release, knowledge, rng):
        said = super().run(release, knowledge, rng)
        chosen = np.random.default_rng().choice(np.array(["none", "flu", "cold"], dtype=object), len(said.values))
        return ValueClaims(pd.DataFrame({"illness": chosen}), said.confidence, said.about, said.weight)


class Meddling(MajorityInClass):
    """Overwrites the release."""

    def run(self, release, knowledge, rng):
        said = super().run(release, knowledge, rng)
        release.frame["age"] = 50
        return said


@pytest.mark.parametrize(
    ("method", "title"),
    [
        (Unseeded, "same seed, same claims"),
        (Unseeded, "names 90 % of the values in a plain copy"),
        (Meddling, "leaves what it is given as it is"),
    ],
)
def test_the_conformance_suite_catches_broken_attacks(method, title):
    (run,) = (check for name, check in checks(method) if name == title)
    with pytest.raises(AssertionError):
        run()
