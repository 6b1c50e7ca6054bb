"""Progress of long work on rows, with the time left, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LINE_INTERVAL = 10.0
"""Seconds between two lines where there is no terminal."""


class Progress:
    """Number of rows done, with the time left.

    A terminal shows a bar. Elsewhere a line is printed every `LINE_INTERVAL` seconds, so that short work prints none.

    Parameters
    ----------
    words : str
        What is done.
    rows : int
        Number of rows in all; more may be done.
    """

    def __init__(self, words: str, rows: int) -> None:
        self.words, self.rows, self.done = words, rows, 0
        self.began = self.last_line = time.monotonic()
        self._bar: Any = None

    def __reduce__(self) -> tuple[type[Progress], tuple[str, int]]:
        # Another machine has no terminal to show a bar on.
        return Progress, (self.words, self.rows)

    def add(self, rows: int) -> None:
        """Add rows that are done."""
        self.done += rows
        if self._bar is not None:
            self._bar.update(0, completed=min(self.done, self.rows))
            return
        now = time.monotonic()
        if now - self.last_line >= LINE_INTERVAL:
            self.last_line = now
            print(self.line(now - self.began), file=sys.stderr, flush=True)

    def line(self, passed: float) -> str:
        """Rows done and time left in words.

        Examples
        --------
        >>> progress = Progress("randomized", 1000)
        >>> progress.done = 250
        >>> progress.line(40)
        'randomized: 250 of 1,000 rows, 2 min 0 s left'
        """
        left = round(passed * max(0, self.rows - self.done) / max(1, self.done))
        minutes, seconds = divmod(left, 60)
        spoken = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
        return f"{self.words}: {min(self.done, self.rows):,} of {self.rows:,} rows, {spoken} left"


@contextmanager
def progress(words: str, rows: int) -> Iterator[Progress]:
    """Show the progress of some work until it ends; see `Progress`."""
    shown = Progress(words, rows)
    if not sys.stderr.isatty():
        yield shown
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %")
    with Bars(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bars:
        bars.add_task(words, total=max(1, rows))
        shown._bar = bars
        yield shown
