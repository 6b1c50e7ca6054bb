"""Where the code of a class or function stands, and what is said of an exception in it."""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from metrics.columns import one_line
from metrics.columns.printable import printable
from scenarios.running.methods.former_modules import PACKAGES

# The line of a user's code that an exception comes from.

_ROOT = Path(__file__).parents[3]
_PROJECT = (*(str(_ROOT / package) for package in PACKAGES), str(_ROOT / "tokumei.py"))
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def complaint(error: BaseException) -> str:
    """Message of an exception in one line, with the line of a user's code.

    The environment variable TOKUMEI_TRACEBACK, if not empty, adds its traceback on standard error.
    """
    if os.environ.get("TOKUMEI_TRACEBACK"):
        traceback.print_exception(error, file=sys.stderr)
    return f"{one_line(error)}{user_code_location(error)}"


def user_code_location(error: BaseException) -> str:
    """File and line of the innermost frame in code that is neither the project's nor installed.

    It is a text such as `` (mine.py, line 9)``, empty if there is no such frame.

    Examples
    --------
    >>> try:
    ...     {}["age"]
    ... except KeyError as error:
    ...     user_code_location(error)
    ''
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not is_installed(frame.filename) and not frame.filename.startswith(("<", *_PROJECT)):
            return _location(frame.filename, frame.lineno)
    return ""


def is_installed(file: str) -> bool:
    """Whether a file belongs to the standard library or to an installed package."""
    return bool({"site-packages", "dist-packages"} & set(Path(file).parts)) or file.startswith(_INSTALLED)


def _location(file: str, line: int | None) -> str:
    return printable(f" ({Path(file).name}, line {line})")


def defined_at(thing: type[Any] | Callable[..., Any]) -> str:
    """File and line of a class or function, for the end of a message.

    It is a text such as `` (mine.py, line 9)``, empty if there is no source file, as in a console.

    Examples
    --------
    >>> defined_at(len)
    ''
    """
    try:
        file, line = inspect.getsourcefile(thing), inspect.getsourcelines(thing)[1]
    except (OSError, TypeError):
        return ""
    return _location(file, line) if file else ""


# Status and reason of a method or measurement that raised an exception.


FRAMES = 6
"""Maximum number of traceback frames kept."""
LONGEST = 1000
"""Maximum number of characters kept of an error message."""


def status_of(error: BaseException) -> str:
    """Status of a result whose method raised this exception."""
    return "oom" if isinstance(error, MemoryError) else "error"


def reason_of(error: BaseException, code: Callable[..., Any] | None = None) -> str:
    """The error in one line, with the line of the user's code, then its traceback, without values of variables.

    - code: A user's function whose answer caused it; named if the traceback has no line of a user's code.
    """
    frames = traceback.format_list(traceback.extract_tb(error.__traceback__)[-FRAMES:])
    try:
        message = printable(" ".join(str(error).split()))[:LONGEST]
    except Exception:
        message = "(the error has no readable message)"
    place = user_code_location(error) or (defined_at(code) if code else "")
    return f"{type(error).__name__}: {message}{place}\n{''.join(frames)}".rstrip()
