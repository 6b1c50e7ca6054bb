"""A table of one's own with its roles, for tests of commands on user tables."""

import numpy as np
import pandas as pd

ROLES = """
quasi_identifiers = ["age", "job"]
sensitive = ["illness"]
columns.age = { type = "number", integer = true, low = 0, high = 99, cuts = [20, 40, 60] }
columns.job = { type = "category", categories = ["cook", "nurse", "pilot"] }
columns.illness = { type = "category", categories = ["cold", "flu", "none"] }
"""


def people(rows, seed=1):
    """People with independent columns."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "job": rng.choice(["cook", "nurse", "pilot"], rows),
            "illness": rng.choice(["cold", "flu", "none"], rows, p=[0.2, 0.2, 0.6]),
        }
    )


def write_table(folder, rows, roles=ROLES):
    """Write ``people.csv`` and ``roles.toml``; returns their paths."""
    people(rows).to_csv(folder / "people.csv", index=False)
    (folder / "roles.toml").write_text(roles)
    return folder / "people.csv", folder / "roles.toml"
