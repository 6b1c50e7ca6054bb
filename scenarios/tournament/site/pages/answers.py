"""Answers to requests: pages for browsers, JSON for scripts."""

from __future__ import annotations

import logging
from typing import Any

from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from scenarios.tournament.site.damaged_folder_error import DamagedFolderError
from scenarios.tournament.site.pages.page_templates import rendered
from scenarios.tournament.site.refusal_error import RefusalError
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
        content = {"error": message, "problems": list(refusal.problems)}
        return JSONResponse(content, refusal.status, refusal.headers)
    response = page(visit, "refusal.html", refusal.status, message=message, problems=refusal.problems)
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
