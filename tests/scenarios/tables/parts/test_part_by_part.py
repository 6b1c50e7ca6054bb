"""Parts that are opened one by one, as on other machines, give the bytes of one machine."""

import contextlib
import pickle
from pathlib import Path

import pandas as pd
import pytest
from large_tools import IN_PARTS, ROLES, PartByPart, people, unanchored, write_parts
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


# One that releases every row and one that leaves rows out; the bytes of every other one are compared below.
DEFENSES = (["RetentionReplacement", "-p", "retention=0.7"], ["Sampling", "-p", "rate=0.5"])


# Rows that are left out are those of the release in memory below, too.
@pytest.mark.long_beyond(1)
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


class KeptParts:
    """Sends each part as to another machine, which opens it again only if it is sent something else."""

    def __init__(self):
        self._opened, self._open = {}, contextlib.ExitStack()

    def over_parts(self, files, function):
        for number in range(len(files.parts)):
            sent = pickle.dumps(files.part(number))
            if sent not in self._opened:
                self._opened[sent] = self._open.enter_context(pickle.loads(sent))
            yield pickle.loads(pickle.dumps(function))(self._opened[sent])

    def close(self):
        """Close all parts."""
        self._open.close()


PARAMETERS = {
    "OptimalMatrix": ["epsilon=3.0", "columns=['code_1']"],
    "OptimalRetention": ["epsilon=3.0", "columns=['code_1']"],
    "OptimalRetentionByObjective": ["epsilon_matrix=1.0", "epsilon_release=3.0", "columns=['code_1']"],
    "OptimalRetentionByOutput": ["epsilon_matrix=1.0", "epsilon_release=3.0", "columns=['code_1']"],
    "OptimalRetentionFromNoisyHistogram": ["epsilon_matrix=1.0", "epsilon_release=3.0", "columns=['code_1']"],
    "OptimalRetentionWithPrior": ["epsilon=3.0", "columns=['code_1']", "prior={code_1=[1, 2, 3, 4]}"],
    "Pipeline": ["steps=[{use='GlobalRecoding', levels=1}, {use='RecordSuppression', k=2}]"],
    "ReportedTable": ["epsilon=3.0", "columns=['age']"],
    "RetentionReplacement": ["retention=0.7"],
    "Rounding": ["base={age=7}"],
    "StratifiedSampling": ["by='source'", "rate=0.5"],
    "TopBottomCoding": ["share=0.1"],
}
"""Parameters of defenses that have no default, or that take less time."""
MEMORIES = ("512MiB", "8GB")
# The others are released in parts in `test_rowwise.py`, with the bytes of the release in memory.
IN_PARTS_HERE_ALONE = {"Incognito", "Mondrian", "Pipeline", "Pseudonymization", "RecordSuppression"}


# Cells that follow from their own value alone are noisy ones, too. Of the methods that draw from a matrix, one learns
# it from the counts of all parts and one needs none; in memory and in parts, `test_rowwise.py` compares the others.
@pytest.mark.long_for(
    "Constant",
    "GlobalRecoding",
    "Identity",
    "OptimalMatrix",
    "OptimalRetention",
    "OptimalRetentionByObjective",
    "OptimalRetentionByOutput",
    "OptimalRetentionWithPrior",
    "ReportedTable",
    "Rounding",
)
@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", sorted(IN_PARTS))
def test_bytes_depend_neither_on_memory_nor_on_workers(tables, monkeypatch, name):
    defense = [name, *(word for one in PARAMETERS.get(name, ()) for word in ("-p", one))]
    # How much memory there is reaches the database alone, so rows that are read one by one and groups suffice.
    count = 2 if name in {"AdditiveNoise", "Mondrian"} else int(name in IN_PARTS_HERE_ALONE)
    assert_same_bytes(tables, monkeypatch, defense, MEMORIES[:count])


def assert_same_bytes(tables, monkeypatch, defense, memories=MEMORIES):
    """Release a table in memory, in parts within each of some memories, and part by part; all files are equal."""
    monkeypatch.chdir(tables)
    people(250).to_parquet("people.parquet")
    monkeypatch.setattr("scenarios.running.workers.cluster.DaskEngine", lambda scheduler: KeptParts())
    ways = (
        ["people.parquet"],
        *(["people.parquet", "--memory", memory] for memory in memories),
        ["people", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9"],
    )
    made = []
    for way in ways:
        options = ["--roles", "roles.toml", "--seed", "3", "--force", "-o", "out.csv", "--truth", "who.csv"]
        run("defend", *defense, *way, *options)
        made.append((Path("out.csv").read_bytes(), Path("who.csv").read_bytes()))
    assert made == made[:1] * len(ways)


OWN = """
from defenses import MicrodataDefense
from defenses.base.defense import released_frame, rowwise_release


class Capped(MicrodataDefense):
    randomizes_records_independently = True

    def __init__(self, *, most=60):
        self.most = most

    def apply(self, records, rng):
        ages = records.frame["age"].clip(upper=self.most) + rng.integers(0, 3, len(records))
        return rowwise_release(released_frame(records, {"age": ages}), channel=None)


class Ranked(MicrodataDefense):
    def apply(self, records, rng):
        ages = records.frame["age"].rank(method="first") + rng.integers(0, 3)
        return rowwise_release(released_frame(records, {"age": ages}), channel=None)
"""


@pytest.mark.thorough
def test_a_method_in_a_file_of_the_user_works_in_parts(tables, monkeypatch):
    unanchored(monkeypatch)
    (tables / "capped_ages.py").write_text(OWN)
    assert_same_bytes(tables, monkeypatch, ["capped_ages:Capped", "-p", "most=50"], MEMORIES[:1])
    assert pd.read_csv("out.csv")["age"].max() == 52
    whole = [
        "defend",
        "capped_ages:Ranked",
        "people.parquet",
        "--roles",
        "roles.toml",
        "--memory",
        "1GB",
        "--seed",
        "1",
    ]
    refused = invoke(*whole, "-o", "ranks.csv")
    assert refused.exit_code == 2
    assert "Ranked needs all rows in memory" in refused.stderr
    made = []
    for jobs in ("1", "2"):
        run(*whole, "-o", "ranks.csv", "--force", "--blocks", "100", "-j", jobs)
        made.append(Path("ranks.csv").read_bytes())
    assert made[0] == made[1]
    assert 100 < pd.read_csv("ranks.csv")["age"].max() < 200
