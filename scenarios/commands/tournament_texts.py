"""Texts of ``tokumei tournament`` about submitted files: problems and receipts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scenarios.commands.common import echo

if TYPE_CHECKING:
    from scenarios.tournament.problems import InvalidFileError
    from scenarios.tournament.submitting import Receipt


@contextmanager
def listing_problems(*, as_json: bool = False) -> Iterator[None]:
    """List all problems of a refused file on standard error, and as JSON on standard output if wanted.

    Raises
    ------
    ValueError
        With the number of problems.
    """
    from scenarios.tournament.problems import InvalidFileError

    try:
        yield
    except InvalidFileError as error:
        if as_json:
            echo(json.dumps(error.as_json(), indent=2))
        say_problems(error)
        raise ValueError(f"{error.name}: refused for {_counted(error.total, 'problem')}") from None


def say_problems(error: InvalidFileError) -> None:
    """List all problems of a file, one a line."""
    for line in error.lines:
        echo(f"{error.name}, {line}" if not line.startswith("and ") else line, err=True)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show_receipt(receipt: Receipt) -> None:
    """Acknowledge an accepted file."""
    submission = receipt.submission
    kind = "table" if submission.against is None else f"attack on {submission.against}"
    rows = f"{submission.rows} row{'' if submission.rows == 1 else 's'}"
    echo(
        f"accepted: {submission.team}'s {kind}, {rows}, entry {submission.number}, "
        f"content {submission.content[:16]}, log {receipt.entry.hash[:16]}"
    )
    if receipt.utility is not None:
        utility = receipt.utility
        echo(f"utility {utility.counted:.3f} (of the table {utility.table:.3f}, of the records {utility.record:.3f})")
