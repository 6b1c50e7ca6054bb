"""Joint reconstruction of hidden columns: plain and generalized cells, factors, memorization apart from inference."""

import numpy as np
import pandas as pd
import pytest
from illness_tools import TWELVE, people
from numpy.testing import assert_allclose
from playing_tools import scored

from attacks import (
    ClassifierInference,
    ColumnwiseReconstruction,
    DistanceToClosestRecord,
    FactorGraphReconstruction,
    Homogeneity,
    Knowledge,
    MajorityInClass,
    NotApplicable,
)
from attacks.attributes import reconstruction_of_columns
from attacks.attributes.hidden_columns import MOST_VALUES, hidden_columns
from attacks.attributes.reconstruction_of_columns import _forests, association_factors, drawn_claims, outstanding_rows
from defenses import Constant, GaussianCopula, Identity, IndependentMarginals, Microdata, MicrodataRelease, Mondrian
from defenses.base.defense import MicrodataDefense
from metrics import CategoricalDomain, NumericDomain
from scenarios import ReconstructionQuestion, SharedPeople, load
from scenarios.tables.seeds import generator

TABLE = pd.DataFrame(
    {"age": [20, 20, 40, 40], "job": ["nurse", "nurse", "judge", "cook"], "illness": ["flu", "cold", "cold", "cold"]}
)
PEOPLE = Microdata(
    TABLE,
    quasi_identifiers=("age", "job"),
    sensitive=("illness",),
    domains={name: CategoricalDomain(tuple(sorted(TABLE[name].unique()))) for name in ("job", "illness")},
)
RELEASE = MicrodataRelease(TABLE, np.full(4, -1))


def claims(attack, ages=(20, 40, 41), release=RELEASE):
    return attack.run(release, Knowledge(pd.DataFrame({"age": ages}), PEOPLE), generator(0))


def test_every_hidden_column_is_inferred_by_itself():
    result = claims(ColumnwiseReconstruction(attack=MajorityInClass()))
    assert list(result.values) == ["job", "illness"]
    assert result.values["job"].tolist()[0] == "nurse"
    assert set(result.values["job"].tolist()[1:]) <= {"judge", "cook"}
    assert result.values["illness"].tolist()[1:] == ["cold", "cold"]
    # Certain of the nurse, one of two for the illness; then the reverse.
    assert_allclose(result.confidence, [0.75, 0.75, 0.75])


def test_a_column_without_claims_stays_empty():
    result = claims(ColumnwiseReconstruction(attack=Homogeneity()))
    assert result.values["job"].isna().tolist() == [False, True, True]
    assert result.values["illness"].isna().tolist()[:2] == [True, False]
    assert_allclose(result.confidence[:2], 0.5)


def test_values_are_drawn_by_their_shares():
    person, share = np.array([1, 0, 1, 1]), np.array([0.25, 1.0, 0.25, 0.25])
    uniform = np.array([0.999, 0.3, 0.9])
    assert drawn_claims(person, share, uniform).tolist() == [1, 2, -1]
    assert drawn_claims(person, share, np.array([0.0, 0.8, 0.0])).tolist() == [1, -1, -1]
    numbers = (np.arange(1000) + 0.5) / 1000
    many = drawn_claims(np.repeat(np.arange(1000), 3), np.tile([0.2, 0.5, 0.1], 1000), numbers)
    counts = np.bincount(np.where(many < 0, 3, many % 3), minlength=4)
    assert counts.tolist() == [200, 500, 100, 200]
    assert drawn_claims(person[:0], share[:0], uniform).tolist() == [-1, -1, -1]


def test_a_release_without_hidden_column_is_not_applicable():
    release = MicrodataRelease(TABLE[["age"]], np.full(4, -1))
    with pytest.raises(NotApplicable, match="no hidden column"):
        claims(ColumnwiseReconstruction(), release=release)
    suppressed = MicrodataRelease(TABLE.assign(job=None, illness=None), np.full(4, -1))
    with pytest.raises(NotApplicable, match="has no value"):
        claims(ColumnwiseReconstruction(attack=ClassifierInference()), release=suppressed)


