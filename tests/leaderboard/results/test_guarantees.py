"""Guarantees stored beside results."""

from dataclasses import replace

import pytest

from leaderboard import Result, Store, stored_guarantees
from leaderboard.results.guarantees import guarantee_document, guarantee_name

ROLES = {"quasi_identifiers": ["age"], "left_out": ["note"]}
RELEASE = Result(
    key="1" * 64, parts="a" * 64, scenario="mine", defense="Mondrian", parameters={"k": 5}, guarantee="k=5", play=0
)


def store_with(tmp_path, *guaranteed):
    store = Store(tmp_path / "results.db")
    documents = {guarantee_name(parts): guarantee_document(text, ["age"], ROLES) for parts, text in guaranteed}
    store.add([RELEASE], documents)
    return store


def test_guarantees_come_back_with_the_roles_of_columns(tmp_path):
    with store_with(tmp_path, (RELEASE.parts, "5-anonymity over age")) as store:
        [guarantee] = stored_guarantees(store, store.results())
    assert (guarantee.statement, guarantee.guarantee, guarantee.released) == ("5-anonymity over age", "k=5", ("age",))
    assert guarantee.roles["left_out"] == ("note",)
    assert guarantee.roles["sensitive"] == ()


def test_the_newest_release_counts(tmp_path):
    newer = replace(RELEASE, key="2" * 64, parts="b" * 64, play=1)
    with store_with(tmp_path, (RELEASE.parts, "before"), (newer.parts, "after")) as store:
        store.add([newer])
        assert [guarantee.statement for guarantee in stored_guarantees(store, store.results())] == ["after"]


def test_results_without_a_stored_guarantee_have_none(tmp_path):
    with store_with(tmp_path, ("c" * 64, "of another release")) as store:
        trial = replace(RELEASE, key="3" * 64, attack="Greedy", parts="c" * 64)
        assert stored_guarantees(store, [*store.results(), trial]) == []


def test_a_damaged_guarantee_is_named(tmp_path):
    with Store(tmp_path / "results.db") as store:
        store.add([RELEASE], {guarantee_name(RELEASE.parts): "[1]"})
        with pytest.raises(ValueError, match="guarantee of Mondrian is damaged"):
            stored_guarantees(store, store.results())


def test_only_named_documents_are_read(tmp_path):
    with Store(tmp_path / "results.db") as store:
        store.add([], {f"{index:064}": str(index) for index in range(1200)})
        assert store.documents([f"{index:064}" for index in range(5, 1205)]) == {
            f"{index:064}": str(index) for index in range(5, 1200)
        }
        assert store.documents([]) == {}
        assert len(store.documents()) == 1200
