"""Answers to requests: pages for browsers, JSON for scripts."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from metrics.columns import one_line
from scenarios.tournament.site.pages.page_templates import rendered
from scenarios.tournament.site.refusal_error import DamagedFolderError, RefusalError
from scenarios.tournament.site.visit import Visit

_log = logging.getLogger("uvicorn.error")
"""The server's output."""


def page(visit: Visit, template: str, status: int = 200, **context: Any) -> Response:
    """A page from a template."""
    return HTMLResponse(rendered(visit, template, **context), status)


def answered(visit: Visit, template: str, content: dict[str, Any], status: int = 200, **context: Any) -> Response:
    """A page for a browser, or its content as JSON for a script."""
    if visit.wants_json:
        return JSONResponse({**content, "form_token": visit.form_token}, status)
    return page(visit, template, status, **content, **context)


def refused(visit: Visit, refusal: RefusalError) -> Response:
    """A refusal, which says what is wrong and what would be right."""
    message = str(refusal)
    if visit.wants_json:
        # Scripts find the keys of a refused file.
        return JSONResponse({"error": message, "problems": []}, refusal.status, refusal.headers)
    response = page(visit, "refusal.html", refusal.status, message=message)
    response.headers.update(refusal.headers)
    return response


def damage_refusal(visit: Visit, damage: DamagedFolderError) -> RefusalError:
    """Refusal while the folder is damaged; only the host and the server's output hear of files."""
    _log.error("%s", damage)
    message = str(damage) if visit.is_host else damage.public
    again = "load the page again" if visit.request.method == "GET" else "try again; nothing has changed"
    return RefusalError(503, f"{message}; then {again}", headers={"Retry-After": "60"})


def done(visit: Visit, message: str, path: str) -> Response:
    """Answer to an action that succeeded: back to a page, so that reloading it does not repeat the action."""
    if visit.wants_json:
        return JSONResponse({"done": message})
    return RedirectResponse(path, status_code=303)


def shown(visit: Visit, outcome: dict[str, Any], *, ok: bool = True) -> Response:
    """Answer with an outcome: as JSON, on the page of the team or the host, or, to a form without number, by itself."""
    if visit.wants_json:
        return JSONResponse(outcome, 200 if ok else 422)
    team, number = visit.request.path_params.get("team"), visit.form.text("once")
    home = "/host" if team is None else f"/team/{team}"
    if number or team is None:
        return RedirectResponse(f"{home}?seen={number}#outcome" if number else home, status_code=303)
    return page(visit, "outcome.html", outcome=outcome, team=team)


async def decided(visit: Visit, kind: str, decide: Callable[[], Awaitable[str]]) -> Response:
    """Carry out a decision once, and answer with what it says; what depends on it is scored."""

    async def carry_out() -> dict[str, Any]:
        try:
            message = await decide()
        except ValueError as error:
            raise RefusalError(409, one_line(error)) from None
        visit.site.scoring.wake()
        return {"kind": kind, "message": message, "done": True}

    return shown(visit, await visit.site.once.run(visit.form_key, carry_out))


async def published_bytes(path: Path, missing: str) -> bytes:
    """Content of a file that visitors may see; without one, `missing` says why there is none."""
    try:
        return await to_thread.run_sync(path.read_bytes)
    except FileNotFoundError:
        raise RefusalError(404, missing) from None
