"""One request with its visitor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from scenarios.tournament.site.members.account_store import form_token
from scenarios.tournament.site.members.user import Role, User
from scenarios.tournament.site.once import FormKey
from scenarios.tournament.site.posted_form import PostedForm
from scenarios.tournament.site.site import Site
from scenarios.tournament.site.timed_protocol import ARRIVED


@dataclass(frozen=True)
class Visit:
    """One request, with what is known about its visitor.

    Attributes
    ----------
    request : Request
        The request.
    site : Site
        The site.
    user : User
        The visitor; a guest if nobody has logged in.
    cookie : str
        Secret cookie from which the tokens of forms are derived; empty if pages without forms only are visited.
    form : PostedForm
        The posted form; empty for other requests.
    """

    request: Request
    site: Site
    user: User
    cookie: str = ""
    form: PostedForm = field(default_factory=lambda: PostedForm({}))

    @property
    def arrived(self) -> datetime:
        """When the last byte of the request arrived, by the server's clock; the body must have been read."""
        now = asyncio.get_running_loop().time()
        return self.site.clock() - timedelta(seconds=now - self.request.scope.get(ARRIVED, now))

    @property
    def wants_json(self) -> bool:
        """Whether the answer is for a script."""
        accepted = self.request.headers.get("accept", "")
        return "application/json" in accepted and "text/html" not in accepted

    @property
    def form_token(self) -> str:
        """Token that the page's forms send back."""
        return form_token(self.cookie) if self.cookie else ""

    @property
    def form_key(self) -> FormKey:
        """What tells this form, sent again, from another one."""
        return FormKey(self.user.name, self.form.text("once")[:64], self.request.url.path, self.form.fingerprint)

    def outcome(self) -> dict[str, Any] | None:
        """Outcome of the form whose number the address names as ``seen``; None if it is not known."""
        return self.site.once.seen(self.user.name, self.request.query_params.get("seen", ""))

    @property
    def team(self) -> str:
        """Team that the address names."""
        return str(self.request.path_params["team"])

    @property
    def is_host(self) -> bool:
        """Whether the visitor is the host."""
        return self.user.role is Role.HOST

    @property
    def address(self) -> str:
        """The visitor's network address, for rate limits."""
        client = self.request.client
        return client.host if client else "unknown"


Handler = Callable[[Visit], Awaitable[Response]]
