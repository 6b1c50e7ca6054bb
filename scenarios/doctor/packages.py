"""Packages of the installation: versions, and what an extra lacks."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable
from importlib import metadata

from leaderboard.version import version
from scenarios.doctor.diagnosis import Diagnosis

OLDEST = (3, 11)
"""Oldest version of Python."""
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_BOUND = re.compile(r"(>=|<=|==|!=|<|>)\s*([\w.]+)")


def check_python() -> Diagnosis:
    """Versions of Python and of Tokumei, and the machine."""
    here = f"Python {platform.python_version()}, tokumei {version()}, {platform.system()} {platform.machine()}"
    details = {"python": platform.python_version(), "tokumei": version(), "system": platform.system()}
    if sys.version_info[:2] < OLDEST:
        return Diagnosis("python", "failed", here, f"Python {'.'.join(map(str, OLDEST))} or newer is needed", details)
    return Diagnosis("python", "ok", here, "", details)


def check_packages(requirements: Iterable[str] | None = None) -> list[Diagnosis]:
    """Required packages, and one finding for each extra.

    Parameters
    ----------
    requirements : iterable of str, optional
        Requirements as the metadata of a distribution state them; by default those of Tokumei.
    """
    if requirements is None:
        try:
            requirements = metadata.requires("tokumei") or ()
        except metadata.PackageNotFoundError:
            return [Diagnosis("packages", "note", "only the source of tokumei is there", "pip install .")]
    groups: dict[str, list[str]] = {"": []}
    for requirement in requirements:
        text, _, marker = requirement.partition(";")
        extra = _EXTRA.search(marker)
        if not text.strip().startswith("tokumei"):
            groups.setdefault(extra[1] if extra else "", []).append(text.strip())
    return [_group(extra, texts) for extra, texts in groups.items()]


def unmet(requirement: str) -> str:
    """Why a requirement is not met, in a few words; empty if it is.

    Examples
    --------
    >>> unmet("surely-not-there>=1")
    'surely-not-there is missing'
    >>> unmet("numpy>=1.26,<1000")
    ''
    """
    name = _NAME.match(requirement)
    if name is None:
        return ""
    try:
        installed = metadata.version(name[0])
    except metadata.PackageNotFoundError:
        return f"{name[0]} is missing"
    bounds = _BOUND.findall(requirement)
    return (
        "" if all(_meets(installed, *bound) for bound in bounds) else f"{requirement} is needed, {installed} is there"
    )


def _group(extra: str, requirements: list[str]) -> Diagnosis:
    lacking = [text for requirement in requirements if (text := unmet(requirement))]
    versions = {}
    for requirement in requirements:
        name = _NAME.match(requirement)
        if name is not None and not unmet(requirement).endswith("is missing"):
            versions[name[0]] = metadata.version(name[0])
    details = {"versions": versions, "lacking": lacking}
    check = f"extra {extra}" if extra else "packages"
    if not lacking:
        names = ", ".join(f"{name} {number}" for name, number in versions.items())
        return Diagnosis(check, "ok", names or "nothing needed", "", details)
    command = f"pip install 'tokumei[{extra}]'" if extra else "pip install --upgrade tokumei"
    return Diagnosis(check, "note" if extra else "failed", "; ".join(lacking), command, details)


def _meets(installed: str, sign: str, bound: str) -> bool:
    """Whether a version meets a bound; only the leading numbers are compared."""
    have, want = _numbers(installed), _numbers(bound)
    length = max(len(have), len(want))
    have, want = (have + (0,) * (length - len(have)), want + (0,) * (length - len(want)))
    return {
        ">=": have >= want,
        "<=": have <= want,
        "==": have == want,
        "!=": have != want,
        "<": have < want,
        ">": have > want,
    }[sign]


def _numbers(version_text: str) -> tuple[int, ...]:
    match = re.match(r"\d+(?:\.\d+)*", version_text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()
