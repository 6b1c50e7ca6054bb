"""A Python session hashes files anew in each run, and plays no code that differs from its file."""

import importlib
import os
import sys

import pytest

import tokumei
from scenarios.running.methods.fingerprint import look_again, sources

SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
columns = ["age", "balance", "y"]
game = { use = "CandidateFile", originals = 10, candidates = 20, held_out = 0 }
plays = 1

[[defense]]
use = "Identity"

[[attack]]
use = "NearestNeighbour"
"""
OWN = """
import session_helper
from attacks import NearestNeighbour

SIGN = 1


class Own(NearestNeighbour):
    def run(self, release, knowledge, rng):
        claims = super().run(release, knowledge, rng)
        if SIGN * session_helper.SHIFT < 0:
            raise RuntimeError("the sign is negative")
        return claims
"""


class Session:
    """A folder with a user's module, imported in this process."""

    def __init__(self, folder):
        self.folder, self.time = folder, 1_700_000_000
        (folder / "small.toml").write_text(SCENARIO)

    def write(self, name, text):
        """Write a module at another second, as an editor does; compiled files know seconds only."""
        path = self.folder / f"{name}.py"
        path.write_text(text)
        self.time += 10
        os.utime(path, (self.time, self.time))

    def run(self, db=":memory:", own=None):
        """What the own attack ended with."""
        own = own or sys.modules["session_own"].Own()
        place = db if db == ":memory:" else self.folder / db
        board = tokumei.run(str(self.folder / "small.toml"), attacks=[own], db=place, jobs=1)
        return {result.status for result in board.results if result.attack}


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    session = Session(tmp_path)
    session.write("session_own", OWN)
    session.write("session_helper", "SHIFT = 1\n")
    importlib.invalidate_caches()
    importlib.import_module("session_own")
    yield session
    for name in ("session_own", "session_helper"):
        sys.modules.pop(name, None)


@pytest.mark.thorough
def test_a_reloaded_module_is_played_anew_and_stored_under_its_own_key(session):
    own = sys.modules["session_own"]
    assert session.run("one.db") == {"ok"}
    session.write("session_own", OWN.replace("SIGN = 1", "SIGN = -1"))
    importlib.reload(own)
    assert session.run("one.db") == {"error"}
    assert session.run("two.db") == {"error"}
    session.write("session_own", OWN)
    importlib.reload(own)
    assert session.run("two.db") == {"ok"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "text"), [("session_own", OWN.replace("SIGN = 1", "SIGN = -1")), ("session_helper", "SHIFT = -1\n")]
)
@pytest.mark.parametrize("played", [True, False])
def test_a_file_that_changed_after_it_was_loaded_is_refused(session, name, text, played):
    if played:
        session.run()
    session.write(name, text)
    words = rf"{name}\.py changed after {name} was loaded.*; call importlib\.reload\({name}\)"
    for _ in range(2):
        with pytest.raises(ValueError, match=words):
            session.run()
    importlib.reload(sys.modules[name])
    importlib.reload(sys.modules["session_own"])
    assert session.run() == {"error"}


@pytest.mark.thorough
def test_new_words_and_a_new_time_are_no_change(session):
    session.run()
    session.write(
        "session_own", OWN.replace("import session_helper", '"""Words."""\n# More words.\nimport session_helper')
    )
    assert session.run() == {"ok"}


def test_an_object_from_before_a_reload_is_refused(session):
    own = sys.modules["session_own"].Own()
    importlib.reload(sys.modules["session_own"])
    with pytest.raises(ValueError, match=r"session_own\.Own was loaded anew after this object was made"):
        session.run(own=own)


@pytest.mark.thorough
def test_changed_code_of_the_project_asks_for_a_new_start(session, monkeypatch):
    session.run()
    from scenarios.running.methods import module_changes

    name = "attacks.linkage.nearest_neighbour"
    spec, _ = module_changes._first_seen[name]
    monkeypatch.setitem(module_changes._first_seen, name, (spec, "other code"))
    with pytest.raises(ValueError, match=rf"nearest_neighbour\.py changed after {name} was loaded; start Python anew"):
        session.run()


def test_files_are_hashed_again_where_a_run_looks_again(session):
    own = sys.modules["session_own"].Own()
    before = sources(own)
    session.write("session_helper", "SHIFT = 2\n")
    assert sources(own) == before
    look_again()
    changed = {name for name, code in sources(own).items() if before[name] != code}
    assert changed == {"session_helper"}


def test_a_class_of_the_main_module_is_refused_by_name_too(session, monkeypatch):
    own = sys.modules["session_own"].Own
    monkeypatch.setattr(own, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "Own", own, raising=False)
    with pytest.raises(ValueError, match="Own: worker processes cannot import it; write the class at the top"):
        session.run(own="__main__:Own")
