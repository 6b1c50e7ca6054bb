"""Where the code of a class or function stands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from metrics.printable import printable


def defined_at(thing: type[Any] | Callable[..., Any]) -> str:
    """File and line of a class or function, for the end of a message.

    Parameters
    ----------
    thing : class or function
        What to look up.

    Returns
    -------
    str
        Such as `` (mine.py, line 9)``, or an empty text if there is no source file, as in a console.

    Examples
    --------
    >>> defined_at(len)
    ''
    """
    try:
        file, line = inspect.getsourcefile(thing), inspect.getsourcelines(thing)[1]
    except (OSError, TypeError):
        return ""
    return printable(f" ({Path(file).name}, line {line})") if file else ""
