"""Problems of a submitted file: where they are, what is wrong, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from metrics.columns import Sentence

MOST_SHOWN = 50
"""Largest number of problems that are listed; the others are counted."""
MOST_ROWS = 20
"""Largest number of rows that are listed for one problem."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a file.

    Parameters
    ----------
    problem : str
        What is wrong; it continues the place, as in ``row 3, column 'age': '20-29' is no number``.
    rows : tuple of int
        Rows with this problem, counted from 0 below the header; empty if it concerns the whole file.
    column : str, optional
        Name of the column.
    suggestion : str, optional
        What would be right: a cell that would be accepted, or advice.
    line : int, optional
        Line of the file, from 1: that of the first row, or one where the file cannot be split into rows.
    """

    problem: str
    rows: tuple[int, ...] = ()
    column: str | None = None
    suggestion: str | None = None
    line: int | None = None

    @property
    def row(self) -> int | None:
        """First row with this problem."""
        return self.rows[0] if self.rows else None

    @property
    def place(self) -> str:
        """Line, row and column, as far as known, such as ``, row 3 (line 5), column 'age'``."""
        parts = [f", line {self.line}" if not self.rows else f" (line {self.line})"] if self.line is not None else []
        parts = [f", row {self.row}", *parts] if self.rows else parts
        parts += [f", column {self.column!r}"] if self.column is not None else []
        return "".join(parts)

    def __str__(self) -> str:
        more = ""
        if len(self.rows) > 1:
            listed = ", ".join(map(str, self.rows[1:MOST_ROWS])) + (
                f" and {len(self.rows) - MOST_ROWS} more" if len(self.rows) > MOST_ROWS else ""
            )
            more = f" (also in row{'s' if len(self.rows) > 2 else ''} {listed})"
        return f"{self.place.removeprefix(', ') or 'file'}: {self.problem}{self.advice}{more}"

    @property
    def advice(self) -> str:
        """The suggestion as the end of a sentence; empty without one."""
        return f"; {self.suggestion}" if self.suggestion else ""

    def as_json(self) -> dict[str, Any]:
        """The problem as JSON: row, column, problem, suggestion, line, and all rows."""
        return {
            "row": self.row,
            "column": self.column,
            "problem": self.problem,
            "suggestion": self.suggestion,
            "line": self.line,
            "rows": list(self.rows),
        }


class FileError(ValueError):
    """A file that is refused as a whole; its message begins with the file's name.

    Parameters
    ----------
    name : str
        Name of the file.
    reason : str
        What is wrong with it.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name, self.reason = name, reason

    def __str__(self) -> str:
        return Sentence("{name}: {reason}", name=self.name, reason=self.reason)


def refuse_file(condition: object, name: str, reason: str) -> None:
    """Refuse a file for this reason if the condition holds."""
    if condition:
        raise FileError(name, reason)


class GuidedError(ValueError):
    """A refusal that ends with what to do instead: with a command, or on the host's page.

    Parameters
    ----------
    reason : str
        Why it is refused.
    command : str
        What commands say after the reason.
    page : str
        What pages say after it.
    """

    def __init__(self, reason: str, command: str, page: str) -> None:
        super().__init__(reason, command, page)
        self.on_page = Sentence.joined("", (reason, page))

    def __str__(self) -> str:
        return "".join(self.args[:2])


class InvalidFileError(ValueError):
    """A submitted file that breaks a rule; its message is one line about the first problem.

    Parameters
    ----------
    name : str
        Name of the file.
    problems : iterable of Problem
        At least one; the first `MOST_SHOWN` are kept.
    """

    def __init__(self, name: str, problems: Iterable[Problem]) -> None:
        listed = list(problems)
        self.name = name
        self.problems = tuple(listed[:MOST_SHOWN])
        self.total = len(listed)
        """Number of all problems."""
        first = listed[0]
        more = self.total - 1
        ending = f" (and {more} more problem{'s' if more > 1 else ''})" if more else ""
        super().__init__(f"{name}{first.place}: {first.problem}{first.advice}{ending}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.problems)

    @property
    def lines(self) -> list[str]:
        """One line for each problem, which names the file, and one for those that are not listed."""
        hidden = self.total - len(self.problems)
        ending = [f"and {hidden} more problem{'s' if hidden > 1 else ''}"] if hidden else []
        return [*(f"{self.name}, {one}" for one in self.problems), *ending]

    @property
    def counting(self) -> str:
        """How rows and lines are counted, as the end of a sentence; empty where no problem names one."""
        lines = any(one.line is not None for one in self.problems)
        rows = any(one.rows for one in self.problems)
        return "; lines count from 1, with the header" * lines + "; rows count from 0, below the header" * rows

    def as_json(self) -> dict[str, Any]:
        """The refusal as JSON: file, total number of problems, and the listed ones."""
        return {"file": self.name, "total": self.total, "problems": [one.as_json() for one in self.problems]}
