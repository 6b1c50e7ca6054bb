"""Names of settings: the whole name comes first, and numbers count by value."""

import hashlib
import re
from itertools import count

import pytest

from leaderboard import Result, Store
from leaderboard.results.result import canonical
from leaderboard.results.setting_names import reword, setting_named

BOTH = [("NearestNeighbour", {}), ("h_nn:NearestNeighbour", {})]


@pytest.mark.parametrize(
    ("text", "settings", "found"),
    [
        ("NearestNeighbour", BOTH, ("NearestNeighbour", "{}")),
        ("h_nn:NearestNeighbour", BOTH, ("h_nn:NearestNeighbour", "{}")),
        ("X  k=5", [("X", {"k": 5}), ("m:X", {"k": 5})], ("X", '{"k":5}')),
        ("X width=0.30", [("X", {"width": 0.3}), ("X", {"width": 0.5})], ("X", '{"width":0.3}')),
        ("X width=.3", [("m:X", {"width": 0.3}), ("X", {"width": 0.5})], ("m:X", '{"width":0.3}')),
        ("X k=1.0", [("X", {"k": 1}), ("X", {"k": 2})], ("X", '{"k":1}')),
        ("X e=1e-6", [("X", {"e": 1e-06}), ("X", {"e": 1e-05})], ("X", '{"e":1e-06}')),
        # Seeds that differ behind the sixth digit are two settings.
        ("X seed=1234567", [("X", {"seed": 1234567}), ("X", {"seed": 1234568})], ("X", '{"seed":1234567}')),
    ],
)
def test_a_name_means_the_setting_that_it_is_nearest_to(text, settings, found):
    assert setting_named(text, settings, "defense") == found


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("X", [("m:X", {}), ("n:X", {})], "'X' names several attacks; name one of m:X, n:X"),
        ("X", [("X", {"k": 2}), ("X", {"k": 3}), ("m:X", {})], "'X' names several attacks; name one of X k=2, X k=3"),
        ("X width=0.31", [("X", {"width": 0.3})], "there is no attack 'X width=0.31'; did you mean 'X width=0.3'?"),
        ("Xk2", [("Xk02", {})], "there is no attack 'Xk2'"),
        ("mondrian", [("Mondrian", {"k": 2}), ("Mondrian", {"k": 5})], "'mondrian'; did you mean 'Mondrian'?"),
        ("", [(f"X{number}", {}) for number in range(9)], "''; there are X0, X1, X2, X3, X4 and 4 more"),
    ],
)
def test_what_names_several_or_none_is_refused(text, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        setting_named(text, settings, "attack")


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
