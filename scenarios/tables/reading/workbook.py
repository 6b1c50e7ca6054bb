"""Excel workbooks: the first sheet as a table, with the extra ``excel``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.columns import require
from scenarios.tables.review.column_names import POSTCODES, POSTCODES_JAPANESE, hints_at


def workbook_table(path: Path, data: bytes) -> tuple[Any, list[str]]:
    """Read the first sheet of a workbook. Its first row with a value names the columns; empty rows are no records.

    Parameters
    ----------
    path : Path
        Named in errors.
    data : bytes
        The file's content.

    Returns
    -------
    table : pyarrow.Table
        Columns of numbers, truth values or texts. A date is a text in ISO format.
    notes : list of str
        Which sheet was read, if there are several, and which postcodes may have lost a zero.

    Raises
    ------
    ValueError
        If openpyxl is not installed, the workbook is damaged, or its first sheet is empty.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ValueError(
            f"{path}: is an Excel workbook; save the sheet as CSV (UTF-8), or pip install 'tokumei[excel]'"
        ) from None
    try:
        workbook = load_workbook(BytesIO(data), read_only=True, data_only=True)
        sheets = workbook.worksheets
        rows = [row for row in sheets[0].iter_rows(values_only=True) if any(cell is not None for cell in row)]
    except Exception as error:
        # openpyxl passes on whatever its parsers raise.
        raise ValueError(f"{path}: is a damaged or unsupported Excel workbook ({type(error).__name__})") from None
    require(rows, f"{path}: its first sheet is empty; the first row must name the columns")
    columns = list(zip_longest(*zip_longest(*rows))) if len({len(row) for row in rows}) > 1 else rows
    header, records = columns[0], columns[1:]
    names = ["" if name is None else str(_text(name)) for name in header]
    arrays = [_array(cells) for cells in zip(*records, strict=True)] or [pa.array([], pa.string()) for _ in names]
    notes = [f"the first of {len(sheets)} sheets is read"] if len(sheets) > 1 else []
    notes += [
        f"{name}: a postcode by its name, but its cells are numbers, which lose leading zeros; make them text cells"
        for name, column in zip(names, arrays, strict=True)
        if pa.types.is_floating(column.type) and hints_at(name, POSTCODES, POSTCODES_JAPANESE)
    ]
    return pa.table(arrays, names=names), notes


def _array(cells: Sequence[Any]) -> Any:
    """Cells of a column as numbers or truth values if they are nothing else, otherwise as texts."""
    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds and kinds <= {int, float}:
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    return pa.array([_text(cell) for cell in cells], pa.string())


def _text(cell: Any) -> str | None:
    """Text of a cell, None where empty."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(sep=" ")
    return str(cell)
