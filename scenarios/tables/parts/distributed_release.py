"""Releases whose blocks are made on the workers of a cluster, part by part."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from scenarios.tables.parts.engine import OneMachine
from scenarios.tables.parts.records import LargeRecords, over_parts
from scenarios.tables.parts.released_blocks import BlockByBlock, LargeRelease, ReleasedBlock


def distributed(release: LargeRelease, records: LargeRecords) -> LargeRelease:
    """The same release, whose blocks are made where the parts of the records are read.

    A release whose blocks depend on each other is made on this machine.

    Parameters
    ----------
    release : LargeRelease
        The release.
    records : LargeRecords
        Its records.
    """
    if isinstance(records.files.engine, OneMachine) or not isinstance(release.blocks, BlockByBlock):
        return release
    return replace(release, blocks=partial(_merged_blocks, release, records))


def _merged_blocks(release: LargeRelease, records: LargeRecords) -> Iterator[ReleasedBlock]:
    """Blocks of all parts, whose new cells join the lists of cells in the order of the parts."""
    import cloudpickle

    known = {name: len(listed) for name, listed in release.cells.items()}
    # Functions inside of functions are no part of a module, and plain pickles leave them out.
    packed = cloudpickle.dumps((release.cells, release.blocks))
    for blocks, new_cells in over_parts(records, partial(_blocks_of_part, packed, known)):
        recoded = {name: release.cells[name].codes(cells) for name, cells in new_cells.items() if cells}
        for block in blocks:
            columns = dict(block.columns)
            for name, codes in recoded.items():
                is_new = columns[name] >= known[name]
                columns[name] = columns[name].copy()
                columns[name][is_new] = codes[columns[name][is_new] - known[name]]
            yield replace(block, columns=columns)


def _blocks_of_part(
    packed: bytes, known: dict[str, int], records: LargeRecords
) -> tuple[list[ReleasedBlock], dict[str, list[Any]]]:
    """Released blocks of a part, and the cells that they add to the lists."""
    cells, made = pickle.loads(packed)  # noqa: S301 (from the machine that gave the work)
    blocks = [made.released(block) for block in records.blocks()]
    return blocks, {name: listed.cells[known[name] :] for name, listed in cells.items()}
