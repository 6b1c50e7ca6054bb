"""Shadow syntheses: who is in which table, shared with reference tables, and when there are none."""

from dataclasses import replace

import numpy as np
from playing_tools import secret_of

from attacks.membership.reference_tables import reference_tables, shadow_syntheses
from defenses import Identity, MicrodataRelease, Mondrian


def attacked(game, defense):
    secret = secret_of(game, np.random.default_rng(0))
    return defense.apply(secret.records, np.random.default_rng(0)), game.knowledge(secret, defense)


def test_members_are_the_people_in_the_table(membership_game):
    release, knowledge = attacked(membership_game, Identity())
    people = knowledge.auxiliary.frame
    for shadow in shadow_syntheses(release, knowledge, 2):
        assert (shadow.members.size, shadow.others.size, shadow.member.sum()) == (120, 280, 120)
        members = people.iloc[shadow.members].sort_values("fnlwgt")["fnlwgt"].tolist()
        assert shadow.table.frame.sort_values("fnlwgt")["fnlwgt"].tolist() == members
        assert shadow.member[shadow.members].all()
        assert not shadow.member[shadow.others].any()


def test_tables_are_those_of_reference_tables(membership_game):
    release, knowledge = attacked(membership_game, Identity())
    tables = list(reference_tables(release, knowledge, 2, np.random.default_rng(0)))
    shadows = list(shadow_syntheses(release, knowledge, 2))
    assert [shadow.table for shadow in shadows] == tables


def test_no_shadows_without_mechanism_people_rows_or_consent_of_the_defense(membership_game):
    release, knowledge = attacked(membership_game, Identity())
    assert not list(shadow_syntheses(release, replace(knowledge, simulate=None), 2))
    assert not list(shadow_syntheses(release, replace(knowledge, auxiliary=knowledge.auxiliary.take([0])), 2))
    assert not list(shadow_syntheses(MicrodataRelease(release.frame.iloc[:0], np.empty(0, int)), knowledge, 2))
    release, knowledge = attacked(membership_game, Mondrian(k=100))
    few = replace(knowledge, auxiliary=knowledge.auxiliary.take(range(20)))
    assert not list(shadow_syntheses(release, few, 2))


def test_few_people_are_halved(membership_game):
    release, knowledge = attacked(membership_game, Identity())
    few = replace(knowledge, auxiliary=knowledge.auxiliary.take(range(31)))
    shadows = list(shadow_syntheses(release, few, 3))
    assert [(shadow.members.size, shadow.others.size) for shadow in shadows] == [(15, 16)] * 3
