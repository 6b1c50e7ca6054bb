"""``tokumei defend`` for tables that are read in parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from numpy.random import SeedSequence

from defenses.base.defense import MicrodataDefense
from defenses.base.guarantee import Guarantee
from scenarios.tables.dataset import Dataset
from scenarios.tables.impossible_rows import IGNORED, takes_rules, with_rules
from scenarios.tables.parts.distributed_release import distributed
from scenarios.tables.parts.empty_cells import EmptyCells
from scenarios.tables.parts.engine import Engine
from scenarios.tables.parts.large_release import large_release
from scenarios.tables.parts.output_files import output_files
from scenarios.tables.parts.records import LargeRecords, large_records
from scenarios.tables.parts.rows_of_people import large_repeated_people_warnings, large_rows_of_people
from scenarios.tables.parts.shuffled_output import write_release
from scenarios.tables.review.rows_of_people import RowsOfPeople


class DefendedInParts(NamedTuple):
    """What is said of a release that was written in parts.

    Parameters
    ----------
    released, records : int
        Number of released rows, and of records.
    guarantee : Guarantee
        What the release promises.
    notes : tuple of str
        What the publisher should know beside it.
    warnings : tuple of str
        Warnings of identifiers that repeat, and of cells that say nothing.
    people : RowsOfPeople or None
        Numbers of rows and people, if a person has several rows.
    """

    released: int
    records: int
    guarantee: Guarantee
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    people: RowsOfPeople | None


def defend_in_parts(
    defense: MicrodataDefense,
    path: Path,
    roles: Path | None,
    *,
    reading: Mapping[str, Any],
    memory: int,
    rows: int | None,
    output: str,
    truth: str | None,
    channel: str | None,
    seed: int | None,
    describe: Callable[[Dataset, list[str], int], None],
    engine: Engine | None = None,
) -> DefendedInParts:
    """Anonymize a table that is read, and a release that is written, in parts.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    path, roles : Path
        The table, and the roles of its columns.
    reading : mapping of str
        How the file is read.
    memory : int
        Bytes of memory; DuckDB may use half of it.
    rows : int, optional
        Mean number of rows of random blocks, for defenses that need all rows.
    output, truth, channel : str
        The outputs; None for none.
    seed : int, optional
        Seed that repeats the release.
    describe : callable
        ``describe(dataset, unique, rows)`` is called before the rows are read, with the columns whose texts all differ,
        and the number of rows.
    engine : Engine, optional
        Where the parts are read; by default on this machine.

    Raises
    ------
    ValueError
        If a file cannot be read or the parameters do not fit it. No output is then written.
    """
    root = SeedSequence(seed)
    with large_records(path, roles, reading=reading, memory=memory // 2, engine=engine) as records:
        defense_name = type(defense).__name__
        defense = with_rules(defense, records.dataset.impossible)
        release = distributed(large_release(defense, records, root, rows=rows), records)
        if channel is not None and release.channel is None:
            raise ValueError(f"--channel: this release of {defense_name} has none")
        describe(records.dataset, _unique_texts(records), records.rows)
        empty_cells = EmptyCells(release)
        with output_files() as outputs:
            if channel is not None and release.channel is not None:
                outputs.open(channel).write(release.channel.to_toml().encode())
            dataset = records.dataset
            count = write_release(
                replace(release, blocks=empty_cells.blocks),
                outputs,
                output,
                root,
                separator=dataset.separator or ",",
                written=dataset.written,
                truth=truth,
            )
            ignored = [IGNORED] if dataset.impossible and not takes_rules(defense) else []
        notes = (*release.notes, *ignored)
        empty, people = empty_cells.warning(records), large_rows_of_people(records)
        warnings = (*large_repeated_people_warnings(records), *([] if empty is None else [empty]))
        return DefendedInParts(count, records.rows, release.guarantee(), notes, warnings, people)


def _unique_texts(records: LargeRecords) -> list[str]:
    """Released text columns whose value differs in every record."""
    return [
        name
        for name, column in records.columns.items()
        if records.roles.frame[name].dtype == object
        and records.rows > 1
        and len(column.raw.values) + column.raw.missing == records.rows
        and column.raw.missing <= 1
    ]
