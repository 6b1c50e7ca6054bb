"""Categories that released cells name, alone or in sets."""

from __future__ import annotations

from typing import Any

import pandas as pd

from metrics.columns.cells import SUPPRESSED, split_set, unescape


def named_categories(column: pd.Series[Any]) -> set[str]:
    """Categories that occur in the cells of a released column, alone or in sets."""
    return set().union(*(cell_categories(str(cell)) for cell in column.dropna().unique()))


def cell_categories(cell: str) -> set[str]:
    """Categories that a released cell names: those of a set, that of a plain cell, none of ``*``."""
    if cell == SUPPRESSED:
        return set()
    parts = split_set(cell[1:-1]) if cell.startswith("{") and cell.endswith("}") else [cell]
    return {unescape(part) for part in parts if part}
