"""Texts of ``tokumei tournament`` about submitted files: problems and receipts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scenarios.commands.common import echo
from scenarios.tables.toml.json_text import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from scenarios.tournament.rules.folder import Tournament
    from scenarios.tournament.rules.problems import InvalidFileError
    from scenarios.tournament.rules.submitting import Receipt


@contextmanager
def listing_problems(*, as_json: bool = False) -> Iterator[None]:
    """List all problems of a refused file on standard error, and as JSON on standard output if wanted.

    Raises
    ------
    ValueError
        With the number of problems, and how rows and lines are counted.
    """
    from scenarios.tournament.host.outcomes import counted_problems
    from scenarios.tournament.rules.problems import InvalidFileError

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
        echo(f"{error.name}, {line}" if not line.startswith("and ") else line, err=True)


def show_receipt(receipt: Receipt) -> None:
    """Acknowledge an accepted file."""
    submission = receipt.submission
    kind = "table" if submission.against is None else f"attack on {submission.against}"
    rows = f"{submission.rows} row{'' if submission.rows == 1 else 's'}"
    echo(
        f"accepted: {submission.team}'s {kind}, {rows}, entry {submission.number}, "
        f"content {submission.content[:16]}, log {receipt.entry.hash[:16]}"
    )
    for note in receipt.notes:
        echo(note)
    if receipt.utility is not None:
        utility = receipt.utility
        echo(f"utility {utility.counted:.3f} (of the table {utility.table:.3f}, of the records {utility.record:.3f})")


def show_outcomes(tournament: Tournament, team: str, files: Sequence[Path], now: datetime, against: str | None) -> None:
    """Submit files, and write a JSON list with the receipt or the problems of each.

    Raises
    ------
    ValueError
        If a file was refused; the list is written even so.
    """
    from scenarios.tournament.host.outcomes import accepted_outcome, refused_outcome
    from scenarios.tournament.rules.submitting import submit

    tournament.team_folder(team)
    check_one_target(files, against)
    outcomes = []
    for file in files:
        try:
            outcomes.append(accepted_outcome(file.name, submit(tournament, team, file, now, against=against)))
        except ValueError as error:
            outcomes.append(refused_outcome(file.name, error))
    echo(json_text(outcomes))
    check_all_accepted(sum(not one["accepted"] for one in outcomes), len(files))


def check_one_target(files: Sequence[Path], against: str | None) -> None:
    """Refuse a target that several files would share.

    Raises
    ------
    ValueError
        If there are several files and a target.
    """
    if against is not None and len(files) > 1:
        raise ValueError(f"--against is for one file, but {len(files)} are given")


def check_all_accepted(refused: int, count: int) -> None:
    """Say how many files were refused.

    Raises
    ------
    ValueError
        If any was.
    """
    if refused and count == 1:
        raise ValueError("the file was refused")
    if refused:
        raise ValueError(f"{refused} of {count} files were refused, the others are accepted")
