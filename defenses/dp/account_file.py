"""The file of a privacy account: written atomically, and by one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from defenses.base.parameters import check_real
from metrics.files import write_atomically

Costs = Counter[tuple[float, float, float | None]]
"""Number of times that each cost (epsilon, delta, rho) was spent; rho is None where an answer has none."""


@dataclass(frozen=True)
class Entries:
    """Contents of an account's file.

    Attributes
    ----------
    account : str
        Class name of the account.
    epsilon, delta : float
        The budget.
    costs : Counter
        The costs spent.
    """

    account: str
    epsilon: float
    delta: float
    costs: Costs


def read_entries(path: Path) -> Entries:
    """Read the file of an account.

    Raises
    ------
    ValueError
        If the file cannot be read or holds no account.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        costs: Costs = Counter()
        for e, d, r, number in content["costs"]:
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise TypeError
            costs[e, d, r] += number
        entries = Entries(str(content["account"]), content["epsilon"], content["delta"], costs)
    except OSError as error:
        raise ValueError(f"path: {path} cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"path: {path} holds no account ({type(error).__name__})") from None
    for cost in costs:
        check_cost(*cost)
    return entries


def write_entries(path: Path, entries: Entries) -> None:
    """Replace the file atomically: after a crash it holds either the old entries or the new ones."""
    text = json.dumps(
        {
            "account": entries.account,
            "epsilon": entries.epsilon,
            "delta": entries.delta,
            "costs": [[*cost, number] for cost, number in entries.costs.items()],
        }
    )
    write_atomically(path, text.encode(), durable=True)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Lock a file against other processes, and other accounts of this process, until the block ends."""
    # The lock is on the folder, because every write replaces the file itself.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def check_cost(epsilon: float, delta: float, rho: float | None) -> None:
    """Check a cost.

    Raises
    ------
    ValueError
        If epsilon or rho is not a finite number of at least 0, or delta is not in [0, 1).
    """
    check_real("epsilon", epsilon, low=0)
    check_real("delta", delta, low=0, high=1, open_high=True)
    if rho is not None:
        check_real("rho", rho, low=0)
