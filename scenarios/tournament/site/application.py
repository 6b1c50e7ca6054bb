"""The application that a server of ASGI runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from scenarios.tournament.site.deciding import resumed
from scenarios.tournament.site.guarding import guarded
from scenarios.tournament.site.members.user import GUEST
from scenarios.tournament.site.pages.answers import refused
from scenarios.tournament.site.refusal_error import RefusalError
from scenarios.tournament.site.routes import ENDPOINTS
from scenarios.tournament.site.security_headers import SecurityHeaders
from scenarios.tournament.site.site import Site
from scenarios.tournament.site.visit import Visit

_STATUS = {404: "there is no such page", 405: "this page cannot be used that way"}


def application(site: Site) -> SecurityHeaders:
    """The application of a site, whose responses all carry the security headers."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        site.scoring.start()
        tasks = [asyncio.create_task(site.updates.watch()), *await resumed(site)]
        try:
            yield
        finally:
            site.updates.stop()
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await to_thread.run_sync(site.stop)

    app = Starlette(
        routes=[
            Route(
                endpoint.path, guarded(endpoint), methods=[endpoint.method], name=f"{endpoint.method} {endpoint.path}"
            )
            for endpoint in ENDPOINTS
        ],
        exception_handlers={HTTPException: _known, Exception: _unknown},
        lifespan=lifespan,
    )
    app.state.site = site
    # Outside everything else, so that answers to unexpected errors have the headers, too.
    return SecurityHeaders(app, secure=site.secure)


async def _known(request: Request, error: Exception) -> Response:
    """Answer to a path or method that does not exist."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    message = _STATUS.get(status, "the request cannot be understood")
    headers = {"Allow": ", ".join(_methods(request))} if status == 405 else None
    return refused(_visit(request), RefusalError(status, message, headers=headers))


def _methods(request: Request) -> list[str]:
    """Methods of a path. Each method has a route of its own, so no single route knows all of them."""
    routes = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    return sorted({method for route in routes for method in route.methods})


async def _unknown(request: Request, error: Exception) -> Response:
    """Answer to an unexpected error, which names no detail."""
    return refused(_visit(request), RefusalError(500, "the server failed; its output says why"))


def _visit(request: Request) -> Visit:
    return Visit(request, request.app.state.site, GUEST)
