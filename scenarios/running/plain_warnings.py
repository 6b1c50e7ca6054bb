"""Warnings of methods in one line."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from metrics.printable import one_line


def plain_warnings() -> None:
    """Show every `UserWarning` of this process once, without the line of code that raised it.

    Methods say by such warnings what a user should know, such as that epsilon is too small. Other warnings concern
    programmers and keep Python's form.
    """
    usual = warnings.showwarning
    told: set[str] = set()

    def show(message: Any, category: type[Warning], *place: Any, **options: Any) -> None:
        if category is not UserWarning:
            usual(message, category, *place, **options)
            return
        text = one_line(message if isinstance(message, Warning) else category(message))
        if text not in told:
            told.add(text)
            print(f"warning: {text}", file=sys.stderr)

    warnings.showwarning = show
