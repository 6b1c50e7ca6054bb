"""Records and games that many test files share."""

import contextlib
import gc
import importlib
import inspect
import os
import signal
import sys
from collections import Counter

if "PYTEST_XDIST_WORKER" in os.environ:
    # One thread for each process on a core; numpy reads this when it is first imported.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import pytest
from forked_process import at_start, shared_server, use_shared_server
from hypothesis import HealthCheck, settings
from query_tools import read_tables_once
from run_tools import environment

# The garbage collector would spend a third of the collection of tests on objects that stay until the end.
gc.disable()

# Every run tries the same examples, however long they take; `--hypothesis-profile default` tries others.
settings.register_profile(
    "same", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same")


def dataset(name):
    """A built-in data set; the process that only hands out tests need not load the packages."""
    from scenarios import load

    return load(name)


def columns_of_adult(names):
    """Records of UCI Adult with these columns."""
    from scenarios.tables.dataset import with_columns

    return with_columns(dataset("adult"), names).records


@pytest.fixture(scope="module")
def bank():
    """All records of UCI Bank Marketing."""
    return dataset("bank").records


@pytest.fixture(scope="module")
def adult():
    """All records of UCI Adult."""
    return dataset("adult").records


@pytest.fixture(scope="module")
def adult_register():
    """Seven quasi-identifiers of UCI Adult, as a public register has them, and the salary class."""
    names = ["age", "education", "marital-status", "occupation", "race", "sex", "native-country", "salary-class"]
    return columns_of_adult(names)


@pytest.fixture(scope="module")
def ratings():
    """All ratings of the generated data set."""
    return dataset("ratings").records


@pytest.fixture(scope="module")
def adult_attributes():
    """Seven quasi-identifiers of UCI Adult and the salary class."""
    names = ["age", "workclass", "education", "marital-status", "race", "sex", "hours-per-week", "salary-class"]
    return columns_of_adult(names)


@pytest.fixture(scope="module")
def membership_game(adult):
    """The membership game on Adult."""
    from scenarios import Membership

    return Membership(records=adult, members=120, auxiliary=400, held_out=0)


@pytest.fixture(scope="module")
def report_game(adult):
    """The report game on Adult."""
    from scenarios import Reports

    return Reports(records=adult, column="education")


@pytest.fixture(scope="module")
def pools():
    """The pool game on invented emoji."""
    from scenarios import Pool
    from scenarios.studies.emoji_measures import emoji

    return Pool(records=emoji(800, 40, np.random.default_rng(0)), column="emoji", persons=200, reports=32)


@pytest.fixture(scope="module")
def bits(bank):
    """Sixty customers of the bank; who has a housing loan is secret."""
    from scenarios import SecretBits

    return SecretBits(records=bank, column="housing", category="yes", persons=60)


@pytest.fixture
def hears_interrupts():
    """Ctrl-C raises KeyboardInterrupt, whatever else heard it before."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def tables_are_read_once(monkeypatch):
    """Queries remember which records they select, for tests that ask one table thousands of times."""
    read_tables_once(monkeypatch)


@pytest.fixture
def declarations_are_believed(monkeypatch):
    """Audits do not test first, on 200 releases, whether records are randomized independently, as a defense says."""
    for module in ("tables", "canaries"):
        monkeypatch.setattr(f"scenarios.checks.audits.{module}.check_declaration", lambda defense: None)


def fork_environment():
    """What a server of forks reads when it starts for a process of `-n`; None where the system cannot fork so."""
    if not hasattr(os, "pidfd_open"):
        return None
    return frozenset(at_start(environment(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")).items())


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tell each process of `-n` of the server of forks for all."""
    if variables := fork_environment():
        node.workerinput["fork_server"] = shared_server(variables)


def pytest_configure(config):
    """Use the server of forks that is there for all processes."""
    if path := getattr(config, "workerinput", {}).get("fork_server"):
        use_shared_server(path, fork_environment())


def pytest_xdist_auto_num_workers():
    """One process more than cores for `-n auto`, since many tests wait for processes that they started."""
    return (os.cpu_count() or 1) + 1


def asked_ring(config):
    """The ring that is asked for, "inner" or "thorough", if all of its tests and no others are; else None."""
    if config.args_source is not config.ArgsSource.TESTPATHS:
        return None
    return {"not long and not thorough": "inner", "thorough and not long": "thorough"}.get(config.option.markexpr)


def without_asked_ring(path, config):
    """Whether a test file has no test of the outer ring, if all of that ring and no other is asked for."""
    if asked_ring(config) != "thorough":
        return False
    return path.name.startswith("test_") and "thorough" not in path.read_text(encoding="utf-8")


def pytest_ignore_collect(collection_path, config):
    """Import only test files of the ring: importing all takes every process of `-n` many seconds."""
    return without_asked_ring(collection_path, config) or None


def may_be_thorough(mark):
    """Whether a mark can put a test, or some of its parameters, into the outer ring."""
    if mark.name != "parametrize":
        return mark.name.startswith("thorough")
    values = [*mark.args, *mark.kwargs.values()][1]
    return not isinstance(values, list | tuple) or any(getattr(value, "marks", ()) for value in values)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, obj):
    """Make no tests of a function of the other ring: each process of `-n` would make thousands and deselect them."""
    ring = asked_ring(collector.config)
    if ring is None or not inspect.isfunction(obj):
        return None
    marks = [*collector.iter_markers(), *getattr(obj, "pytestmark", [])]
    if ring == "inner":
        other = any(mark.name in {"thorough", "long"} for mark in marks)
    else:
        other = not any(map(may_be_thorough, marks))
    return [] if other else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Import all test modules, in each process of `-n` from another one on, so that each is compiled once.

    In a fresh clone, every process would compile every module: all meet them in the same order. An error is left to
    the collection, which imports the module again.
    """
    config = session.config
    if not hasattr(config, "workerinput") or config.args_source is not config.ArgsSource.TESTPATHS:
        return
    process = int(config.workerinput["workerid"].removeprefix("gw"))
    directories = [config.rootpath / name for name in config.getini("testpaths")]
    modules = sorted(path for directory in directories for path in directory.rglob("test_*.py"))
    first = len(modules) * process // config.workerinput["workercount"]
    for path in modules[first:] + modules[:first]:
        if without_asked_ring(path, config):
            continue
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(path.stem)


RING_BEYOND = {"thorough_beyond": "thorough", "long_beyond": "long"}
"""Rings of parameters after the first ones, by the mark that counts them."""


def pytest_collection_modifyitems(config, items):
    """Mark parameters that are long or of the outer ring, and begin with tests that wait for processes.

    The first process of `-n auto` waits for those while the others compute. Benchmarks that nobody asked for are not
    selected.
    """
    if config._benchmarksession.skip:
        benchmarks = [item for item in items if "benchmark" in item.fixturenames]
        config.hook.pytest_deselected(items=benchmarks)
        items[:] = [item for item in items if "benchmark" not in item.fixturenames]
    unknown = {}
    cases = Counter()
    for item in items:
        for marker in item.iter_markers("long_for"):
            left = unknown.setdefault((item.location[0], item.originalname), set(marker.args))
            if item.callspec.id in marker.args:
                item.add_marker("long")
                left.discard(item.callspec.id)
        for name, ring in RING_BEYOND.items():
            for marker in item.iter_markers(name):
                function = item.nodeid.partition("[")[0]
                cases[name, function] += 1
                if cases[name, function] > marker.args[0] and "[" not in "".join(config.args):
                    item.add_marker(ring)
    # A parameter that is asked for by its name comes without the others.
    if not any("[" in argument for argument in config.args):
        for (path, name), left in unknown.items():
            if left:
                raise pytest.UsageError(f"{path}: {name} is long for parameters that it does not have: {sorted(left)}")
    items.sort(key=lambda item: item.get_closest_marker("waits") is None)


def pytest_collection_finish():
    """Exempt modules and collected tests from garbage collection, which then visits only what tests make."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish():
    """Let the last garbage collection visit what commands froze; DuckDB complains of objects that it skips."""
    gc.unfreeze()
