"""Packages of the installation: versions, and what an extra lacks."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from packaging.requirements import Requirement
from packaging.version import InvalidVersion

from leaderboard.results.version import version

# What a check of the installation found.


@dataclass(frozen=True)
class Diagnosis:
    """What one check found.

    Parameters
    ----------
    check : str
        What was checked, in a few words.
    status : {"ok", "note", "failed"}
        A note concerns something optional; a failure hinders work.
    text : str
        What was found, in one line.
    advice : str
        What would help; empty if nothing is amiss.
    details : dict
        The same for a script.
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
    """Required packages, and one finding for each extra.

    Parameters
    ----------
    requirements : iterable of str, optional
        Requirements as the metadata of a distribution state them; by default those of Tokumei.
    extras : iterable of str
        Names of the extras to which requirements belong; by default those of Tokumei.
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
