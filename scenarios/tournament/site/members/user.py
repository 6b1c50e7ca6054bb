"""People who visit the site, and their roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """Role of a visitor, which says what the visitor may see and do."""

    HOST = "host"
    TEAM = "team"
    GUEST = "guest"


@dataclass(frozen=True)
class User:
    """A visitor.

    Attributes
    ----------
    name : str
        Name by which a team or the host logs in; empty for a guest.
    role : Role
        The role.
    """

    name: str
    role: Role


GUEST = User("", Role.GUEST)


def host_name(teams: Sequence[str]) -> str:
    """Name by which the host logs in: ``host``, or ``_host`` if a team bears that name."""
    return "_host" if "host" in {team.casefold() for team in teams} else "host"


def user_of(name: str, teams: Sequence[str]) -> User | None:
    """User with a log-in name; capital and small letters are equal. None if there is no such user."""
    folded = name.strip().casefold()
    if folded == host_name(teams):
        return User(folded, Role.HOST)
    return next((User(team, Role.TEAM) for team in teams if team.casefold() == folded), None)
