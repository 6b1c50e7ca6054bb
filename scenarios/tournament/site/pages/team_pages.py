"""A team's pages: its kit, uploads, receipts, report and presentation."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import nh3
from anyio import to_thread
from markupsafe import Markup
from starlette.responses import Response

from metrics.columns import Sentence, one_line
from metrics.columns.printable import printable
from scenarios.tournament.host.boards import failed_of
from scenarios.tournament.host.presenting import (
    LARGEST_PICTURE,
    LONGEST_TEXT,
    MOST_POINTS,
    Presentation,
    mean_points,
    media_type,
    presentations,
    presented_file,
    shown_presentations,
)
from scenarios.tournament.rules import LARGEST, Arrival, Phase, folder_files, unsubmitted, worded, zip_bytes
from scenarios.tournament.site.accounts import RateLimit
from scenarios.tournament.site.deciding import forget, recorded
from scenarios.tournament.site.jobs import (
    preview_table,
    shown_name,
    store_points,
    store_presentation,
    submit_file,
    take,
)
from scenarios.tournament.site.journal import SiteState
from scenarios.tournament.site.pages.answers import (
    answered,
    attachment,
    damage_refusal,
    decided,
    done,
    for_spreadsheets,
    hidden,
    markdown_parser,
    published_bytes,
    shown,
)
from scenarios.tournament.site.pages.public_pages import HIDDEN, PublicBoard, read_board, what_counts_now
from scenarios.tournament.site.posted_form import UploadedFile, UploadLimits
from scenarios.tournament.site.refusal_error import DamagedFolderError, RefusalError, found, refuse_if
from scenarios.tournament.site.site import Visit
from scenarios.tournament.site.workers import LIMITS_APART

# Presentations of the teams: a team's draft until the close, everybody's pages after it.

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


PICTURE = UploadLimits(files=1, file=LARGEST_PICTURE, total=LARGEST_PICTURE)
PRESENT_RATE = RateLimit(10, timedelta(minutes=1))
PICTURE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"


async def presentations_page(visit: Visit) -> Response:
    """List of the presentations, empty until the close."""
    state = await visit.site.state()
    teams = [
        {
            "team": team,
            "title": state.titles[team],
            "jury": mean_points(state.entries, team, jury=True),
            "teams": mean_points(state.entries, team, jury=False),
        }
        for team in shown_presentations(state.tournament, state.entries)
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
        gives=visit.is_host or visit.user.name in state.titles.keys() - {one.team},
        jury=visit.is_host,
        most=MOST_POINTS,
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
        open=not visit.is_host and state.tournament.settings.presents(state.phase, state.until, visit.site.clock()),
        longest=LONGEST_TEXT,
        largest=LARGEST_PICTURE,
        method_html=method_html,
    )


async def draft_picture(visit: Visit) -> Response:
    """Picture of a team's own presentation."""
    state = await visit.site.state()
    return await _picture(
        state, found(presentations(state.entries).get(visit.team), Sentence("there is no presentation yet"))
    )


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


async def change_points(visit: Visit) -> Response:
    """Store the points of a juror, which the host enters, or of a team for another team's presentation."""
    site, form, team = visit.site, visit.form, visit.request.path_params["of"]
    points = int(form.text("points")) if re.fullmatch("[0-9]{1,3}", form.text("points")) else -1
    giver = form.text("juror") if visit.is_host else visit.user.name

    async def store() -> dict[str, Any]:
        try:
            await site.work(store_points, team, giver, points, visit.is_host, visit.arrived)
        except ValueError as error:
            raise RefusalError(422, one_line(error)) from None
        return {"done": True}

    await site.once.run(visit.form_key, store)
    return done(visit, "the points are stored", "/presentations")


def _shown(visit: Visit, state: SiteState) -> Presentation:
    """The presentation that the address names, if everybody may see it."""
    one = shown_presentations(state.tournament, state.entries).get(visit.request.path_params["of"])
    return found(one, Sentence("there is no such presentation; presentations are shown after the close"))


async def _text(state: SiteState, one: Presentation) -> str:
    return (await to_thread.run_sync(presented_file, state.tournament, one.text)).decode()


