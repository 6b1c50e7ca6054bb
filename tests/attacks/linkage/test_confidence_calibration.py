"""Calibration of the confidences that linkage attacks state."""

import numpy as np
import pandas as pd
import pytest
from linkage_tools import (
    NOISY,
    calibration_error,
    correct_answers,
)

from attacks import (
    EnsembleLinkage,
    ExpectationMaximizationLinkage,
    GroupLinkage,
    Knowledge,
    LearnedLinkage,
    LikelihoodAssignment,
    RankedAnswers,
)
from defenses import (
    AdditiveNoise,
    CellSuppression,
    GlobalRecoding,
    GowerMicroaggregation,
    Identity,
    Incognito,
    KMeansMicroaggregation,
    Microaggregation,
    Microdata,
    MicrodataRelease,
    Mondrian,
    OptimalMatrix,
    OptimalRetention,
    OptimalRetentionByOutput,
    RankSwapping,
    RecordReplacement,
    ReportedTable,
    RetentionReplacement,
    Rounding,
    TopBottomCoding,
    UnivariateMicroaggregation,
)
from metrics import CategoricalDomain, NumericDomain
from scenarios import CandidateFile
from scenarios.tables.seeds import generator


@pytest.fixture(scope="module")
def games(bank):
    return {decoys: CandidateFile(records=bank, decoys=decoys) for decoys in ("random", "hard")}


DEFENSES = {
    "a copy": Identity(),
    "PRAM and noise": NOISY,
    "PRAM on bins": RetentionReplacement(retention=0.5),
    "ranks swapped": RankSwapping(window=0.1),
    "equal groups": Mondrian(k=5),
    "means of groups": Microaggregation(k=5),
}


CONFIDENT = (LikelihoodAssignment(), GroupLinkage(), ExpectationMaximizationLinkage(), EnsembleLinkage())


@pytest.mark.thorough
@pytest.mark.long_for(
    "PRAM and noise-hard", "PRAM on bins-random", "equal groups-random", "means of groups-hard", "ranks swapped-hard"
)
@pytest.mark.parametrize(("name", "decoys"), list(zip(DEFENSES, ["random", "hard"] * 3, strict=True)))
def test_confidences_are_calibrated(games, name, decoys):
    # Calibrated confidences give an error of about .04 with 300 rows. The long test below is stricter.
    for confidence, correct in correct_answers(CONFIDENT, DEFENSES[name], games[decoys], plays=3).values():
        assert calibration_error(confidence, correct) < 0.1


