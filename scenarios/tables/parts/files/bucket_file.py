"""Rows on disk, each in a random bucket."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses.base import ReleasedBlock, block_generator
from metrics.columns import Integers


@dataclass
class BucketFile:
    """Rows in a temporary file, each in a bucket that it draws.

    Parameters
    ----------
    path : Path
        Temporary file for the rows, of which only codes and numbers are kept.
    names : tuple of str
        Columns of the rows.
    buckets : int
        Number of buckets.
    root : SeedSequence
        Root of the random generators.
    origins : bool
        Whether to keep the record of origin of each row.
    purpose : str
        What the buckets are for; another purpose draws others.
    """

    path: Path
    names: tuple[str, ...]
    buckets: int
    root: SeedSequence
    origins: bool
    purpose: str = "order"
    rows: int = 0
    _type: np.dtype[Any] | None = None
    _starts: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, block: ReleasedBlock) -> None:
        """Append the rows of a block."""
        rng = block_generator(self.root, f"{self.purpose}: bucket", block.number)
        self.place(block, rng.integers(self.buckets, size=len(block)))

    def place(self, block: ReleasedBlock, drawn: Integers) -> None:
        """Append the rows of a block, given the bucket of each."""
        if self._type is None:
            kinds = [(f"c{i}", block.columns[name].dtype) for i, name in enumerate(self.names)]
            self._type = np.dtype([*kinds, *([("origin", np.dtype(np.int64))] if self.origins else [])])
        order = np.argsort(drawn.astype(np.min_scalar_type(self.buckets)), kind="stable")
        rows = np.empty(len(block), dtype=self._type)
        for i, name in enumerate(self.names):
            rows[f"c{i}"] = block.columns[name][order]
        if self.origins:
            rows["origin"] = block.origin[order]
        with self.path.open("ab") as file:
            file.write(rows.view(np.uint8).data)
        self._starts.append(self.rows + np.append(0, np.cumsum(np.bincount(drawn, minlength=self.buckets))))
        self.rows += len(block)

    def permuted(self) -> Iterator[NDArray[Any]]:
        """Rows of each bucket in random order, shape (rows of the bucket,)."""
        for bucket, rows in enumerate(self.stored()):
            yield rows[block_generator(self.root, f"{self.purpose}: order", bucket).permutation(rows.size)]

    def stored(self) -> Iterator[NDArray[Any]]:
        """Rows of each bucket in the order in which they were added."""
        if self._type is None or not self.rows:
            return
        width = self._type.itemsize
        with self.path.open("rb") as file:
            for bucket in range(self.buckets):
                pieces = [(int(starts[bucket]), int(starts[bucket + 1] - starts[bucket])) for starts in self._starts]
                rows = np.empty(sum(size for _, size in pieces), dtype=self._type)
                content, position = rows.view(np.uint8).data, 0
                for start, size in pieces:
                    while size:
                        # One call reads at most 2 GiB.
                        read = os.preadv(file.fileno(), [content[position : position + size * width]], start * width)
                        if read % width or not read:
                            raise OSError(f"{self.path}: the temporary file is cut short")
                        position, start, size = position + read, start + read // width, size - read // width
                yield rows
