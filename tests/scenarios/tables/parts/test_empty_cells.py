"""Releases that are written in parts are warned of as those in memory are."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from defenses.base import CountedCells, Microdata, ReleasedBlock
from defenses.base.guarantee import Guarantee
from scenarios.tables.parts.defending import ReleaseCounts
from scenarios.tables.parts.released_blocks import LargeRelease
from scenarios.tables.review.release_notes import empty_cells_warning

ROLES = """
quasi_identifiers = ["age", "town"]
sensitive = ["flu"]
[columns.age]
type = "number"
integer = true
low = 18
high = 80
[columns.town]
type = "category"
categories = ["Bern", "Genf", "Uri"]
"""


def warned(*arguments):
    """The warning of cells that say nothing; empty if there is none."""
    done = invoke("defend", *arguments, "people.csv", "--roles", "roles.toml", "-o", "out.csv", "--force")
    assert done.exit_code == 0, done.output
    return [line for line in done.stderr.splitlines() if "say nothing" in line]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("arguments", "share"),
    [
        (("Constant",), 100),
        (("Identity",), None),
        (("Shuffle",), None),
        (("TopBottomCoding", "-p", "share=0.49"), None),
        (("Mondrian", "-p", "k=150"), 67),
        (("GlobalRecoding", "-p", "levels={age=0,town=1}"), 33),
        (("GlobalRecoding", "-p", "levels={age=5,town=1}"), 67),
    ],
)
def test_the_warning_is_that_of_the_table_in_memory(tmp_path, monkeypatch, arguments, share):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roles.toml").write_text(ROLES)
    rng = np.random.default_rng(0)
    people = {"age": rng.integers(18, 81, 200), "town": rng.choice(["Bern", "Genf", "Uri"], 200)}
    pd.DataFrame({**people, "flu": rng.choice(["no", "yes"], 200)}).to_csv("people.csv", index=False)
    in_memory = warned(*arguments)
    assert in_memory == warned(*arguments, "--memory", "1GB")
    assert bool(in_memory) == (share is not None)
    assert all(line.startswith("warning: most cells say nothing in ") for line in in_memory)
    assert all(line.endswith(f"; {share} % of all cells") for line in in_memory)


@pytest.mark.parametrize(
    ("blocks", "share"),
    [
        ([[7.0, 7.0], [], [7.0]], 100),
        ([[7.0, 7.0], [7.0, 8.0]], None),
        ([[7.0], [8.0], [8.0]], None),
        ([[np.nan, np.nan]], None),
        ([[7.0]], None),
    ],
)
def test_numbers_without_a_list_of_cells(blocks, share):
    made = [
        ReleasedBlock(number, {"wage": np.array(values, dtype=float)}, np.arange(len(values)))
        for number, values in enumerate(blocks)
    ]
    records = Microdata(pd.DataFrame({"wage": [1, 2, 3]}))
    table = SimpleNamespace(dataset=SimpleNamespace(records=records), people=None, groups=None, rows=3)
    counted = ReleaseCounts(LargeRelease(("wage",), {}, lambda: iter(made), 9, Guarantee), table)
    assert list(counted.blocks()) == made
    said = [str(note) for note in empty_cells_warning({"wage": CountedCells.of(pd.Series([1, 2, 3]))}, counted.cells)]
    line = "most cells say nothing in this column: wage (the same in every row); 100 % of all cells"
    assert said == ([] if share is None else [line])