async def _picture(state: SiteState, one: Presentation) -> Response:
    """A picture with a policy of its own, under which nothing in it runs."""
    picture = found(one.picture, Sentence("this presentation has no picture"))
    data = await to_thread.run_sync(presented_file, state.tournament, picture)
    headers = {"Content-Security-Policy": PICTURE_POLICY, "Cache-Control": "no-store"}
    return Response(data, media_type=media_type(data) or "application/octet-stream", headers=headers)


UPLOADS = UploadLimits(files=250, file=LARGEST, total=32 << 20)
ONE_TABLE = UploadLimits(files=1, file=LARGEST, total=LARGEST)
PREVIEW_RATE = RateLimit(10, timedelta(minutes=1))
"""Lower than that of uploads, since a preview runs attacks."""
UPLOAD_RATE = RateLimit(30, timedelta(minutes=1))
AT_ONCE = 1
"""Files of one team that are given to the workers at once, so that a team never holds more than one of them."""
_SHOWN = 200
"""Number of submissions that the page lists."""


async def team_page(visit: Visit) -> Response:
    """A team's page."""
    state, team = await visit.site.state(), visit.team
    submissions = [
        {
            "number": one.number,
            "time": entry.arrived,
            "against": one.against,
            "phase": str(one.phase),
            "rows": one.rows,
            "sha256": one.content,
            "log": entry.hash,
            "in_force": _in_force(state, team, one.against) == one.number,
        }
        for one, entry in reversed(state.submissions[team])
    ]
    attacking = state.phase is Phase.ATTACK
    # In other phases, who has submitted a table is no business of its rivals.
    targets = [
        {"team": other, "title": state.titles[other], "attacked": (team, other) in state.published.attacks}
        for other in visit.site.settings.teams
        if attacking and other != team and other in state.published.tables
    ]
    # Reasons may quote the host's files and are left out.
    failed = {
        (what, one.status)
        for one in visit.site.scoring.progress().failed
        if (what := failed_of(team, one.defense, one.attack or "", state.titles))
    }
    # The team reads of itself what everybody reads of it.
    concealed = hidden(visit, state)
    folder = visit.site.folder / "public"
    board = PublicBoard() if concealed else await to_thread.run_sync(read_board, folder, state.titles)
    content = {
        "team": team,
        "phase": str(state.phase),
        "until": state.until.isoformat() if state.until else None,
        "quota": {"used": state.used(team), "bytes": state.tournament.settings.quota},
        "standing": next((line for line in board.standings if line["team"] == team), None),
        "submissions": submissions,
        "targets": targets,
        "notices": [{"time": one.time, "text": one.text} for one in reversed(state.notices)],
    }
    return answered(
        visit,
        "team.html",
        content,
        titles=state.titles,
        state=state,
        shown=_SHOWN,
        outcome=visit.outcome(),
        failed=[{"what": what, "status": status} for what, status in sorted(failed)],
        has_report=await to_thread.run_sync(_report_path(visit).is_file),
        own=not visit.is_host,
        attacking=attacking,
        counts=HIDDEN if concealed else what_counts_now(state, board),
        largest=LARGEST,
    )


def _in_force(state: SiteState, team: str, against: str | None) -> int | None:
    """Number of the submission that counts; an attack counts against the published table, which all may know."""
    one = state.tables.get(team) if against is None else state.published.attacks.get((team, against))
    return None if one is None else one.number


