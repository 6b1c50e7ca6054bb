"""An address of the site, and who may use it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from scenarios.tournament.site.members.attempts import RateLimit
from scenarios.tournament.site.members.user import Role, User
from scenarios.tournament.site.posted_form import NO_FILES, UploadLimits
from scenarios.tournament.site.visit import Handler


class Access(Enum):
    """Who may use an address."""

    EVERYBODY = "everybody"
    MEMBERS = "the teams and the host"
    OWNER = "the team that the address names, and the host"
    TEAM = "the team that the address names"
    HOST = "the host"

    def allows(self, user: User, team: str | None) -> bool:
        """Whether a user may use an address that names `team`, if any."""
        own = user.role is Role.TEAM and user.name == team
        return {
            Access.EVERYBODY: True,
            Access.MEMBERS: user.role in (Role.TEAM, Role.HOST),
            Access.OWNER: own or user.role is Role.HOST,
            Access.TEAM: own,
            Access.HOST: user.role is Role.HOST,
        }[self]


@dataclass(frozen=True)
class Endpoint:
    """An address of the site.

    Attributes
    ----------
    method : {"GET", "POST"}
        The method; a POST must carry the token of its form.
    path : str
        Path with parameters in braces, as Starlette reads it.
    access : Access
        Who may use it.
    handler : callable
        Called with a `Visit`, returns the response.
    limits : UploadLimits
        Limits of the files of its form.
    forms : bool
        Whether a guest sees a form on this page and needs a cookie for it.
    rate : RateLimit or None
        How often a user may use it.
    """

    method: str
    path: str
    access: Access
    handler: Handler
    limits: UploadLimits = NO_FILES
    forms: bool = False
    rate: RateLimit | None = None
