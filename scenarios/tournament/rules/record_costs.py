"""What each column costs of the utility of a table's records."""

from __future__ import annotations

from dataclasses import dataclass

SHOWN = 3
"""Number of columns that are named."""
LEAST = 0.0005
"""Smallest loss that is named; three digits show less as 0."""


@dataclass(frozen=True)
class RecordCosts:
    """Losses of the utility of the records; together they are 1 minus that utility, or more where it is 0.

    Attributes
    ----------
    columns : dict of float
        Loss by column: how much less similar its cells are to the originals.
    left_out : float
        Loss by originals without a row.
    suppressed : dict of int
        Number of cells ``*`` by column; 0 for columns without one.
    """

    columns: dict[str, float]
    left_out: float
    suppressed: dict[str, int]

    @property
    def dearest(self) -> list[tuple[str, float]]:
        """The columns that cost most, the dearest first, without those that cost nothing."""
        ordered = sorted(self.columns.items(), key=lambda one: (-one[1], one[0]))
        return [(name, cost) for name, cost in ordered if cost >= LEAST][:SHOWN]

    def words(self) -> str:
        """The dearest columns in one line; empty if nothing is lost."""
        parts = []
        if self.dearest:
            named = (f"{name} {cost:.3f}{self._suppression(name)}" for name, cost in self.dearest)
            parts.append(f"columns that cost the records most utility: {', '.join(named)}")
        if len(self.dearest) > 1:
            parts.append(f"all {len(self.columns)} columns {sum(self.columns.values()):.3f}")
        if self.left_out >= LEAST:
            parts.append(f"originals without a row cost {self.left_out:.3f}")
        return "; ".join(parts)

    def _suppression(self, name: str) -> str:
        """How many cells of a column are ``*``; empty if none is."""
        count = self.suppressed[name]
        return f" ({count} cell{' is' if count == 1 else 's are'} *)" if count else ""