@pytest.mark.parametrize("attack", [DistanceToClosestRecord(), "NearestRowInference", MajorityInClass])
def test_only_attacks_on_a_sensitive_value_fit(attack):
    with pytest.raises(ValueError, match="attack must be an attack on the sensitive value"):
        ColumnwiseReconstruction(attack=attack)


def test_numbers_are_claimed_by_their_bin():
    records = people(TWELVE.frame["age"], TWELVE.frame["illness"])
    knowledge = Knowledge(records.frame[["illness"]].iloc[[0]], records)
    result = ColumnwiseReconstruction(attack=MajorityInClass()).run(
        MicrodataRelease(records.frame, np.full(12, -1)), knowledge, generator(0)
    )
    # Four of the six with the flu are in their twenties.
    assert result.values["age"].tolist() == [20]


CITIES = ("Nara", "Uji", "Ōsaka")
TABLE_FACTOR_GRAPH_RECONSTRUCTION = pd.DataFrame(
    {
        "age": [20, 30, 40, 50],
        "income": ["[0,10)", "5", "{12|20}", "*"],
        "city": ["Nara", "{Nara|Uji}", "*", None],
    }
)
PEOPLE_FACTOR_GRAPH_RECONSTRUCTION = Microdata(
    pd.DataFrame({"age": [25], "income": [3], "city": ["Uji"]}),
    quasi_identifiers=("age", "income"),
    sensitive=("city",),
    domains={
        "age": NumericDomain(0, 99, integer=True),
        "income": NumericDomain(0, 40, integer=True, cuts=(10, 20, 30)),
        "city": CategoricalDomain(CITIES),
    },
)
KNOWLEDGE = Knowledge(pd.DataFrame({"age": [20, 30, 40, 50]}), PEOPLE_FACTOR_GRAPH_RECONSTRUCTION)


def release_of(frame):
    return MicrodataRelease(frame, np.full(len(frame), -1))


def test_hidden_cells_of_every_kind_are_shares_of_values():
    income, city = hidden_columns(release_of(TABLE_FACTOR_GRAPH_RECONSTRUCTION), KNOWLEDGE)
    assert (income.name, city.name) == ("income", "city")
    assert_allclose(income.mass, [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0.5, 0.5, 0], np.array([10, 10, 10, 11]) / 41])
    assert_allclose(city.mass, [[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0, 0]])
    assert_allclose(city.frequency, np.array([11, 5, 2]) / 18)
    assert city.named(np.array([2, -1, 0])).tolist() == ["Ōsaka", None, "Nara"]
    assert_allclose(income.named(np.array([1, -1])), [10, np.nan])


def test_only_values_of_the_release_are_claimed_and_the_frequent_ones_of_many():
    names = tuple(f"city {i:03}" for i in range(MOST_VALUES + 50))
    domain = CategoricalDomain(("never", *names))
    frame = pd.DataFrame({"age": 20, "city": [*names, *names[10 : MOST_VALUES + 9]]})
    people = Microdata(frame.iloc[:1], quasi_identifiers=("age",), sensitive=("city",), domains={"city": domain})
    (city,) = hidden_columns(release_of(frame), Knowledge(pd.DataFrame({"age": [20]}), people))
    assert city.support.size == MOST_VALUES
    assert domain.position("never") not in city.support
    assert {domain.position(name) for name in names[10 : MOST_VALUES + 9]} < set(city.support)


def test_rows_that_cover_a_target_give_its_values():
    claims = FactorGraphReconstruction().run(release_of(TABLE_FACTOR_GRAPH_RECONSTRUCTION), KNOWLEDGE, generator(0))
    assert claims.values["income"].tolist()[:2] == [0, 0]
    assert claims.values["city"].tolist()[:1] == ["Nara"]
    assert claims.confidence.shape == (4,)
    assert ((claims.confidence > 0) & (claims.confidence <= 1)).all()


