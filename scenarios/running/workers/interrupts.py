"""Orderly end of a run after Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """Raised in the main thread when the process receives SIGTERM."""


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM; only the main thread can receive signals, other threads do nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def signal_of(interrupt: KeyboardInterrupt) -> int:
    """Number of the signal that caused an interrupt."""
    return signal.SIGTERM if isinstance(interrupt, Terminated) else signal.SIGINT


def _terminate(number: int, frame: object) -> NoReturn:
    raise Terminated
