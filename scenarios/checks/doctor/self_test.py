"""Self-test: a tiny play in a worker process, an attack that must succeed, and guards that must alarm."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from packaging.requirements import Requirement
from packaging.version import InvalidVersion

import leaderboard as lb
from leaderboard.pages.number_text import counted
from leaderboard.results.store import Store, documents_table, without_password
from leaderboard.results.version import version
from metrics.columns import Floats
from scenarios.running.boards.board_result import BoardResult
from scenarios.running.boards.play_board import run

# Packages of the installation: versions, and what an extra lacks.

# What a check of the installation found.


@dataclass(frozen=True)
class Diagnosis:
    """What one check found.

    - check: What was checked, in a few words.
    - status, {"ok", "note", "failed"}: A note concerns something optional; a failure hinders work.
    - text: What was found, in one line.
    - advice: What would help; empty if nothing is amiss.
    - details: The same for a script.
    """

    check: str
    status: str
    text: str
    advice: str = ""
    details: dict[str, Any] = field(default_factory=dict)


OLDEST = (3, 11)
"""Oldest version of Python."""


def check_python() -> Diagnosis:
    """Versions of Python and of Tokumei, and the machine."""
    here = f"Python {platform.python_version()}, tokumei {version()}, {platform.system()} {platform.machine()}"
    details = {"python": platform.python_version(), "tokumei": version(), "system": platform.system()}
    if sys.version_info[:2] < OLDEST:
        return Diagnosis("python", "failed", here, f"Python {'.'.join(map(str, OLDEST))} or newer is needed", details)
    return Diagnosis("python", "ok", here, "", details)


def check_packages(requirements: Iterable[str] | None = None, extras: Iterable[str] = ()) -> list[Diagnosis]:
    """Required packages, and one finding for each extra; by default those of Tokumei.

    Requirements are as the metadata of a distribution state them.
    """
    if requirements is None:
        try:
            stated = metadata.metadata("tokumei")
        except metadata.PackageNotFoundError:
            return [Diagnosis("packages", "note", "only the source of tokumei is there", "pip install .")]
        requirements, extras = stated.get_all("Requires-Dist") or (), stated.get_all("Provides-Extra") or ()
    others = [one for one in map(Requirement, requirements) if one.name != "tokumei"]
    always = [one for one in others if _applies(one, "")]
    optional = [one for one in others if one not in always]
    return [
        _finding("", always),
        *(_finding(extra, [one for one in optional if _applies(one, extra)]) for extra in extras),
    ]


def unmet(requirement: Requirement) -> str:
    """Why a requirement is not met, in a few words; empty if it is.

    Examples
    --------
    >>> unmet(Requirement("surely-not-there>=1"))
    'surely-not-there is missing'
    >>> unmet(Requirement("numpy>=1.26,<1000"))
    ''
    """
    installed = _installed(requirement.name)
    if installed is None:
        return f"{requirement.name} is missing"
    try:
        met = requirement.specifier.contains(installed, prereleases=True)
    except InvalidVersion:
        met = False
    return "" if met else f"{requirement.name}{requirement.specifier} is needed, {installed} is there"


def _applies(requirement: Requirement, extra: str) -> bool:
    """Whether this machine needs a requirement for an extra; the empty name is the installation without extras."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _installed(name: str) -> str | None:
    """Version of a package, or nothing if it is missing."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _finding(extra: str, requirements: Sequence[Requirement]) -> Diagnosis:
    lacking = [text for requirement in requirements if (text := unmet(requirement))]
    versions = {one.name: number for one in requirements if (number := _installed(one.name)) is not None}
    details = {"versions": versions, "lacking": lacking}
    check = f"extra {extra}" if extra else "packages"
    if not lacking:
        names = ", ".join(f"{name} {number}" for name, number in versions.items())
        return Diagnosis(check, "ok", names or "nothing needed", "", details)
    command = f"pip install 'tokumei[{extra}]'" if extra else "pip install --upgrade tokumei"
    return Diagnosis(check, "note" if extra else "failed", "; ".join(lacking), command, details)


# Places that are written to: the database of results, and the folder of temporary files.

SCARCE = 1 << 30
"""Bytes of free space below which a note is given."""


class _RollbackError(Exception):
    """Ends a transaction without its changes."""


def check_database(db: str) -> Diagnosis:
    """Whether the database can be opened and written to; nothing in it changes, and none is created.

    The database is an SQLite file or an SQLAlchemy URL.
    """
    new = "://" not in db and not Path(db).exists()
    advice = "name another place with --db"
    try:
        if new:
            with tempfile.TemporaryDirectory(dir=Path(db).absolute().parent) as folder:
                _write(str(Path(folder, "new.db")))
            return Diagnosis("database", "ok", f"{db} does not exist yet and can be made")
        count = _write(db)
    except (ValueError, OSError) as error:
        return Diagnosis("database", "failed", str(error), advice)
    return Diagnosis(
        "database",
        "ok",
        f"{without_password(db)} can be written to; it holds {counted(count, 'result')}",
        "",
        {"results": count},
    )


def check_space(folder: Path | None = None) -> Diagnosis:
    """Free space for temporary files, which tables that exceed memory need."""
    where = Path(tempfile.gettempdir()) if folder is None else folder
    free = shutil.disk_usage(where).free
    text = f"{where} has {free / (1 << 30):.1f} GiB of free space"
    if free < SCARCE:
        return Diagnosis("space", "note", text, "set TMPDIR to a larger folder", {"bytes": free})
    return Diagnosis("space", "ok", text, "", {"bytes": free})


def _write(db: str) -> int:
    """Write to a database, undo it, and count its results."""
    with Store(db) as store:
        count = len(store.results())
        try:
            with store.transaction() as connection:
                connection.execute(documents_table.insert(), {"hash": "doctor", "content": "{}"})
                raise _RollbackError
        except _RollbackError:
            return count


BOUND = 0.3
"""Bound of the advantage that a table of constants must meet, and the original table must miss."""
RUNS = 20_000
"""Runs of each audited mechanism on each input."""
CLAIMED, TRUE_EPSILON = 0.5, 1.0
"""Epsilon that the broken mechanism claims, and that of its answers."""
ADVICE = "the results of this installation cannot be trusted; please report this with the output of --json"


def check_play(play: Callable[[], BoardResult] | None = None) -> list[Diagnosis]:
    """Play the original table and a table of constants against one attack, and compare the board with what is known.

    `play` makes the board instead of a worker process.
    """
    began = time.monotonic()
    try:
        board = play() if play is not None else _played()
    except Exception as error:
        return [
            Diagnosis("workers", "failed", f"no worker process could play: {type(error).__name__}: {error}", ADVICE)
        ]
    seconds = time.monotonic() - began
    if board.failures or not board.rows:
        reason = board.failures[0].reason if board.failures else "there is no result"
        return [Diagnosis("workers", "failed", f"the plays failed: {reason}", ADVICE)]
    return [
        Diagnosis("workers", "ok", f"a worker process played {len(board.results)} results in {seconds:.1f} s"),
        _attack(board),
        _gate(board),
    ]


def check_audit(rng: Generator | None = None) -> Diagnosis:
    """Audit a randomized response that claims half of its epsilon, which must be refuted, and one that is honest.

    Both verdicts are right with probability 99.9 % or more each.
    """
    from scenarios.checks.audits.audit import Neighbours, Subject, audit

    rng = np.random.default_rng(1) if rng is None else rng

    def answers(truth: bool) -> Callable[[int, Generator], Floats]:
        probability = 1 / (1 + np.exp(-TRUE_EPSILON if truth else TRUE_EPSILON))
        return lambda runs, rng: (rng.random((runs, 1)) < probability).astype(float)

    pair = (Neighbours("no or yes", answers(False), answers(True)),)
    broken, honest = (audit(Subject("coin", claim, 0.0, pair), runs=RUNS, rng=rng) for claim in (CLAIMED, TRUE_EPSILON))
    text = f"epsilon is at least {broken.bound:.2f} where {CLAIMED:g} is claimed"
    if broken.holds or not honest.holds:
        return Diagnosis(
            "audit", "failed", f"{text}, at least {honest.bound:.2f} where {TRUE_EPSILON:g} is true", ADVICE
        )
    return Diagnosis("audit", "ok", f"a broken mechanism is refuted ({text}), an honest one is not")


def _played() -> BoardResult:
    return run("bank", defenses=["Identity", "Constant"], attacks=["NearestNeighbour"], plays=3, jobs=1)


def _attack(board: BoardResult) -> Diagnosis:
    """The attack must find every row of the original table."""
    frame = board.to_frame()
    smallest = float(frame[frame["defense"] == "Identity"]["advantage"].min())
    text = f"the attack on the original table has advantage {smallest:.2f}"
    return Diagnosis("attack", "ok", text) if smallest > 0.9 else Diagnosis("attack", "failed", f"only: {text}", ADVICE)


def _gate(board: BoardResult) -> Diagnosis:
    """The gate must refuse the original table, and let the table of constants pass."""
    checks = lb.gate_checks(board.results, lb.GateBounds(max_advantage={None: BOUND}))
    refused = {check.defense for check in checks if not check.passed}
    if refused == {"Identity"}:
        return Diagnosis("gate", "ok", f"a bound of {BOUND:g} refuses the original table, and no table of constants")
    return Diagnosis(
        "gate", "failed", f"a bound of {BOUND:g} refuses {', '.join(sorted(refused)) or 'nothing'}", ADVICE
    )
