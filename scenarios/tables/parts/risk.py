"""Re-identification risk of a released table's file, in memory or in parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import Any

from metrics.columns import Domain
from scenarios.tables.note import Note
from scenarios.tables.parts.files.table_files import Engine
from scenarios.tables.released import read_released
from scenarios.tables.released_classes import CountedRelease
from scenarios.tables.risk import RiskReport, risk_notes, risk_report
from scenarios.tables.roles import read_roles


def opened_release(
    path: Path,
    roles: Path | None,
    *,
    reading: Mapping[str, Any] | None = None,
    spelling: Mapping[str, Domain | None] | None = None,
    others: Sequence[str] = (),
    memory: int | None = None,
    engine: Engine | None = None,
) -> AbstractContextManager[CountedRelease]:
    """Open a released table: in memory, or in parts where DuckDB gets some bytes of memory."""
    if memory is None:
        return nullcontext(read_released(path, roles, reading=reading, spelling=spelling))
    # It imports DuckDB and SciPy, which a table in memory does not need.
    from scenarios.tables.parts.released import large_released

    return large_released(path, roles, reading=reading, spelling=spelling, others=others, memory=memory, engine=engine)


def risk_of_file(
    path: Path,
    roles: Path | None = None,
    *,
    reading: Mapping[str, Any] | None = None,
    population: Path | None = None,
    population_size: int | None = None,
    cells: int | None = None,
    memory: int | None = None,
    engine: Engine | None = None,
) -> tuple[RiskReport, tuple[Note, ...]]:
    """Measure the risk of a released table, with notes on what was inferred or left out.

    The parameters and errors are those of `scenarios.tables.risk.risk_report` and `large_released`. With `memory`, the
    table is read in parts, and half of these bytes are DuckDB's. A population is read on this machine.
    """
    declared = read_roles(roles, reading)
    others = [name for name in (declared.person, declared.group, declared.weight) if name is not None]
    half, quarter = (None, None) if memory is None else (memory // 2, memory // 4)
    with ExitStack() as stack:
        opened = opened_release(path, roles, reading=reading, others=others, memory=half, engine=engine)
        table, everybody = stack.enter_context(opened), None
        if population is not None:
            opened = opened_release(population, roles, reading=reading, spelling=table.spelling, memory=quarter)
            everybody = stack.enter_context(opened)
        report = risk_report(table, population=everybody, population_size=population_size, cells=cells, memory=half)
        return report, risk_notes(table, report)