def test_a_row_weighs_by_how_far_it_stands_out():
    distance = np.array([[0.0, 0.1, 0.3, 0.2], [0.5, 0.4, 0.3, 0.2], [0.0, 0.9, 0.6, 0.2]])
    nearest, weight = outstanding_rows(distance)
    assert nearest.toarray().tolist() == [[1, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert_allclose(weight, [1, 0.75, 0.5, 0.8])


def test_targets_are_compared_in_blocks(monkeypatch):
    distance = generator(0).random((5, 23)).round(1)
    whole = outstanding_rows(distance)
    monkeypatch.setattr(reconstruction_of_columns, "BLOCK", 10)
    blocks = outstanding_rows(distance)
    assert (whole[0] != blocks[0]).nnz == 0
    assert (whole[1] == blocks[1]).all()


def test_trees_of_a_large_release_grow_on_some_of_its_rows(monkeypatch):
    monkeypatch.setattr(reconstruction_of_columns, "MOST_ROWS", 30)
    frame = pd.DataFrame({"age": np.repeat([20, 30], 50), "city": np.repeat(["Nara", "Uji"], 50)})
    claims = FactorGraphReconstruction().run(release_of(frame), KNOWLEDGE, generator(0))
    assert claims.values["city"].tolist() == ["Nara", "Uji", "Uji", "Uji"]


def test_covering_rows_answer_where_midpoints_of_cells_mislead():
    """All cells have the midpoint 40, and one row covers the target."""
    frame = pd.DataFrame({"age": ["[0,80]", "[35,45]", "[35,45]", "[35,45]"], "city": ["Nara", "Uji", "Uji", "Uji"]})
    claims = FactorGraphReconstruction(weigh_rarity=False).run(release_of(frame), KNOWLEDGE, generator(0))
    assert claims.values["city"].tolist() == ["Nara", "Nara", "Uji", "Nara"]


def test_factors_tie_columns_and_do_not_tie_independent_ones():
    values = np.repeat([0, 10], 50)
    frame = pd.DataFrame({"age": 20, "income": values, "city": np.repeat(["Nara", "Uji"], 50)})
    factor = association_factors(hidden_columns(release_of(frame), KNOWLEDGE))[0, 1]
    # (50 / .25 + 2) / (100 + 2) and 2 / (100 + 2), with exponent 1 for two columns.
    assert_allclose(factor, np.array([[202, 2], [2, 202]]) / 102)
    crossed = frame.assign(city=np.tile(["Nara", "Uji"], 50))
    assert_allclose(association_factors(hidden_columns(release_of(crossed), KNOWLEDGE))[0, 1], 1)


def test_rarity_prefers_the_rarer_of_two_similar_posteriors():
    frame = pd.DataFrame(
        {"age": [20, 20, 20, 20, 20, 50, 50, 50, 50], "city": ["Nara"] * 3 + ["Uji"] * 2 + ["Nara"] * 4}
    )
    knowledge = Knowledge(pd.DataFrame({"age": [20]}), PEOPLE_FACTOR_GRAPH_RECONSTRUCTION)
    chosen = [
        FactorGraphReconstruction(weigh_rarity=weigh).run(release_of(frame), knowledge, generator(0)).values["city"][0]
        for weigh in (True, False)
    ]
    assert chosen == ["Uji", "Nara"]


def game(records, size=150):
    question = ReconstructionQuestion()
    return SharedPeople(records=records, question=question, originals=size, others=size, auxiliary=50, held_out=50)


def scores(defense, attack, records, seed=0, size=150):
    return scored(defense, attack, game(records, size), generator(seed, "play"))


@pytest.fixture(scope="module")
def adult():
    return load("adult").records


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("attack", [FactorGraphReconstruction(), ColumnwiseReconstruction()])
def test_a_copy_is_reconstructed_of_its_people_alone(adult, attack):
    result = scores(Identity(), attack, adult)["record_reconstruction"]
    assert result.rate > 0.97
    assert 0.2 < result.chance < 0.6


# Each interval holds 0 with 95 %; the seed is fixed, and Constant and independent columns tell nothing about anybody.
@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("defense", [Constant(), IndependentMarginals()])
def test_tables_that_tell_nothing_about_anybody_give_no_advantage(adult, defense):
    measures = scores(defense, FactorGraphReconstruction(), adult).measures
    assert measures["risk_low"] <= 0 <= measures["risk_high"]


@pytest.mark.thorough
def test_a_copula_gives_little(adult):
    assert scores(GaussianCopula(), FactorGraphReconstruction(), adult)["record_reconstruction"].advantage < 0.15


class OtherPeople(MicrodataDefense):
    """Releases records of other people of the same population."""

    def __init__(self, *, frame=None):
        self.frame = frame

    def apply(self, records, rng):
        frame = self.frame.sample(len(records), random_state=int(rng.integers(1 << 31))).reset_index(drop=True)
        return MicrodataRelease(frame, np.full(len(frame), -1))


@pytest.mark.thorough
def test_other_people_of_the_population_tell_by_statistics_alone(adult):
    """Hits exceed those on independent columns, but members have no more of them than strangers."""
    half = len(adult) // 2
    others = OtherPeople(frame=adult.frame.iloc[half:].reset_index(drop=True))
    ours = adult.take(np.arange(half))
    inferred = scores(others, FactorGraphReconstruction(), ours)
    independent = scores(IndependentMarginals(), FactorGraphReconstruction(), ours)
    assert inferred.measures["risk_low"] <= 0 <= inferred.measures["risk_high"]
    assert inferred["record_reconstruction"].chance > independent["record_reconstruction"].chance + 0.08


@pytest.mark.thorough
def test_generalized_classes_are_read(adult):
    """The game finds more of the members in classes of two than in classes of fifty, and than of strangers."""
    small, large = (scores(Mondrian(k=k), FactorGraphReconstruction(), adult) for k in (2, 50))
    assert small["record_reconstruction"].advantage > 0.25 > large["record_reconstruction"].advantage


@pytest.mark.thorough
def test_equal_seeds_give_equal_claims():
    first, second = (
        FactorGraphReconstruction().run(release_of(TABLE_FACTOR_GRAPH_RECONSTRUCTION), KNOWLEDGE, generator(0))
        for _ in range(2)
    )
    assert first.values.equals(second.values)
    assert (first.confidence == second.confidence).all()


def test_a_release_without_hidden_value_is_not_applicable():
    for frame in (
        TABLE_FACTOR_GRAPH_RECONSTRUCTION[["age"]],
        TABLE_FACTOR_GRAPH_RECONSTRUCTION.assign(income=None, city=None),
        TABLE_FACTOR_GRAPH_RECONSTRUCTION.iloc[:0],
    ):
        with pytest.raises(NotApplicable, match="no value of a hidden column"):
            FactorGraphReconstruction().run(release_of(frame), KNOWLEDGE, generator(0))
    with pytest.raises(ValueError, match="column 'city', row 0: the cell holds an unknown category"):
        FactorGraphReconstruction().run(
            release_of(TABLE_FACTOR_GRAPH_RECONSTRUCTION.assign(city="Kōbe")), KNOWLEDGE, generator(0)
        )


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"trees": 1}, "trees"),
        ({"trees": 2.5}, "trees"),
        ({"iterations": -1}, "iterations"),
        ({"iterations": float("nan")}, "iterations"),
        ({"weigh_rarity": 1}, "weigh_rarity"),
    ],
)
def test_bad_parameters_are_refused(parameters, name):
    with pytest.raises(ValueError, match=name):
        FactorGraphReconstruction(**parameters)


def test_trees_are_those_of_forests():
    """Grown one by one, the trees predict what scikit-learn's forests of the same seeds predict."""
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

    rng = np.random.default_rng(0)
    rows, targets, shares = rng.integers(0, 5, (60, 4)) * 1.0, rng.random((20, 4)), rng.dirichlet(np.ones(3), 60)
    seeds = np.random.default_rng(1).integers(1 << 31, size=2)
    forests = [
        kind(count, bootstrap=False, max_features="sqrt", random_state=int(seed)).fit(rows, shares).predict(targets)
        for kind, count, seed in zip((ExtraTreesRegressor, RandomForestRegressor), (3, 2), seeds, strict=True)
    ]
    grown = _forests(rows, shares, targets, 5, np.random.default_rng(1))
    assert grown == pytest.approx(0.6 * forests[0] + 0.4 * forests[1], rel=1e-12)
