"""The end of a worker process."""

from __future__ import annotations

from typing import Any


def ended(process: Any) -> int | None:
    """Wait until a process has ended, close its handles, and return its exit code.

    Garbage collection would close the handles, too, but Python drops an interrupt that comes just then.

    Parameters
    ----------
    process : multiprocessing.Process
        The process, which is about to end or was killed.
    """
    process.join()
    code: int | None = process.exitcode
    process.close()
    return code
