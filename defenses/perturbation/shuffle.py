"""Independent permutations of the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from defenses.base import (
    BlockwiseDefense,
    CellList,
    Channel,
    Needs,
    RecordsInBlocks,
    ReleasedBlock,
    ReleasePlan,
    block_generator,
    block_sizes,
    unchanged_cells,
)
from defenses.base.channel_parts import Presence
from metrics.columns import Integers


class Shuffle(BlockwiseDefense):
    """Every released column is permuted independently: marginal distributions are kept, all associations are lost.

    A released row mixes cells of several records, so that it stems from no single record. A rare value may still reveal
    that a person is among the records. It guarantees nothing.

    A random permutation of a column is a draw of its values without replacement. So each block draws the numbers of its
    values from those that are left.
    """

    called = ("Shuffling", "Column shuffling")

    needs: Needs = "permutation"

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Count the values of each released column."""
        names = records.counted.released_columns
        cells = {name: unchanged_cells(records, name) for name in names}
        counts = {name: records.column(name).counts for name in names}
        return _Permutations((), Channel(tuple(Presence(name) for name in names)), columns=cells, counts=counts)


@dataclass(frozen=True, kw_only=True)
class _Permutations(ReleasePlan):
    """Permutations of columns, given the list of cells, the cell of each code, and the number of records with it."""

    columns: Mapping[str, tuple[CellList, NDArray[np.int32]]] = field(repr=False)
    counts: Mapping[str, Integers] = field(repr=False)

    @property
    def cells(self) -> dict[str, CellList]:
        """Cells of all columns."""
        return {name: cells for name, (cells, _) in self.columns.items()}

    @property
    def changed(self) -> tuple[str, ...]:
        """All columns."""
        return tuple(self.columns)

    def blocks(self, records: RecordsInBlocks, root: SeedSequence) -> Iterator[ReleasedBlock]:
        """Draw the values of each block from those that are left."""
        left = {name: counts.copy() for name, counts in self.counts.items()}
        for number, rows in enumerate(block_sizes(len(records.counted))):
            columns = {
                name: of_code[_drawn(left[name], rows, block_generator(root, f"column {name}", number))]
                for name, (_, of_code) in self.columns.items()
            }
            yield ReleasedBlock(number, columns, np.full(rows, -1, dtype=np.int64))


def _drawn(left: Integers, rows: int, rng: Generator) -> Integers:
    """Codes drawn without replacement from those that are left, shape (rows,)."""
    occurring = np.flatnonzero(left)
    drawn = rng.multivariate_hypergeometric(left[occurring], rows, method="marginals")
    left[occurring] -= drawn
    return rng.permutation(np.repeat(occurring, drawn))
