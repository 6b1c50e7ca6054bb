"""Rows of files in messages, which count from 1 below the header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

_PLACE = re.compile(r"^((?:column (['\"]).+?\2, )?row )(\d+)(?=: )")


@contextmanager
def rows_from_one(before: str = "", after: str = "") -> Iterator[None]:
    """Word complaints about the cells of a file.

    `metrics` counts rows as arrays do, from 0. A message about a file counts from 1, below the header.

    Parameters
    ----------
    before, after : str
        What the message says before and after the complaint.

    Examples
    --------
    >>> with rows_from_one("r.csv: "):
    ...     raise ValueError("column 'age', row 0: 'old' is no number")
    Traceback (most recent call last):
    ...
    ValueError: r.csv: column 'age', row 1: 'old' is no number
    """
    try:
        yield
    except ValueError as error:
        message = _PLACE.sub(lambda found: f"{found[1]}{int(found[3]) + 1}", str(error))
        raise ValueError(f"{before}{message}{after}") from None
