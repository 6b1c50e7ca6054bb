"""`tokumei check` compares the output of a method with that of processes that hash texts differently."""

import pytest
from run_tools import invoke

from scenarios.checks.conformance.suite import HASH_SEEDS

CODE = """
import os
from dataclasses import replace

from attacks import NearestNeighbour
from defenses import MicrodataDefense, released_frame, rowwise_release


class Ordered(MicrodataDefense):
    def categories(self, column):
        return sorted(set(column.dropna()))

    def apply(self, records, rng):
        frame = released_frame(records)
        known = self.categories(frame["city"])
        frame["city"] = frame["city"].map(dict(zip(known, rng.permutation(known))))
        return rowwise_release(frame, channel=None)


class AsHashed(Ordered):
    def categories(self, column):
        return list(set(column.dropna()))


class HereOnly(Ordered):
    def apply(self, records, rng):
        if os.environ.get("PYTHONHASHSEED") == "2":
            raise RuntimeError("not in this process")
        return super().apply(records, rng)


class ByProcess(NearestNeighbour):
    def run(self, release, knowledge, rng):
        claims = super().run(release, knowledge, rng)
        return replace(claims, score=claims.score + os.getpid())
"""


@pytest.fixture(autouse=True)
def methods(tmp_path, monkeypatch):
    (tmp_path / "process_methods.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("name", "seeds", "said"),
    [
        ("AsHashed", HASH_SEEDS, "two processes with one seed differ in column 'city'; draw from rng alone"),
        ("HereOnly", ["2"], "it works in this process and fails in another one: RuntimeError: not in this process"),
        ("ByProcess", ["1"], "two processes with one seed differ in score"),
    ],
)
def test_an_output_that_depends_on_the_process_is_reported(monkeypatch, name, seeds, said):
    # A set is in one order in half of all processes; what no hash decides shows in one.
    monkeypatch.setattr("scenarios.checks.conformance.suite.HASH_SEEDS", seeds)
    done = invoke("check", f"process_methods:{name}")
    assert done.exit_code == 1
    assert f"FAILED  same seed, same output in other processes: {said}" in done.output
    assert f"process_methods:{name}: 1 failed" in done.output


@pytest.mark.thorough
def test_an_output_that_depends_on_seed_and_input_passes(monkeypatch):
    monkeypatch.setattr("scenarios.checks.conformance.suite.HASH_SEEDS", ["1"])
    done = invoke("check", "process_methods:Ordered")
    assert done.exit_code == 0
    assert "ok      same seed, same output in other processes" in done.output
