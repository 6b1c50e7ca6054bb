"""What a run ran on: version, revision, machine, packages."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from scenarios.running.fingerprint import versions


def provenance(scenarios: Sequence[str], folder: Path | None = None) -> dict[str, Any]:
    """What to record with a run of these scenarios.

    Parameters
    ----------
    scenarios : sequence of str
        Their names.
    folder : Path, optional
        Whose revision under version control to record; the current folder by default, where the code lies that is
        being worked on.
    """
    return {
        "scenarios": list(scenarios),
        "version": metadata.version("tokumei"),
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
    """Git revision of a folder, with ``+`` where its files differ from it; nothing where there is none."""
    head = _git(folder, "rev-parse", "HEAD")
    return head + "+" if head and _git(folder, "status", "--porcelain", "--untracked-files=no") else head


def revision_named(folder: Path, name: str) -> str:
    """Revision that a branch, a tag or ``HEAD~1`` stands for in a folder; nothing where there is no such thing."""
    return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)  # noqa: S603 (fixed words)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
