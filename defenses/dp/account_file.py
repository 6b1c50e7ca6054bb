"""The file of a privacy account, TOML or JSON: written atomically, and by one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metrics.columns.files import write_atomically
from metrics.columns.parameters import check_real, require

Costs = Counter[tuple[float, float, float | None]]
"""Number of times that each cost (epsilon, delta, rho) was spent; rho is None where an answer has none."""

TOML = ".toml"
"""Ending of the names of accounts that are written as TOML."""
HEADER = "# Privacy account. Do not edit: an answer is paid for once, and what is erased here was still published.\n"


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
    about : dict of str
        What the account is about: texts by name.
    """

    account: str
    epsilon: float
    delta: float
    costs: Costs
    about: dict[str, str] = field(default_factory=dict)


def account_path(path: str | Path) -> Path:
    """Path of an account's file, behind a symbolic link: each write would replace the link by a second account."""
    path = Path(path)
    return path.resolve() if path.is_symlink() else path


def read_entries(path: Path) -> Entries:
    """Read the file of an account: TOML if its name ends in ``.toml``, otherwise JSON.

    Raises
    ------
    ValueError
        If the file cannot be read, holds no account, or has a second name that would keep the old costs (a hard link).
    """
    try:
        names = path.stat().st_nlink
        text = path.read_text(encoding="utf-8")
        entries = _from_toml(text) if path.suffix == TOML else _from_json(text)
    except OSError as error:
        raise ValueError(f"path: {path} cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"path: {path} holds no account ({type(error).__name__})") from None
    require(
        names <= 1, f"path: {path} has {names} names (hard links), and the others would keep the old costs; remove them"
    )
    for cost in entries.costs:
        check_cost(*cost)
    return entries


def write_entries(path: Path, entries: Entries) -> None:
    """Replace the file atomically: after a crash it holds either the old entries or the new ones."""
    text = _to_toml(entries) if path.suffix == TOML else _to_json(entries)
    write_atomically(path, text.encode(), durable=True)


def _from_json(text: str) -> Entries:
    content = json.loads(text)
    costs: Costs = Counter()
    for e, d, r, number in content["costs"]:
        costs[e, d, r] += _number(number)
    return _entries(content, costs)


def _to_json(entries: Entries) -> str:
    return json.dumps(
        {
            "account": entries.account,
            "epsilon": entries.epsilon,
            "delta": entries.delta,
            **({"about": entries.about} if entries.about else {}),
            "costs": [[*cost, number] for cost, number in entries.costs.items()],
        }
    )


def _from_toml(text: str) -> Entries:
    content = tomllib.loads(text)
    costs: Costs = Counter()
    for cost in content.get("costs", []):
        costs[cost["epsilon"], cost["delta"], cost.get("rho")] += _number(cost["answers"])
    return _entries(content, costs)


def _to_toml(entries: Entries) -> str:
    import tomli_w

    costs = [
        {"epsilon": e, "delta": d, **({} if rho is None else {"rho": rho}), "answers": number}
        for (e, d, rho), number in entries.costs.items()
    ]
    budget = {"account": entries.account, "epsilon": entries.epsilon, "delta": entries.delta}
    return HEADER + tomli_w.dumps({**budget, "about": entries.about, "costs": costs})


def _entries(content: Any, costs: Costs) -> Entries:
    about = content.get("about", {})
    if not isinstance(about, dict) or not all(isinstance(value, str) for value in about.values()):
        raise TypeError
    return Entries(str(content["account"]), content["epsilon"], content["delta"], costs, about)


def _number(value: Any) -> int:
    """Return a number of answers; TypeError unless it is an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise TypeError
    return value


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
    check_real("rho", rho, low=0, optional=True)
