"""Answers to requests: pages from templates for browsers, JSON for scripts."""

from __future__ import annotations

import codecs
import hashlib
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from anyio import to_thread
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from leaderboard.pages.documents import breakable
from leaderboard.pages.pictures import DRAWING
from metrics.columns import Sentence, one_line
from metrics.columns.printable import printable
from scenarios.tournament.rules import LANGUAGE, LANGUAGES, built_in_names, listed_word, translated, worded
from scenarios.tournament.rules.settings import WEEKDAYS
from scenarios.tournament.site.journal import SiteState
from scenarios.tournament.site.refusal_error import DamagedFolderError, RefusalError
from scenarios.tournament.site.site import Visit

# Templates of the site's pages.

STATIC = {"site.css": "text/css", "site.js": "text/javascript"}
"""Files that every page uses, with their types."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)")


@cache
def environment() -> Environment:
    """The templates; everything that they insert is escaped."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader("scenarios.tournament.site"), PackageLoader("leaderboard.pages")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
        finalize=worded,
    )
    # No template has plurals.
    made.install_gettext_callables(translated, translated, newstyle=True)  # type: ignore[attr-defined]
    made.filters |= {
        "moment": moment,
        "deadline": deadline,
        "moments": moments,
        "number": number,
        "size": size,
        "markdown": markdown,
        "clean": clean,
        "phrase": phrase,
        "short": short_title,
        "breakable": breakable,
    }
    made.globals |= {
        **DRAWING,
        "static": static_address,
        "built_in": built_in_names,
        "new_number": lambda: secrets.token_urlsafe(16),
    }
    return made


def rendered(visit: Visit, template: str, **context: Any) -> str:
    """A page for a visitor."""
    common = {
        "user": visit.user,
        "title": visit.site.settings.title,
        "form_token": visit.form_token,
        "now": visit.site.clock(),
        "path": visit.request.url.path,
        "language": LANGUAGE.get(),
        "languages": LANGUAGES,
        # A form's address cannot be visited.
        "here": visit.request.url.path if visit.request.method == "GET" else "/",
    }
    return environment().get_template(template).render(**{**common, **context})


@cache
def static_content(name: str) -> bytes:
    """Content of a static file."""
    return (resources.files("scenarios.tournament.site") / "static" / name).read_bytes()


@cache
def static_address(name: str) -> str:
    """Address of a static file, which changes with its content."""
    return f"/static/{name}?{hashlib.sha256(static_content(name)).hexdigest()[:12]}"


def moment(value: datetime | str | None) -> Markup:
    """A moment in UTC; the page's script shows it in the viewer's zone."""
    if value is None:
        return Markup("–")
    parsed = datetime.fromisoformat(value) if isinstance(value, str) else value
    return Markup('<time datetime="{}">{:%Y-%m-%d %H:%M} UTC</time>').format(
        parsed.isoformat(timespec="seconds"), parsed
    )


def deadline(value: datetime) -> Markup:
    """The end of a phase in UTC, with the day of the week; see `moment`."""
    day = Sentence("{weekday} {time:%Y-%m-%d} {time:%H:%M:%S} UTC", weekday=WEEKDAYS[value.weekday()], time=value)
    return Markup('<time datetime="{}">{}</time>').format(value.isoformat(timespec="seconds"), worded(day))


def clean(text: str) -> str:
    """A text in the visitor's language without control characters."""
    return printable(worded(text))


def phrase(value: str) -> str:
    """A word of a closed list, such as a phase, or a goal in a stratum, in the visitor's language."""
    return str(worded(listed_word(str(value).replace("-", " "))))


def moments(text: str) -> Markup:
    """A text whose moments in ISO 8601 are shown like all others on the page."""
    text, parts, end = worded(text), [], 0
    for found in _MOMENT.finditer(text):
        with suppress(ValueError, OverflowError):
            shown = moment(datetime.fromisoformat(found[0]).astimezone(UTC))
            parts += [escape(printable(text[end : found.start()])), shown]
            end = found.end()
    return Markup("").join([*parts, escape(printable(text[end:]))])


def number(value: float | str | None, digits: int = 3) -> str:
    """A number with some digits after the point; a dash if it is missing."""
    return "–" if value is None or value == "" else f"{float(value):.{digits}f}"


def short_title(title: str) -> str:
    """A title without its subtitle: what stands before the first colon."""
    return title.partition(": ")[0]


def size(value: int) -> str:
    """A number of bytes in words."""
    for unit, bytes_of_unit in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= bytes_of_unit:
            return f"{value / bytes_of_unit:.1f} {unit}"
    return str(worded(Sentence("{count} bytes", count=value)))


def markdown(text: str) -> Markup:
    """Markdown as HTML. HTML in the text is shown as text, and links lead to web pages only."""
    return Markup(markdown_parser().render(text))  # noqa: S704 (the parser escapes all HTML)


@cache
def markdown_parser() -> MarkdownIt:
    """Parser of Markdown that escapes HTML and knows no images."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = _is_web_link  # type: ignore[method-assign]
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _table_open(renderer: object, tokens: Sequence[Token], place: int, options: object, env: object) -> str:
    """A region around a table, which scrolls sideways and which the keyboard reaches."""
    number_of_table = sum(token.type == "table_open" for token in tokens[: place + 1])
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Table {number_of_table}">\n<table>\n'


def _table_close(renderer: object, tokens: Sequence[Token], place: int, options: object, env: object) -> str:
    return "</table>\n</div>\n"


def _is_web_link(url: str) -> bool:
    return url.lower().startswith(("https://", "http://", "#"))


_log = logging.getLogger("uvicorn.error")
"""The server's output."""


def page(
    visit: Visit, template: str, status: int = 200, headers: Mapping[str, str] | None = None, **context: Any
) -> Response:
    """A page from a template."""
    return HTMLResponse(rendered(visit, template, **context), status, headers)


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
    return page(visit, "refusal.html", refusal.status, refusal.headers, message=message)


def damage_refusal(visit: Visit, damage: DamagedFolderError) -> RefusalError:
    """Refusal while the folder is damaged; only the host and the server's output hear of files."""
    _log.error("%s", damage)
    message = str(damage) if visit.is_host else damage.public
    said = Sentence(
        "{message}; then load the page again"
        if visit.request.method == "GET"
        else "{message}; then try again; nothing has changed",
        message=message,
    )
    return RefusalError(503, said, headers={"Retry-After": "60"})


def done(visit: Visit, message: str, path: str, **more: str) -> Response:
    """Answer to an action that succeeded: back to a page, so that reloading it does not repeat the action."""
    if visit.wants_json:
        return JSONResponse({"done": message, **more})
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


def hidden(visit: Visit, state: SiteState) -> bool:
    """Whether standings are hidden from this visitor."""
    return state.hidden and not visit.is_host


def for_spreadsheets(name: str, data: bytes) -> bytes:
    """A file as visitors save it: a CSV file beyond ASCII has a byte order mark, without which Excel misreads it."""
    return codecs.BOM_UTF8 + data if name.endswith(".csv") and not data.isascii() else data


def attachment(data: bytes, name: str, kind: str) -> Response:
    """A file to save under a name of the server's own."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(data, media_type=kind, headers=headers)
