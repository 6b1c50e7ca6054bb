"""Texts of people that others see: titles of tournaments and teams, reasons and messages."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from metrics.columns import refuse, require
from metrics.columns.printable import printable

LONGEST_TITLE, LONGEST_TOURNAMENT, LONGEST_REASON, LONGEST_MESSAGE = 60, 80, 500, 4000
"""Largest lengths in characters."""


def checked_title(title: str, team: str, others: Mapping[str, str]) -> str:
    """A title of a team in any script, in Unicode's composed form and without spaces at its ends.

    Parameters
    ----------
    title : str
        The title.
    team : str
        Name of its team.
    others : mapping of str to str
        Titles of the other teams by their names.

    Raises
    ------
    ValueError
        If it is empty, longer than `LONGEST_TITLE`, holds control characters, or looks like another team's name or
        title.
    """
    given = _composed(title, f"of team {team}", LONGEST_TITLE)
    for other, theirs in others.items():
        refuse(
            other != team and alike(given) in (alike(other), alike(theirs)),
            f"title {given!r} of team {team}: is that of team {other}",
        )
    return given


def tournament_title(title: str) -> str:
    """A title of a tournament in any script, in Unicode's composed form and without spaces at its ends.

    Raises
    ------
    ValueError
        If it is empty, longer than `LONGEST_TOURNAMENT`, or holds control characters.
    """
    return _composed(title, "of the tournament", LONGEST_TOURNAMENT)


def _composed(title: str, of: str, longest: int) -> str:
    """A title in one line and in Unicode's composed form."""
    given = " ".join(unicodedata.normalize("NFC", title).split())
    shown = repr(given[:longest])
    refuse(not given or len(given) > longest, f"title {shown} {of}: must have 1 to {longest} characters")
    refuse(printable(title) != title or not given.isprintable(), f"title {shown} {of}: holds a control character")
    return given


def checked_text(text: str, what: str, longest: int) -> str:
    """A text that others see, such as a reason, without spaces at its ends.

    Raises
    ------
    ValueError
        If it is empty, too long, or holds control characters other than line breaks.
    """
    given = text.replace("\r\n", "\n").strip()
    require(given, f"{what}: must not be empty; teams see it")
    refuse(len(given) > longest, f"{what}: has {len(given)} characters, at most {longest} are allowed")
    refuse(printable(given) != given, f"{what}: holds a control character")
    return given


def checked_reason(reason: str) -> str:
    """A reason in one line; see `checked_text`."""
    return " ".join(checked_text(reason, "--reason", LONGEST_REASON).split())


def alike(name: str) -> str:
    """Form in which names are compared: equal for names that look alike."""
    return unicodedata.normalize("NFKC", name).casefold()
