"""Answers to requests: pages for browsers, JSON for scripts."""

from __future__ import annotations

from typing import Any

from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from scenarios.tournament.site.page_templates import rendered
from scenarios.tournament.site.refusal_error import RefusalError
from scenarios.tournament.site.visit import Visit


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


def done(visit: Visit, message: str, path: str) -> Response:
    """Answer to an action that succeeded: back to a page, so that reloading it does not repeat the action."""
    if visit.wants_json:
        return JSONResponse({"done": message})
    return RedirectResponse(path, status_code=303)
