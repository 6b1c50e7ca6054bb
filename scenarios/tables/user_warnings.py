"""Warnings that methods give their users, as texts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from metrics.columns import one_line


@contextmanager
def user_warnings() -> Iterator[list[str]]:
    """Collect the text of each `UserWarning` once, on one line; other warnings are shown at the end, as usual."""
    texts: list[str] = []
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield texts
    finally:
        texts += dict.fromkeys(
            one_line(UserWarning(entry.message)) for entry in caught if entry.category is UserWarning
        )
        for entry in caught:
            if entry.category is not UserWarning:
                warnings.showwarning(entry.message, entry.category, entry.filename, entry.lineno)