def _number(text: str) -> int | None:
    """Number of a submission; None if the text is no such number."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


async def upload(visit: Visit) -> Response:
    """Submit tables or attacks; the files are independent of each other."""
    site, team, form = visit.site, visit.team, visit.form
    refuse_if(not form.files, 422, Sentence("no file was sent; choose a file first"))
    arrived = visit.arrived
    chosen = form.text("against")
    places = asyncio.Semaphore(AT_ONCE)

    async def submit_one(arrival: Arrival, number: int, file: UploadedFile) -> dict[str, Any] | RefusalError:
        given = (team, file.claimed_name, chosen, file.content, arrived, arrival.phase, arrival.name_of(number))
        try:
            async with places:
                return await site.work(submit_file, *given)
        except DamagedFolderError as damage:
            return damage_refusal(visit, damage)
        except RefusalError as refusal:
            return refusal

    async def submit_all() -> dict[str, Any]:
        recording = recorded(site, site.next_upload(), team, chosen, form.files, arrived)
        async with site.turns.after(team, recording) as arrival:
            outcomes = await asyncio.gather(
                *(submit_one(arrival, number, file) for number, file in enumerate(form.files))
            )
            # A server that stops has decided nothing, and the next one checks the files.
            if not site.workers.stopped:
                try:
                    await forget(site, arrival)
                except DamagedFolderError as damage:
                    # The files are decided all the same, and the server's output names the damage.
                    damage_refusal(visit, damage)
        failed = [one for one in outcomes if isinstance(one, RefusalError)]
        if len(failed) == len(outcomes):
            raise failed[0]
        # What was accepted has its receipt, whatever happened to the other files.
        files = [
            unsubmitted(str(one), shown_name(file.claimed_name)) if isinstance(one, RefusalError) else one
            for one, file in zip(outcomes, form.files, strict=True)
        ]
        accepted = sum(one["accepted"] for one in files)
        return {"kind": "upload", "files": files, "accepted": accepted, "done": accepted == len(files)}

    outcome = await site.once.run(visit.form_key, submit_all)
    site.scoring.wake()
    return shown(visit, outcome, ok=outcome["done"])


async def preview(visit: Visit) -> Response:
    """Preview a table before it is submitted, or one that was."""
    site, team, form = visit.site, visit.team, visit.form
    number = _number(form.text("number"))
    claimed, content = (form.files[0].claimed_name, form.files[0].content) if form.files else ("", None)
    refuse_if(content is None and number is None, 422, Sentence("no file was sent; choose a file first"))

    async def preview_one() -> dict[str, Any]:
        refuse_if(
            team in site.previewing,
            409,
            Sentence(
                "a preview of {team} is running still; wait for it, at most {time:g} seconds once begun",
                team=team,
                time=LIMITS_APART.time,
            ),
        )
        site.previewing.add(team)
        try:
            return {"kind": "preview", **await site.work(preview_table, team, claimed, content, number)}
        finally:
            site.previewing.discard(team)

    outcome = await site.once.run(visit.form_key, preview_one)
    return shown(visit, outcome, ok=outcome["valid"])


async def take_older(visit: Visit) -> Response:
    """Take an older submission into force."""
    site, team = visit.site, visit.team
    number = found(_number(visit.form.text("number")), Sentence("name the number of a receipt"), 422)

    async def take_now() -> str:
        async with site.turns.of(team):
            return await site.work(take, team, number, visit.arrived)

    return await decided(visit, "taken", take_now)


async def kit(visit: Visit) -> Response:
    """All files of a team's folder as a ZIP archive."""
    folder = visit.site.folder / "teams" / visit.team
    files = ((name, for_spreadsheets(name, data)) for name, data in folder_files(folder, visit.team))
    data = await to_thread.run_sync(zip_bytes, files)
    return attachment(data, f"{visit.team}.zip", "application/zip")


async def submitted_file(visit: Visit) -> Response:
    """A file that the team submitted."""
    state = await visit.site.state()
    number = _number(visit.request.path_params["number"])
    same = next((one for one, _ in state.submissions[visit.team] if one.number == number), None)
    one = found(same, Sentence("{team} has no such submission; its page lists all", team=visit.team))
    data = await to_thread.run_sync(state.tournament.content, one.content)
    kind = "anonymized" if one.against is None else f"attack_{one.against}"
    return attachment(data, f"{visit.team}_{kind}_{number}.csv", "text/csv; charset=utf-8")


async def report(visit: Visit) -> Response:
    """A team's report."""
    state = await visit.site.state()
    data = await published_bytes(
        _report_path(visit), Sentence("there is no report yet; it appears with the first scoring")
    )
    return answered(
        visit,
        "document.html",
        {"text": data.decode()},
        heading=worded(Sentence("Report for {team}", team=state.titles[visit.team])),
    )


def _report_path(visit: Visit) -> Path:
    return visit.site.folder / "teams" / visit.team / "report.md"
