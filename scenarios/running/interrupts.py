"""Ctrl-C and SIGTERM end a run in the same orderly way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """Raised in the main thread when the process is asked to end by SIGTERM."""


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM, where signals can be heard (in the main thread)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def signal_of(interrupt: KeyboardInterrupt) -> int:
    """Number of the signal that an interrupt stands for."""
    return signal.SIGTERM if isinstance(interrupt, Terminated) else signal.SIGINT


def _terminate(number: int, frame: object) -> NoReturn:
    raise Terminated
