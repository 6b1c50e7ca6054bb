"""The search for vulnerable records, and releases with and without each of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored, secret_of

from attacks import Knowledge, NotApplicable, QueryMembership, VulnerableRecordMembership
from attacks.membership.vulnerable_record_membership import most_isolated, repeated
from defenses import ClassificationTrees, Identity, Microdata, MicrodataRelease
from metrics import NumericDomain

SMALL = {"records": 10, "tables": 6, "queries": 60, "rounds": 3}


def test_the_most_isolated_records_come_first():
    ages = pd.DataFrame({"age": [*[50] * 9, 20, 90, 51]})
    knowledge = Knowledge(ages, Microdata(ages, domains={"age": NumericDomain(0, 100)}))
    assert most_isolated(knowledge, ["age"], 2).tolist() == [10, 9]
    assert most_isolated(knowledge, ["age"], 100).size == 12


def copied(people, targets, count):
    """Tables of a defense that copies."""
    knowledge = Knowledge(targets, people, simulate=Identity().apply)
    release = MicrodataRelease(people.frame.iloc[:10], np.full(10, -1))
    return repeated(release, knowledge, targets, count, np.random.default_rng(0))


def test_each_target_is_in_half_of_the_tables():
    people = Microdata(pd.DataFrame({"number": np.arange(40)}), domains={"number": NumericDomain(0, 999)})
    targets = pd.DataFrame({"number": [500, 600, 700]})
    tables, member = copied(people, targets, 8)
    assert member.sum(axis=0).tolist() == [4, 4, 4]
    for table, inside in zip(tables, member, strict=True):
        assert len(table.frame) == 10
        assert targets["number"].isin(table.frame["number"]).tolist() == inside.tolist()


def test_it_needs_the_mechanism_and_not_all_columns(membership_game):
    secret = secret_of(membership_game, np.random.default_rng(0))
    knowledge = membership_game.knowledge(secret, Identity())
    release = Identity().apply(secret.records, np.random.default_rng(0))
    attack = VulnerableRecordMembership(**SMALL)
    with pytest.raises(NotApplicable, match="cannot repeat the defense"):
        attack.run(release, replace(knowledge, simulate=None), np.random.default_rng(0))
    lacking = replace(knowledge, candidates=knowledge.candidates.drop(columns="age"))
    assert np.isfinite(attack.run(release, lacking, np.random.default_rng(0)).scores).all()


@pytest.mark.long
def test_it_finds_as_many_members_as_queries_and_more_of_the_vulnerable(membership_game):
    """Trees with five records a leaf: areas .755 and .747 in three plays; a difference below -.03 is 1 in 40."""
    defense = ClassificationTrees(leaf_size=5)
    ours, baseline = (
        np.mean(
            [
                scored(defense, attack, membership_game, np.random.default_rng(seed)).measures["membership_auc"]
                for seed in range(3)
            ]
        )
        for attack in (VulnerableRecordMembership(), QueryMembership())
    )
    assert ours > baseline - 0.03


@pytest.mark.parametrize(("name", "value"), [("records", 0), ("tables", 3), ("queries", 0), ("rounds", 1)])
def test_bad_parameters_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        VulnerableRecordMembership(**{name: value})
