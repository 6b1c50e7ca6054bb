"""Limits of exact inference, and errors that say which columns exceed them."""

from __future__ import annotations

from defenses.base.microdata import Microdata

MOST_CELLS = 1_000_000
"""Largest number of cells in a measured marginal."""


def check_pairs(records: Microdata) -> None:
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
        if cells > MOST_CELLS:
            beside = f", and {cells:,} combinations with column {partner!r}" if partner else ""
            fits = MOST_CELLS // (others[partner] if partner else 1)
            coarser = f"at most {fits:,} values would fit" if fits else f"make column {partner!r} coarser, too"
            raise ValueError(
                f"column {name!r} has {size:,} values{beside}; exact inference takes at most {MOST_CELLS:,}: "
                f"declare coarser bins or categories for column {name!r}; {coarser}"
            )
