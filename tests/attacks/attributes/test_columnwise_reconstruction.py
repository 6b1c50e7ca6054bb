"""Reconstruction column by column: draws of tied values, columns without an answer, refusals."""

import numpy as np
import pandas as pd
import pytest
from illness_tools import TWELVE, people
from numpy.testing import assert_allclose

from attacks import (
    ClassifierInference,
    ColumnwiseReconstruction,
    DistanceToClosestRecord,
    Homogeneity,
    Knowledge,
    MajorityInClass,
    NotApplicable,
)
from attacks.attributes.columnwise_reconstruction import drawn_claims
from defenses import Microdata, MicrodataRelease
from metrics import CategoricalDomain
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
