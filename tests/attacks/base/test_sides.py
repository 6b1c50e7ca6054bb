"""Attacks on one release share its coded columns; no attack can change what another one sees."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from attacks import (
    AssignmentLinkage,
    ExpectationMaximizationLinkage,
    FellegiSunter,
    GroupLinkage,
    Knowledge,
    LikelihoodAssignment,
    NearestNeighbour,
)
from attacks.base import sides
from attacks.base.sides import CODINGS_KEPT, derived_table, gower_distance, shared_columns, shared_table
from defenses import Channel, Microdata, MicrodataRelease
from metrics import CategoricalDomain, NumericDomain
from scenarios.tables.seeds import generator

DOMAINS = {"age": NumericDomain(0, 100, integer=True, cuts=(30, 50)), "job": CategoricalDomain(("a", "b", "c"))}
ATTACKS = [
    NearestNeighbour(),
    AssignmentLinkage(),
    LikelihoodAssignment(),
    ExpectationMaximizationLinkage(),
    FellegiSunter(),
    GroupLinkage(),
]


def people(seed, count):
    rng = generator(seed, "people")
    return pd.DataFrame({"age": rng.integers(0, 100, count), "job": rng.choice(["a", "b", "c"], count)})


@pytest.fixture
def candidates():
    return people(0, 30)


@pytest.fixture
def published(candidates):
    rows = candidates.iloc[:20].reset_index(drop=True)
    return MicrodataRelease(rows, np.arange(20), Channel())


def knowledge_of(candidates, domains=None):
    """The knowledge of one attack: a copy of its own."""
    return Knowledge(candidates.copy(), Microdata(candidates.iloc[:0], domains=domains or DOMAINS))


@pytest.fixture
def readings(monkeypatch):
    """List of the names of released columns in the order in which they are read."""
    names = []

    def counted(column, domain):
        names.append(column.name)
        return read(column, domain)

    read = sides.read_cells
    monkeypatch.setattr(sides, "read_cells", counted)
    return names


def view(published):
    return published.view(generator(1))


def test_attacks_on_one_release_read_it_once(published, candidates, readings):
    first = shared_columns(view(published), knowledge_of(candidates))
    second = shared_columns(view(published), knowledge_of(candidates))
    assert all(one is other for one, other in zip(first, second, strict=True))
    assert readings == ["age", "job"]
    for attack in ATTACKS:
        attack.run(view(published), knowledge_of(candidates), generator(2))
    assert readings == ["age", "job"]


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("attack", ATTACKS, ids=repr)
def test_claims_do_not_depend_on_attacks_run_before(attack, published, candidates):
    alone = attack.run(view(replace(published)), knowledge_of(candidates), generator(2))
    for other in ATTACKS:
        other.run(view(published), knowledge_of(candidates), generator(3))
    after = attack.run(view(published), knowledge_of(candidates), generator(2))
    for name in ("target", "answer", "score"):
        assert np.array_equal(getattr(alone, name), getattr(after, name))
    assert np.array_equal(alone.members().scores, after.members().scores)


def test_other_candidates_need_no_second_reading(published, candidates, readings):
    shared_columns(view(published), knowledge_of(candidates))
    columns = shared_columns(view(published), knowledge_of(people(5, 10)))
    assert readings == ["age", "job"]
    assert columns[0].codes.size == 10
    assert np.array_equal(
        gower_distance(columns), gower_distance(shared_columns(replace(published), knowledge_of(people(5, 10))))
    )


def test_a_changed_release_is_coded_anew(published, candidates):
    before = gower_distance(shared_columns(view(published), knowledge_of(candidates)))
    changed = view(published)
    changed.frame.loc[0, "age"] = 99
    expected = gower_distance(
        shared_columns(MicrodataRelease(changed.frame.copy(), changed.origin), knowledge_of(candidates))
    )
    assert not np.array_equal(before, expected)
    assert np.array_equal(gower_distance(shared_columns(changed, knowledge_of(candidates))), expected)
    # Another attack still sees what was published, also after the change was coded.
    assert np.array_equal(gower_distance(shared_columns(view(published), knowledge_of(candidates))), before)


def test_a_view_that_is_changed_after_it_was_coded_is_coded_anew(published, candidates):
    release_view = view(published)
    before = gower_distance(shared_columns(release_view, knowledge_of(candidates)))
    release_view.frame["job"] = "c"
    assert not np.array_equal(gower_distance(shared_columns(release_view, knowledge_of(candidates))), before)
    assert np.array_equal(gower_distance(shared_columns(view(published), knowledge_of(candidates))), before)


def test_changed_candidates_are_coded_anew(published, candidates):
    before = gower_distance(shared_columns(view(published), knowledge_of(candidates)))
    knowledge = knowledge_of(candidates)
    shared_columns(view(published), knowledge)
    knowledge.candidates.loc[0, "age"] = 0 if candidates.loc[0, "age"] else 1
    assert not np.array_equal(gower_distance(shared_columns(view(published), knowledge)), before)
    assert np.array_equal(gower_distance(shared_columns(view(published), knowledge_of(candidates))), before)


def test_other_domains_are_coded_anew(published, candidates, readings):
    shared_columns(view(published), knowledge_of(candidates))
    wider = DOMAINS | {"age": NumericDomain(0, 200, integer=True)}
    assert shared_columns(view(published), knowledge_of(candidates, wider))[0].cells.domain == wider["age"]
    assert readings == ["age", "job", "age"]


def test_tables_computed_under_one_channel_are_not_used_under_another(published, candidates):
    knowledge = knowledge_of(candidates)
    assert shared_table(view(published), knowledge, "table", lambda: np.zeros(1)) == 0
    assert shared_table(view(published), knowledge, "table", lambda: np.ones(1)) == 0
    assert shared_table(view(published.without_channel()), knowledge, "table", lambda: np.ones(1)) == 1


def test_what_follows_from_a_shared_table_is_computed_once(published, candidates):
    """A table of the caller's own gives a fresh result, even if a shared one is equal to it."""
    known = knowledge_of(candidates)
    source = shared_table(published, known, "one", lambda: np.ones((2, 2)))
    double = derived_table(published, known, source, "double", lambda: 2 * source)
    assert derived_table(published, known, source, "double", lambda: 3 * source) is double
    assert derived_table(published, known, source, "triple", lambda: 3 * source).sum() == 12
    assert derived_table(published, known, source.copy(), "double", lambda: 3 * source).sum() == 12
    assert not double.flags.writeable


