"""Tables in files, and their releases in parts, for tests of large tables."""

import itertools
import pickle
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.random import SeedSequence

from scenarios.tables.parts.files.output_files import output_files
from scenarios.tables.parts.files.shuffled_output import write_release
from scenarios.tables.parts.large_release import large_release
from scenarios.tables.parts.records import large_records

ROLES = """
identifiers = ["name"]
quasi_identifiers = ["age", 'to"wn', "born", "size", "code_1"]
sensitive = ["ill ness"]
unprotected = ["wage", "source", "member"]
[columns.age]
type = "number"
low = 0
high = 120
integer = true
cuts = [30, 60, 90]
[columns.wage]
type = "number"
low = 0
high = 10000
cuts = [2500, 3000, 3500]
[columns.'to"wn']
type = "category"
categories = ["Ōtsu", "a,b", 'say "x"', "Kyoto", "nowhere"]
hierarchy = { rows = [["Ōtsu", "east", "*"], ["a,b", "east", "*"], ['say "x"', "west", "*"], ["Kyoto", "west", "*"], ["nowhere", "west", "*"]] }
"""  # noqa: E501

IN_PARTS = {
    "AdditiveNoise",
    "Constant",
    "GlobalRecoding",
    "Identity",
    "Incognito",
    "Mondrian",
    "OptimalMatrix",
    "OptimalRetention",
    "OptimalRetentionByObjective",
    "OptimalRetentionByOutput",
    "OptimalRetentionFromNoisyHistogram",
    "OptimalRetentionWithPrior",
    "Pipeline",
    "Pseudonymization",
    "RecordSuppression",
    "ReportedTable",
    "RetentionReplacement",
    "Rounding",
    "Sampling",
    "Shuffle",
    "StratifiedSampling",
    "TopBottomCoding",
}
"""Defenses that release tables of any size; others say that they need all rows."""


def people(rows=1000, seed=1):
    """People with hostile names of columns and values."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"person {row}" for row in range(rows)],
            "age": rng.integers(0, 100, rows),
            'to"wn': np.where(rng.random(rows) < 0.1, None, rng.choice(["Ōtsu", "a,b", 'say "x"', "Kyoto"], rows)),
            "born": rng.choice(np.arange("1950-01-01", "1951-01-01", dtype="datetime64[D]"), rows).astype(str),
            "size": rng.choice([1.5, 2.0, 0.0, 1e-7, 12345678901.5, np.nan], rows),
            "code_1": rng.choice(["*", "[1,2]", "plain", "{a|b}"], rows),
            "ill ness": rng.choice(["flu", "none", None], rows),
            "wage": rng.normal(3000, 500, rows).round(2),
            "source": rng.integers(0, 5, rows),
            "member": rng.choice([True, False], rows),
        }
    )


def released_in_parts(defense, path, roles, output, *, seed=1, truth=None, rows=None, memory=None):
    """Write a release of a table that is read in parts; the release."""
    with large_records(path, roles, memory=memory) as records:
        return written_release(defense, records, output, seed=seed, truth=truth, rows=rows)


def written_release(defense, records, output, *, seed=1, truth=None, rows=None, in_order=map):
    """Write a release of opened records; the release."""
    root = SeedSequence(seed)
    release = large_release(defense, records, root, rows=rows, in_order=in_order)
    with output_files() as outputs:
        write_release(release, outputs, str(output), root, written=records.dataset.written, truth=truth)
    return release


def write_parts(frame, folder, cuts):
    """Write the rows between each two cuts as a Parquet file of a folder."""
    folder.mkdir()
    for number, (start, stop) in enumerate(itertools.pairwise([0, *cuts, len(frame)])):
        frame[start:stop].to_parquet(folder / f"part-{number}.parquet")


@dataclass(frozen=True)
class PartByPart:
    """Reads each part by itself, as pickled for another machine."""

    read: ClassVar[int] = 0
    """Number of parts that the last call read."""

    def over_parts(self, files, function):
        PartByPart.read = 0
        for number in range(len(files.parts)):
            part, packed = pickle.loads(pickle.dumps((files.part(number), function)))
            with part:
                result = packed(part)
            PartByPart.read += 1
            yield result


def unanchored(monkeypatch):
    """Have utilities of this process count from 0, for tests that assert none: the floor takes much of their time."""
    monkeypatch.setattr(
        "metrics.table_utility.information_free_fidelity", lambda _, __, fidelity, ___: dict.fromkeys(fidelity, 0.0)
    )
