"""One setting has the words of the newest run, and settings that only share words stay apart."""

import hashlib
from itertools import count

import pytest

from leaderboard import Result, Store
from leaderboard.results.result import canonical
from leaderboard.results.wording import reword

KEYS = count()


def played(written, base, *, power=1, code="old", attack_written=None):
    """A trial of a defense with a base, and the document of its parts, in which defaults are; each key is another."""
    parts = {
        "defense": {"name": "own:X", "parameters": {"base": base}, "source": code},
        "attack": {"name": "Gower", "parameters": {"power": power}, "source": "same"},
    }
    text = canonical(parts)
    name = hashlib.sha256(text.encode()).hexdigest()
    key = hashlib.sha256(f"{name} {next(KEYS)}".encode()).hexdigest()
    common = {"scenario": "bank", "defense": "own:X", "attack": "Gower", "play": 0}
    one = Result(key=key, parts=name, parameters=written, attack_parameters=attack_written or {}, **common)
    return one, {name: text}


def add(store, *trials):
    for one, documents in trials:
        store.add([one], documents)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "a.db") as opened:
        yield opened


def words(store):
    return [(row.parameters, row.attack_parameters) for row in store.results(keys={*store.statuses("bank")})]


def run(store, *trials):
    documents = {name: text for _, own in trials for name, text in own.items()}
    reword(store, "bank", [one for one, _ in trials], documents)


def test_a_default_written_out_is_the_setting_of_a_run_that_leaves_it_out(store):
    add(store, played({"base": 10}, 10), played({"base": 10}, 10, power=2, attack_written={"power": 2}))
    add(store, played({"base": 10}, 10, attack_written={"power": 1}), played({"base": 7}, 7))
    run(store, played({}, 10))
    assert words(store) == [({}, {}), ({}, {"power": 2}), ({}, {}), ({"base": 7}, {})]
    run(store, played({"base": 10}, 10, attack_written={"power": 1}))
    # The setting of base 7 met the same attack.
    assert words(store) == [
        ({"base": 10}, {"power": 1}),
        ({"base": 10}, {"power": 2}),
        ({"base": 10}, {"power": 1}),
        ({"base": 7}, {"power": 1}),
    ]


def test_settings_of_a_default_that_changed_stay_apart(store):
    """After base was 20 by default for a while, both settings have results in the words of the other one."""
    first = (played({}, 10), played({"base": 20}, 20))
    add(store, *first, played({}, 20, code="new"), played({"base": 20}, 20, code="new"))
    before = words(store)
    run(store, *first)
    assert words(store) == before


def test_results_without_a_document_and_other_scenarios_keep_their_words(store):
    one, documents = played({"base": 10}, 10)
    store.add([one])
    elsewhere = Result(**{**vars(one), "key": "e" * 64, "scenario": "elsewhere"})
    store.add([elsewhere])
    run(store, (Result(**{**vars(one), "parameters": {}}), documents))
    assert [row.parameters for row in store.results()] == [{"base": 10}, {"base": 10}]


def test_a_damaged_document_is_named(store):
    one, documents = played({"base": 10}, 10)
    store.add([one], dict.fromkeys(documents, "[1"))
    with pytest.raises(ValueError, match=r"the stored document \w{8} is damaged"):
        run(store, played({}, 10))
