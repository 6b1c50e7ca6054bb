"""Ctrl-C and SIGTERM that wait until a short piece of work is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until a block ends; a second one of the same kind is heard at once.

    A library that an exception leaves at any line may keep a transaction open, and the next one then finds the database
    locked. Only the main thread hears signals: nothing changes in others.
    """
    with _waits(signal.SIGINT), _waits(signal.SIGTERM):
        yield


@contextmanager
def _waits(number: int) -> Iterator[None]:
    heard = signal.getsignal(number)
    if threading.current_thread() is not threading.main_thread() or not callable(heard):
        yield
        return
    came: list[FrameType | None] = []

    def wait(number: int, frame: FrameType | None) -> None:
        if came:
            heard(number, frame)
        came.append(frame)

    signal.signal(number, wait)
    try:
        yield
    finally:
        signal.signal(number, heard)
        if came:
            heard(number, came[0])
