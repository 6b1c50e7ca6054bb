"""Named thresholds of risk, with their sources."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.pages.number_text import exact

DEFAULT = 0.09


@dataclass(frozen=True)
class Threshold:
    """A threshold in use.

    Attributes
    ----------
    value : float
        Largest acceptable risk of a person.
    classes : int
        Smallest equivalence class that it allows: 1 / value, rounded.
    use : str
        Who uses it, and for what.
    source : str
        Where it is written.
    """

    value: float
    classes: int
    use: str
    source: str


THRESHOLDS = (
    Threshold(
        0.05, 20, "releases to everybody whose disclosure would do much harm", "El Emam (2013), Guide, chapter 16"
    ),
    Threshold(
        0.09,
        11,
        "clinical reports that are published",
        "European Medicines Agency, guidance on policy 0070, 2016; Health Canada, guidance on public release, 2019",
    ),
    Threshold(0.2, 5, "releases under a contract, to known users", "El Emam (2013), Guide, chapter 16"),
    Threshold(0.33, 3, "releases to trusted users under control", "El Emam (2013), Guide, chapter 16"),
)
"""Thresholds in ascending order."""


def threshold_words(value: float) -> str:
    """A threshold with its usual use, if it has one."""
    known = next((one for one in THRESHOLDS if one.value == value), None)
    return exact(value) if known is None else f"{exact(value)} ({known.use}; classes of {known.classes} people)"
