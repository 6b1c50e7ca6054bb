"""Texts of ``tokumei tournament`` about submitted files: problems and receipts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenarios.commands.common import echo
from scenarios.tables.toml.json_text import json_text
from scenarios.tournament.rules.problems import InvalidFileError

if TYPE_CHECKING:
    from scenarios.tournament.rules import CheckReport, Receipt, Tournament

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


def on_tournament(command: Callable[..., None]) -> Callable[..., None]:
    """The argument FOLDER of a command, which gets the opened tournament; its errors are bad input."""

    @click.argument("folder", type=FOLDER)
    @wraps(command)
    def opened(folder: Path, **others: Any) -> None:
        from scenarios.tournament.rules.folder import Tournament

        command(Tournament(folder), **others)

    return opened


def decision(command: Callable[..., str]) -> Callable[..., None]:
    """A decision of the host about a tournament: what the command returns is said, and everybody's notices follow."""

    @on_tournament
    @wraps(command)
    def decided(tournament: Tournament, **others: Any) -> None:
        echo(command(tournament, **others))
        publish_notices(tournament)

    return decided


def publish_notices(tournament: Tournament) -> None:
    """Write what everybody should read; the log has it in any case."""
    from scenarios.tournament.host.decisions import write_notices

    for reason in write_notices(tournament):
        say(f"warning: {reason}")


def say(text: str) -> None:
    """Write a line for the user, who may redirect the output, to standard error."""
    echo(text, err=True)


def now() -> datetime:
    """The current time."""
    return datetime.now(UTC)


@contextmanager
def listing_problems(*, as_json: bool = False) -> Iterator[None]:
    """List all problems of a refused file on standard error, and as JSON on standard output if wanted.

    Then a ValueError is raised with the number of problems, and how rows and lines are counted.
    """
    from scenarios.tournament.rules.submitting import counted_problems

    try:
        yield
    except InvalidFileError as error:
        if as_json:
            echo(json_text(error.as_json()))
        say_problems(error)
        raise ValueError(f"{error.name}: refused for {counted_problems(error)}{error.counting}") from None


def say_problems(error: InvalidFileError) -> None:
    """List all problems of a file, one a line."""
    for line in error.lines:
        say(line)


def show_receipt(receipt: Receipt) -> None:
    """Acknowledge an accepted file."""
    submission = receipt.submission
    rows = f"{submission.rows} row{'' if submission.rows == 1 else 's'}"
    echo(
        f"accepted: {submission.team}'s {submission.kind}, {rows}, entry {submission.number}, "
        f"content {submission.content[:16]}, log {receipt.entry.hash[:16]}"
    )
    for note in receipt.notes:
        echo(note)
    if receipt.utility is not None:
        utility = receipt.utility
        parts = utility.listed or {"of the table": utility.table, "of the records": utility.record}
        echo(f"utility {utility.counted:.3f} ({', '.join(f'{name} {value:.3f}' for name, value in parts.items())})")


def show_check(report: CheckReport, form: str) -> None:
    """Show what a check of a table found."""
    from scenarios.tournament.rules.checking import check_report_to_json, check_report_to_terminal

    echo(check_report_to_json(report) if form == "json" else check_report_to_terminal(report))