SHIPPED = [
    GlobalRecoding(levels=2),
    TopBottomCoding(share=0.25),
    TopBottomCoding(share=0.45),
    Rounding(base=1000),
    CellSuppression(k=2),
    CellSuppression(k=5),
    Mondrian(k=2),
    Mondrian(k=10),
    Incognito(k=2, search_limit=500),
    GowerMicroaggregation(k=10),
    KMeansMicroaggregation(k=10),
    UnivariateMicroaggregation(k=50),
    AdditiveNoise(scale=2),
    RecordReplacement(share=0.4),
    RetentionReplacement(retention=0.5),
    RetentionReplacement(retention=0.3),
    OptimalMatrix(epsilon=12),
    OptimalRetention(epsilon=20),
    OptimalRetentionByOutput(epsilon_matrix=1, epsilon_release=20),
    ReportedTable(protocol="OptimizedUnaryEncoding", epsilon=50),
]
KINDS = (GlobalRecoding, Incognito, GowerMicroaggregation, RecordReplacement, OptimalRetention, ReportedTable)
"""One of each kind of cells: sets, intervals, means, replaced rows, replaced cells and reports."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "defense", [pytest.param(one, marks=[] if type(one) in KINDS else [pytest.mark.long]) for one in SHIPPED], ids=repr
)
def test_the_expected_share_stays_right_where_it_was(games, defense):
    # These settings were chosen among all of the arena because the difference was below .05 on these seeds. So the test
    # notices when one gets worse; it does not show that others are calibrated. The attack's description names those
    # that are not. 500 rows: the standard deviation of the difference is about .022, that of hits.
    ((confidence, correct),) = correct_answers(
        [ExpectationMaximizationLinkage()], defense, games["random"], plays=5
    ).values()
    assert confidence.mean() == pytest.approx(correct.mean(), abs=0.05)


@pytest.mark.long
@pytest.mark.parametrize("decoys", ["random", "hard"])
@pytest.mark.parametrize("name", DEFENSES)
def test_confidences_are_calibrated_over_many_plays(games, name, decoys):
    # 3,000 rows, with dependent answers within a group. Calibrated confidences give an error of about .015.
    attacks = (*CONFIDENT, LearnedLinkage())
    for confidence, correct in correct_answers(attacks, DEFENSES[name], games[decoys], plays=30).values():
        assert calibration_error(confidence, correct) < 0.06


@pytest.mark.thorough
def test_learned_confidences_are_calibrated(bank):
    ((confidence, correct),) = correct_answers(
        [LearnedLinkage(simulations=3)], NOISY, CandidateFile(records=bank), 2
    ).values()
    assert calibration_error(confidence, correct) < 0.12
    assert correct.mean() > 0.65


def suppressed(kind, rows, count, seed):
    """Released rows of people of five columns, with cells suppressed at random, or those of rare values, or rows."""
    rng = np.random.default_rng(seed)
    sizes = {"state": 4, "job": 6, "sex": 2, "ill": 3}
    domains = {name: CategoricalDomain(tuple("abcdef"[:size])) for name, size in sizes.items()}
    weights = {name: np.arange(size, 0, -1) / np.arange(size + 1).sum() for name, size in sizes.items()}
    people = pd.DataFrame({name: rng.choice(domains[name].categories, count, p=weights[name]) for name in sizes})
    people["age"] = rng.integers(18, 90, count)
    origin = rng.permutation(count)[:rows]
    released = people.iloc[origin].reset_index(drop=True).astype(object)
    whole = rng.random(rows) < 0.14
    for name in released:
        cells = released[name]
        if name == "age" and kind == "beside intervals":
            cells = pd.Series(
                np.where(rng.random(rows) < 0.5, cells, [f"[{age // 10 * 10},{age // 10 * 10 + 9}]" for age in cells])
            )
        rare = 1 / cells.map(cells.value_counts(normalize=True))
        chance = {
            "all cells": 0.14,
            "many cells": 0.3,
            "beside intervals": 0.14,
            "rows": whole,
            "rare": 0.2 * rare / rare.mean(),
        }
        released[name] = np.where(rng.random(rows) < chance[kind], "*", cells)
    knowledge = Knowledge(people, Microdata(people, domains={**domains, "age": NumericDomain(18, 89, integer=True)}))
    return MicrodataRelease(released, np.full(rows, -1)), knowledge, origin


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("rows", "count"), [(300, 300), (200, 400)])
@pytest.mark.parametrize("kind", ["all cells", "many cells", "beside intervals", "rows", "rare"])
def test_the_expected_share_is_right_where_cells_are_suppressed(kind, rows, count):
    # Three releases: the standard deviation of the difference is about .02 (600 rows or more), so .08 is four of them.
    stated, right = [], []
    for seed in range(3):
        release, knowledge, origin = suppressed(kind, rows, count, seed)
        claims = ExpectationMaximizationLinkage().run(release, knowledge, generator(seed))
        first = claims.ranking(generator(0)) == 0
        stated.append(claims.confidence[first].mean())
        right.append((claims.answer[first] == origin[claims.target[first]]).mean())
    assert np.mean(stated) == pytest.approx(np.mean(right), abs=0.08)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(("replaced", "low", "high"), [(False, 0.95, 1.0), (True, 0.0, 0.1)])
@pytest.mark.parametrize("others", [["x"] * 60, ["y"] + ["x"] * 59], ids=["equal", "all but one equal"])
def test_one_column_is_believed_alone_where_its_cells_point_at_different_people(others, replaced, low, high):
    rng = generator(9)
    people = pd.DataFrame({"code": [f"c{number}" for number in rng.permutation(90000)[:60]], "land": others})
    drawn = rng.integers(1, 60, 40) if replaced else 1 + rng.permutation(59)[:40]
    released = people.iloc[drawn].reset_index(drop=True)
    release = MicrodataRelease(released, np.full(40, -1))
    domains = {name: CategoricalDomain(tuple(dict.fromkeys(people[name]))) for name in people}
    knowledge = Knowledge(people, Microdata(people, domains=domains))
    claims = ExpectationMaximizationLinkage().run(release, knowledge, rng)
    assert low <= claims.confidence[claims.ranking(rng) == 0].mean() <= high


@pytest.mark.thorough
def test_overconfident_attacks_have_a_large_calibration_error(bank):
    class Overconfident(GroupLinkage):
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

    ((confidence, correct),) = correct_answers([Overconfident()], NOISY, CandidateFile(records=bank), 3).values()
    assert calibration_error(confidence, correct) > 0.12
