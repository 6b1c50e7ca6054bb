"""Outcomes of submitted files as JSON, for pages and scripts."""

from __future__ import annotations

from typing import Any

from metrics.columns.printable import one_line
from scenarios.tournament.rules.problems import InvalidFileError
from scenarios.tournament.rules.submitting import Receipt


def accepted_outcome(name: str, receipt: Receipt) -> dict[str, Any]:
    """Outcome of an accepted file as JSON.

    Parameters
    ----------
    name : str
        Name of the file.
    receipt : Receipt
        Its receipt.

    Returns
    -------
    dict
        ``file``, ``accepted`` (true), ``message``, ``problems`` (none) and ``receipt``.
    """
    submission = receipt.submission
    plural = "" if submission.rows == 1 else "s"
    return {
        "file": name,
        "accepted": True,
        "message": ", ".join(["accepted", *(receipt.notes or [f"{submission.rows} row{plural}"])]),
        "problems": [],
        "receipt": {
            "number": submission.number,
            "time": receipt.entry.arrived,
            "sha256": submission.content,
            "log": receipt.entry.hash,
            "rows": submission.rows,
            "against": submission.against,
        },
    }


def outcome(name: str, one: Receipt | ValueError | OSError) -> dict[str, Any]:
    """Outcome of a file as JSON, whether it was accepted or refused."""
    return accepted_outcome(name, one) if isinstance(one, Receipt) else refused_outcome(name, one)


def refused_outcome(name: str, error: ValueError | OSError) -> dict[str, Any]:
    """Outcome of a refused file as JSON.

    Parameters
    ----------
    name : str
        Name of the file.
    error : ValueError or OSError
        Why it was refused.

    Returns
    -------
    dict
        ``file``, ``accepted`` (false), ``message`` and ``problems``, each with row, column and what would be right. If
        the file breaks rules, also ``total``, the number of all problems.
    """
    if isinstance(error, InvalidFileError):
        content = error.as_json()
        message = f"{counted_problems(error)}; nothing was submitted"
        return {"file": name, "accepted": False, "message": message} | {k: content[k] for k in ("total", "problems")}
    return unsubmitted(one_line(error), name)


def unsubmitted(message: str, name: str) -> dict[str, Any]:
    """Outcome, as JSON, of a file that was not submitted for one reason."""
    return {"file": name, "accepted": False, "message": message, "problems": []}


def counted_problems(error: InvalidFileError) -> str:
    """Number of a file's problems, such as ``1 problem``."""
    return f"{error.total} problem{'' if error.total == 1 else 's'}"
