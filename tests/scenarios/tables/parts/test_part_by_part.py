"""Parts that are opened one by one, as on other machines, give the bytes of one machine."""

import pytest
from large_tools import ROLES, PartByPart, people, write_parts
from run_tools import invoke

CUTS = [0, 63, 130]
"""Parts of 0, 63 and 67 rows, and a longer one, beside blocks of 64."""


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 64)
    monkeypatch.setattr("scenarios.tables.parts.files.shuffled_output.BUCKET", 100)
    write_parts(people(250), tmp_path / "people", CUTS)
    (tmp_path / "roles.toml").write_text(ROLES)
    return tmp_path


def run(*words):
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    return done


DEFENSES = (
    ["RetentionReplacement", "-p", "retention=0.7"],
    ["AdditiveNoise", "-p", "columns=['age']"],
    ["Sampling", "-p", "rate=0.5"],
    ["Mondrian", "-p", "k=5"],
    ["ReportedTable", "-p", "epsilon=3.0", "-p", "columns=['age']"],
)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("defense", DEFENSES, ids=lambda words: words[0])
def test_a_release_has_the_same_bytes(tables, monkeypatch, defense):
    command = ["defend", *defense, tables / "people", "--roles", tables / "roles.toml", "--seed", "3", "--force"]
    outputs = tables / "here.csv", tables / "there.csv"
    here = run(*command, "-o", outputs[0], "--truth", tables / "who.csv")
    monkeypatch.setattr("scenarios.running.workers.cluster.DaskEngine", lambda scheduler: ClosedParts())
    cluster = ["--backend", "dask", "--scheduler", "tcp://127.0.0.1:9"]
    there = run(*command, "-o", outputs[1], "--truth", tables / "whom.csv", *cluster)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert (tables / "who.csv").read_bytes() == (tables / "whom.csv").read_bytes()
    assert here.stderr == there.stderr
    assert PartByPart.read == len(CUTS) + 1


class ClosedParts(PartByPart):
    """Parts that a command closes at its end, as it does a cluster."""

    def close(self):
        """Nothing is left open."""
