"""Re-identification risk of a released table that is read in parts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from scenarios.tables.note import Note
from scenarios.tables.parts.files.table_files import Engine
from scenarios.tables.parts.released import large_released
from scenarios.tables.risk import RiskReport, risk_notes, risk_report
from scenarios.tables.roles import read_roles


def large_risk_report(
    path: Path,
    roles: Path | None = None,
    *,
    reading: Mapping[str, Any] | None = None,
    population: Path | None = None,
    population_size: int | None = None,
    cells: int | None = None,
    memory: int,
    engine: Engine | None = None,
) -> tuple[RiskReport, tuple[Note, ...]]:
    """Measure the risk of a released table that is read in parts, with notes on what was inferred or left out.

    The parameters and errors are those of `scenarios.tables.risk.risk_report` and `large_released`. Half of the memory
    is DuckDB's. A population is read on this machine.
    """
    declared = read_roles(roles, reading)
    opened = partial(large_released, roles=roles, reading=reading)
    with ExitStack() as stack:
        others = [name for name in (declared.person, declared.group, declared.weight) if name is not None]
        table = stack.enter_context(opened(path, others=others, memory=memory // 2, engine=engine))
        everybody = None
        if population is not None:
            everybody = stack.enter_context(opened(population, spelling=table.spelling, memory=memory // 4))
        report = risk_report(
            table, population=everybody, population_size=population_size, cells=cells, memory=memory // 2
        )
        return report, risk_notes(table, report)
