"""Records of a shipped data set, for experiments that name its columns."""

from __future__ import annotations

from collections.abc import Sequence

from defenses.base import Microdata
from metrics.columns import refuse


def shipped_records(dataset: str, columns: Sequence[str]) -> Microdata:
    """Records of a shipped data set.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    columns : sequence of str
        Columns that the experiment needs.

    Raises
    ------
    ValueError
        If there is no such data set, or it has no such column with a declared domain.
    """
    from scenarios.datasets import load

    records = load(dataset).records
    for name in columns:
        refuse(
            name not in records.domains,
            f"columns: {dataset!r} has no column {name!r}; it has {', '.join(records.domains)}",
        )
    return records
