"""Limits of exact inference, and errors that say which columns exceed them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from defenses.base.microdata import Microdata

MOST_CELLS = 1_000_000
"""Largest number of cells in a measured marginal."""


def check_pairs(records: Microdata, most_cells: int = MOST_CELLS) -> None:
    """Check that each released column can be measured together with some other.

    Raises
    ------
    ValueError
        If a column has too many values; names it, its smallest partner, and the number of values that would fit.
    """
    sizes = {name: records.domains[name].size for name in records.released_columns}
    for name, size in sizes.items():
        others = {other: values for other, values in sizes.items() if other != name}
        partner = min(others, key=others.__getitem__, default=None)
        cells = size * (others[partner] if partner else 1)
        if cells > most_cells:
            beside = f", and {cells:,} combinations with column {partner!r}" if partner else ""
            largest = most_cells // (others[partner] if partner else 1)
            coarser = f"at most {largest:,} values would fit" if largest else f"make column {partner!r} coarser, too"
            raise ValueError(
                f"column {name!r} has {size:,} values{beside}; exact inference takes at most {most_cells:,}: "
                f"declare coarser bins or categories for column {name!r}; {coarser}"
            )


def check_workload(records: Microdata, workload: Sequence[Sequence[str]], most_cells: int) -> None:
    """Check that each set of columns of a workload can be measured.

    Raises
    ------
    ValueError
        If a set has too many combinations of values; names its columns, and the numbers of values that would fit.
    """
    for columns in workload:
        sizes = {name: records.domains[name].size for name in columns}
        cells = math.prod(sizes.values())
        if cells > most_cells:
            each = ", ".join(f"{name!r} ({size:,} values)" for name, size in sizes.items())
            largest = math.floor(most_cells ** (1 / len(sizes)) + 1e-9)
            raise ValueError(
                f"workload: columns {each} have {cells:,} combinations; exact inference takes at most {most_cells:,}: "
                f"declare coarser bins or categories; {largest:,} values in each of these columns would fit"
            )
