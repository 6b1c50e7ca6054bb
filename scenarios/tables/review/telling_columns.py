"""Quasi-identifiers that tell the sensitive value of most people."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

LARGE = 10
"""Smallest number of people of a value that counts; smaller groups have one sensitive value by chance."""
MOST_VALUES = 100
"""Largest number of values of a column; a column with more is no group of people."""
TOLD = 0.5
"""Share of the people whose sensitive value is told, from which the column is named."""
COMMON = 0.8
"""Share of the commonest sensitive value, from which many values are equal by chance."""


def telling_columns(frame: pd.DataFrame, quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> list[str]:
    """Notes on quasi-identifiers of which most values go with one sensitive value only.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Values.
    quasi_identifiers, sensitive : sequence of str
        Columns with these roles.
    """
    notes = []
    for secret in (name for name in sensitive if name in frame):
        present = frame[frame[secret].notna()]
        if present[secret].nunique() < 2 or present[secret].value_counts(normalize=True).iloc[0] > COMMON:
            continue
        for name in (name for name in quasi_identifiers if name in frame):
            if not 1 < present[name].nunique() <= MOST_VALUES:
                continue
            groups = present.groupby(name, observed=True)[secret].agg(["size", "nunique"])
            telling = groups[(groups["size"] >= LARGE) & (groups["nunique"] == 1)]
            if telling["size"].sum() > TOLD * len(present):
                share = telling["size"].sum() / len(present)
                notes.append(
                    f"{name} tells {secret}: {len(telling)} of its {len(groups)} values go with one value of {secret} "
                    f"each, in {share:.0%} of the records; leave {name} out, or make it coarser"
                )
    return notes
