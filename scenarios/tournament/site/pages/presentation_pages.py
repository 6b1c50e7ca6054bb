"""Presentations of the teams: a team's draft until the close, everybody's pages after it."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from typing import Any

import nh3
from anyio import to_thread
from markupsafe import Markup
from starlette.responses import Response

from metrics.columns import one_line
from metrics.columns.printable import printable
from scenarios.tournament.host.presenting import (
    LARGEST,
    LONGEST_TEXT,
    Presentation,
    media_type,
    presentations,
    presented_file,
    shown_presentations,
)
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.site.accounts import RateLimit
from scenarios.tournament.site.jobs import store_presentation
from scenarios.tournament.site.journal import SiteState
from scenarios.tournament.site.pages.answers import answered, done, markdown_parser
from scenarios.tournament.site.posted_form import UploadLimits
from scenarios.tournament.site.refusal_error import RefusalError, found
from scenarios.tournament.site.site import Visit

# Texts of presentations as HTML.

_INLINE = ("a", "br", "code", "em", "strong")
_BLOCKS = ("blockquote", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "ul")
_TABLE = ("div", "table", "tbody", "td", "th", "thead", "tr")
_REGION = {"class": {"scroll"}, "role": {"region"}, "tabindex": {"0"}}
"""Attributes of the region in which a wide table scrolls; the parser writes no other ``div``."""


@lru_cache(maxsize=256)
def method_html(text: str) -> Markup:
    """Markdown of a team as HTML without scripts, styles, images and headings of the first level.

    The parser escapes HTML in the text. Its output is sanitised again by a list of allowed tags. Links lead to web
    pages only.
    """
    parser = markdown_parser()
    tokens = parser.parse(printable(text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
    clean = nh3.clean(
        parser.renderer.render(tokens, parser.options, {}),
        tags={*_INLINE, *_BLOCKS, *_TABLE},
        attributes={"*": set(), "a": {"href"}, "div": {"aria-label"}, "ol": {"start"}},
        tag_attribute_values={"div": _REGION},
        url_schemes={"http", "https"},
        link_rel="nofollow noopener",
    )
    return Markup(clean)  # noqa: S704 (nh3 has sanitised it)


PICTURE = UploadLimits(files=1, file=LARGEST, total=LARGEST)
PRESENT_RATE = RateLimit(10, timedelta(minutes=1))
PICTURE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"


async def presentations_page(visit: Visit) -> Response:
    """List of the presentations, empty until the close."""
    state = await visit.site.state()
    teams = [
        {"team": team, "title": state.titles[team]} for team in shown_presentations(state.tournament, state.entries)
    ]
    return answered(visit, "presentations.html", {"closed": state.phase is Phase.CLOSED, "presentations": teams})


async def presentation_page(visit: Visit) -> Response:
    """A team's presentation, after the close."""
    state = await visit.site.state()
    one = _shown(visit, state)
    return answered(
        visit,
        "presentation.html",
        {"team": one.team, "text": await _text(state, one)},
        heading=state.titles[one.team],
        picture=f"/presentations/{one.team}/picture" if one.picture else "",
        method_html=method_html,
    )


async def presentation_picture(visit: Visit) -> Response:
    """Picture of a team's presentation, after the close."""
    state = await visit.site.state()
    return await _picture(state, _shown(visit, state))


async def draft_page(visit: Visit) -> Response:
    """A team's own presentation with the form that changes it; the host sees it, too."""
    state = await visit.site.state()
    one = presentations(state.entries).get(visit.team)
    content: dict[str, Any] = {"team": visit.team, "text": await _text(state, one) if one else ""}
    return answered(
        visit,
        "presentation_draft.html",
        content,
        heading=state.titles[visit.team],
        picture=f"/team/{visit.team}/presentation/picture" if one and one.picture else "",
        open=not visit.is_host and state.phase is not Phase.CLOSED,
        longest=LONGEST_TEXT,
        largest=LARGEST,
        method_html=method_html,
    )


async def draft_picture(visit: Visit) -> Response:
    """Picture of a team's own presentation."""
    state = await visit.site.state()
    one = presentations(state.entries).get(visit.team)
    return await _picture(state, found(one, "there is no presentation yet"))


async def change_presentation(visit: Visit) -> Response:
    """Store a team's presentation."""
    site, form = visit.site, visit.form
    picture = form.files[0].content if form.files else None
    keep = not form.text("remove_picture")

    async def store() -> dict[str, Any]:
        try:
            await site.work(store_presentation, visit.team, form.text("text"), picture, keep, visit.arrived)
        except ValueError as error:
            raise RefusalError(422, one_line(error)) from None
        return {"done": True}

    await site.once.run(visit.form_key, store)
    return done(visit, "the presentation is stored", f"/team/{visit.team}/presentation")


def _shown(visit: Visit, state: SiteState) -> Presentation:
    """The presentation that the address names, if everybody may see it."""
    one = shown_presentations(state.tournament, state.entries).get(visit.request.path_params["of"])
    return found(one, "there is no such presentation; presentations are shown after the close")


async def _text(state: SiteState, one: Presentation) -> str:
    return (await to_thread.run_sync(presented_file, state.tournament, one.text)).decode()


async def _picture(state: SiteState, one: Presentation) -> Response:
    """A picture with a policy of its own, under which nothing in it runs."""
    picture = found(one.picture, "this presentation has no picture")
    data = await to_thread.run_sync(presented_file, state.tournament, picture)
    headers = {"Content-Security-Policy": PICTURE_POLICY, "Cache-Control": "no-store"}
    return Response(data, media_type=media_type(data) or "application/octet-stream", headers=headers)
