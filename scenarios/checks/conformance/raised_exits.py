"""Calls of `os._exit` that raise, so that a method under test cannot end its check without a word."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def raised_exits() -> Iterator[None]:
    """Let `os._exit` raise SystemExit in this process, which checks report as any other failure.

    Processes that are forked within end as usual.
    """
    ends, process = os._exit, os.getpid()

    def raises(status: int) -> NoReturn:
        if os.getpid() != process:
            ends(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = raises
    try:
        yield
    finally:
        os._exit = ends
