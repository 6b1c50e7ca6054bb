"""What a check of the installation found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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
