"""Released cells that say nothing, counted while a release is written in parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.cells import SUPPRESSED
from scenarios.tables.empty_cells import empty_cells_words
from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.released_blocks import LargeRelease, ReleasedBlock


@dataclass
class EmptyCells:
    """Counts of the cells of each column, as the blocks of a release pass.

    Parameters
    ----------
    release : LargeRelease
        The release.
    """

    release: LargeRelease
    rows: int = 0
    _counts: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    """Rows of each cell in the columns that are coded."""
    _same: dict[str, Any] = field(default_factory=dict)
    """The only value so far of each other column; absent once there are two."""

    def blocks(self) -> Iterator[ReleasedBlock]:
        """The blocks of the release, which are counted."""
        for block in self.release.blocks():
            if len(block):
                self._count(block)
            yield block

    def _count(self, block: ReleasedBlock) -> None:
        for name, values in block.columns.items():
            if name in self.release.cells:
                before = self._counts.get(name, np.zeros(0, dtype=np.int64))
                counts = np.bincount(values, minlength=before.size)
                counts[: before.size] += before
                self._counts[name] = counts
            elif not self.rows and (values == values[0]).all():
                self._same[name] = values[0]
            elif name in self._same and not (values == self._same[name]).all():
                del self._same[name]
        self.rows += len(block)

    def warning(self, records: LargeRecords) -> str | None:
        """A warning of columns most of whose cells say nothing, or None; see `empty_cells_warning`.

        Parameters
        ----------
        records : LargeRecords
            The original records.
        """
        if self.rows < 2:
            return None
        empty: dict[str, int | None] = {}
        for name in self.release.names:
            raw = records.columns[name].raw if name in records.columns else None
            differed = raw is not None and len(raw.values) + (raw.missing > 0) > 1
            empty[name] = None if differed and self._is_same(name) else self._suppressed(name)
        return empty_cells_words(empty, self.rows)

    def _is_same(self, name: str) -> bool:
        """Whether all rows have the same cell, which is not missing."""
        if name not in self._counts:
            return name in self._same
        codes = np.flatnonzero(self._counts[name])
        return codes.size == 1 and self.release.cells[name].cells[codes[0]] is not None

    def _suppressed(self, name: str) -> int:
        """Number of suppressed cells."""
        if name not in self._counts:
            return 0
        counts, cells = self._counts[name], self.release.cells[name].cells
        return sum(int(counts[code]) for code in np.flatnonzero(counts) if cells[code] == SUPPRESSED)
