"""Cookies of the site."""

from __future__ import annotations

from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from scenarios.tournament.site.site import Site

SESSION, FORM, DEVICE = "session", "form", "browser"


def cookie_name(site: Site, kind: str) -> str:
    """Name of a cookie. With TLS its prefix makes browsers refuse one that another host or page without TLS sets."""
    return f"__Host-{kind}" if site.secure else f"tokumei-{kind}"


def read_cookie(request: Request, site: Site, kind: str) -> str:
    """Content of a cookie; empty if the browser sent none."""
    return request.cookies.get(cookie_name(site, kind), "")[:200]


def set_cookie(response: Response, site: Site, kind: str, content: str, *, lasts: timedelta | None = None) -> None:
    """Set a cookie that scripts cannot read and that other sites' requests do not carry.

    It ends with the browser unless `lasts` says when.
    """
    response.set_cookie(
        cookie_name(site, kind),
        content,
        max_age=None if lasts is None else round(lasts.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=site.secure,
        path="/",
    )


def remove_cookie(response: Response, site: Site, kind: str) -> None:
    """Remove a cookie."""
    response.delete_cookie(cookie_name(site, kind), httponly=True, samesite="lax", secure=site.secure, path="/")
