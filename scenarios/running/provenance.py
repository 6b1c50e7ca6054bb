"""Provenance of a run: version, revision, machine and packages."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leaderboard.results.version import version
from scenarios.running.methods.fingerprint import versions


def provenance(scenarios: Sequence[str], folder: Path | None = None) -> dict[str, Any]:
    """Provenance to record with a run of these scenarios.

    Parameters
    ----------
    scenarios : sequence of str
        Names of the scenarios.
    folder : Path, optional
        Folder whose Git revision is recorded, by default the current one, which usually holds the user's code.
    """
    return {
        "scenarios": list(scenarios),
        "version": version(),
        "revision": revision(folder or Path.cwd()),
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "packages": dict(versions()),
    }


def revision(folder: Path) -> str:
    """Git revision of a folder, with ``+`` if files have changed since; empty without a repository."""
    head = _git(folder, "rev-parse", "HEAD")
    return head + "+" if head and _git(folder, "status", "--porcelain", "--untracked-files=no") else head


def revision_named(folder: Path, name: str) -> str:
    """Git revision of a branch, a tag or an expression such as ``HEAD~1``; empty if it does not exist."""
    return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)  # noqa: S603 (fixed words)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