def test_shared_arrays_are_read_only(published, candidates):
    columns = shared_columns(view(published), knowledge_of(candidates))
    table = shared_table(view(published), knowledge_of(candidates), "table", lambda: np.zeros(3))
    arrays = [table]
    for column in columns:
        arrays += [column.values, column.codes, column.contains(), column.distance()]
        arrays += [array for array in vars(column.cells).values() if isinstance(array, np.ndarray)]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_list_of_columns_is_the_callers_own(published, candidates):
    shared_columns(view(published), knowledge_of(candidates)).clear()
    assert len(shared_columns(view(published), knowledge_of(candidates))) == 2


@pytest.mark.parametrize(
    "other",
    [
        lambda release: release.take(np.arange(20)),
        lambda release: replace(release, frame=release.frame),
        lambda release: release.shuffled(generator(0)),
        lambda release: pickle.loads(pickle.dumps(release)),
        copy.deepcopy,
    ],
    ids=["take", "replace", "shuffled", "pickle", "deepcopy"],
)
def test_other_releases_start_empty(other, published, candidates):
    shared_columns(view(published), knowledge_of(candidates))
    assert view(published).shared.entries
    assert not other(published).shared.entries
    assert not other(view(published)).shared.entries


def test_a_release_without_channel_shares_with_its_own_views(published, candidates, readings):
    for _ in range(2):
        shared_columns(view(published.without_channel()), knowledge_of(candidates))
    assert readings == ["age", "job"]


def test_a_release_keeps_few_codings(published):
    for seed in range(10):
        shared_columns(view(published), knowledge_of(people(seed, 5)))
    assert len(published.shared.entries) == CODINGS_KEPT


def test_large_tables_are_not_kept(published, candidates, monkeypatch):
    monkeypatch.setattr(sides, "LARGEST_KEPT", 2)
    knowledge = knowledge_of(candidates)
    assert (shared_table(view(published), knowledge, "table", lambda: np.zeros(3)) == 0).all()
    assert (shared_table(view(published), knowledge, "table", lambda: np.ones(3)) == 1).all()


def test_shared_results_are_neither_shown_nor_replaced(published, candidates):
    shared_columns(view(published), knowledge_of(candidates))
    assert "shared" not in repr(published)
    with pytest.raises(ValueError, match="shared"):
        replace(published, shared=published.shared)
