"""Status and reason of a method or measurement that raised an exception."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from metrics.columns.printable import printable
from scenarios.running.methods.source_locations import defined_at, user_code_location

FRAMES = 6
"""Maximum number of traceback frames kept."""
LONGEST = 1000
"""Maximum number of characters kept of an error message."""


def status_of(error: BaseException) -> str:
    """Status of a result whose method raised this exception."""
    return "oom" if isinstance(error, MemoryError) else "error"


def reason_of(error: BaseException, code: Callable[..., Any] | None = None) -> str:
    """The error in one line, with the line of a user's own code, then its traceback, without values of variables.

    Parameters
    ----------
    error : BaseException
        The error.
    code : callable, optional
        A user's own function whose answer caused it; named if the traceback has no line of a user's code.
    """
    frames = traceback.format_list(traceback.extract_tb(error.__traceback__)[-FRAMES:])
    try:
        message = printable(" ".join(str(error).split()))[:LONGEST]
    except Exception:
        message = "(the error has no readable message)"
    place = user_code_location(error) or (defined_at(code) if code else "")
    return f"{type(error).__name__}: {message}{place}\n{''.join(frames)}".rstrip()
