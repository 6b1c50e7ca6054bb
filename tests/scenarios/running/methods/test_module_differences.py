"""What of a loaded module differs from its file is named; words and what other code made of it are no difference."""

import importlib
import sys

import pytest

from scenarios.running.methods.module_changes import difference

SOURCE = '''"""A module."""
import contextlib
import functools

LIMIT = 3
WEIGHTS = (1, 2.0)
FILLED = {}
total = 0
total += 1
later: int


def add(value, by=1, *, times=2):
    """Add."""
    global count
    count = 1
    return value + by * times


@functools.cache
def cached(value):
    return value + 1


@contextlib.contextmanager
def held(value, by=1):
    yield value + by


class Method:
    """A class."""

    goal = "rows"

    def run(self):
        """Run."""
        return [one for one in range(3)]

    @property
    def size(self):
        return 4

    @staticmethod
    def helper():
        return 5


count = 0
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "loaded_once.py").write_text(SOURCE)
    importlib.invalidate_caches()
    yield importlib.import_module("loaded_once")
    del sys.modules["loaded_once"]


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("LIMIT = 3", "LIMIT = 4", "LIMIT"),
        ("LIMIT = 3", "LIMIT = 3.0", "LIMIT"),
        ("(1, 2.0)", "(1, 2.5)", "WEIGHTS"),
        ("by=1", "by=2", "add"),
        ("times=2", "times=3", "add"),
        ("value + by", "value - by", "add"),
        ("return value + 1", "return value + 2", "cached"),
        ('"rows"', '"members"', "Method.goal"),
        ("range(3)", "range(4)", "Method.run"),
        ("return 4", "return 40", "Method.size"),
        ("return 5", "return 50", "Method.helper"),
        ("    def run", "    def choose(self):\n        return 1\n\n    def run", "Method.choose"),
        ("def run", "def ran", "Method.run"),
        ("count = 0", "count = 0\nNEW = 1", "NEW"),
    ],
)
def test_what_changed_in_the_file_is_named(module, tmp_path, old, new, name):
    (tmp_path / "loaded_once.py").write_text(SOURCE.replace(old, new))
    assert difference(module) == name


def test_words_and_lines_are_no_difference(module, tmp_path):
    module.add(1)
    module.FILLED["one"] = 1
    assert difference(module) is None
    text = SOURCE.replace('"""Add."""', '"""Add, and add."""').replace("LIMIT = 3", "# More.\n\nLIMIT = 3  # three")
    (tmp_path / "loaded_once.py").write_text(text)
    assert difference(module) is None


def test_what_a_session_changed_in_a_module_is_a_difference(module):
    module.Method.run = lambda self: []
    module.LIMIT = 5
    assert difference(module) == "LIMIT"


@pytest.mark.thorough
def test_shipped_modules_are_as_their_files():
    names = [name for name in sys.modules if name.startswith(("metrics.", "defenses.base."))]
    assert len(names) > 10
    assert {name: found for name in names if (found := difference(sys.modules[name])) is not None} == {}
