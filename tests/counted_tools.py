"""Helpers for tests of tables that are read in parts."""

import numpy as np
import pandas as pd

ROLES = """
identifiers = ["name"]
quasi_identifiers = ["age", "town", "job", "size", "member"]
sensitive = ["illness"]
unprotected = ["wage"]
[columns.age]
type = "number"
low = 0
high = 99
integer = true
[columns.age.hierarchy]
intervals = [[20, 40, 60, 80], [40, 80], []]
[columns.job]
type = "category"
categories = ["cook", "pilot", "clerk", "nurse", "no [job]"]
[columns.job.hierarchy]
rows = [["cook", "hands", "*"], ["pilot", "air", "*"], ["clerk", "desk", "*"], ["nurse", "hands", "*"],
  ["no [job]", "none", "*"]]
[columns.illness]
type = "category"
ordered = true
categories = ["none", "cold", "flu", "rare"]
"""


def people(rows, seed=0, missing=True):
    """A table with numbers, categories, Booleans, missing values and a number that nearly every person has alone."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"person {row}" for row in range(rows)],
            "wage": rng.normal(3000, 500, rows).round(2),
            "age": rng.binomial(99, rng.choice([0.2, 0.5], rows)).astype(float if missing else int),
            "town": rng.choice(["Ōtsu", "a,b", 'say "x"', "{Kobe|Nara}"], rows, p=[0.6, 0.2, 0.15, 0.05]),
            "job": rng.choice(["cook", "pilot", "clerk", "nurse", "no [job]"], rows),
            "size": rng.choice([1.5, 2.0, 2.5, 1e-7], rows),
            "member": rng.choice([True, False], rows),
            "illness": rng.choice(["none", "cold", "flu"], rows),
        }
    )
    if missing:
        for name in ("age", "town", "size"):
            frame[name] = frame[name].astype(object).where(rng.random(rows) > 0.1, None)
        frame["age"], frame["size"] = frame["age"].astype(float), frame["size"].astype(float)
    return frame


def released_rows(release):
    """The rows of a large release as a table of cells, and the record of origin of each."""
    columns, origins = {name: [] for name in release.names}, []
    for block in release.blocks():
        for name in release.names:
            stored = block.columns[name]
            cells = release.cells.get(name)
            columns[name] += stored.tolist() if cells is None else [cells.cells[code] for code in stored]
        origins.append(block.origin)
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()}), np.concatenate(
        origins
    )


def as_cells(frame):
    """A released table with Python objects as cells and None where missing."""
    return pd.DataFrame(
        {
            name: pd.Series([None if pd.isna(cell) else cell for cell in column.tolist()], dtype=object)
            for name, column in frame.items()
        }
    )
