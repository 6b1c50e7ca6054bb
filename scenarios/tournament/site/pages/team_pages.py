"""A team's pages: its kit, uploads, receipts and report."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.responses import Response

from scenarios.tournament.rules.arrivals import Arrival
from scenarios.tournament.rules.folder import folder_files, zip_bytes
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.rules.sheets import LARGEST
from scenarios.tournament.rules.submitting import unsubmitted
from scenarios.tournament.site.accounts import RateLimit
from scenarios.tournament.site.deciding import forget, recorded
from scenarios.tournament.site.jobs import preview_table, shown_name, submit_file, take
from scenarios.tournament.site.journal import SiteState
from scenarios.tournament.site.pages.answers import answered, damage_refusal, decided, published_bytes, shown
from scenarios.tournament.site.posted_form import UploadedFile, UploadLimits
from scenarios.tournament.site.refusal_error import DamagedFolderError, RefusalError, found, refuse_if
from scenarios.tournament.site.site import Visit
from scenarios.tournament.site.workers import LIMITS_APART

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
        {"team": other, "title": state.titles[other], "attacked": (team, other) in state.published_attacks}
        for other in visit.site.settings.teams
        if attacking and other != team and other in state.published_tables
    ]
    content = {
        "team": team,
        "phase": str(state.phase),
        "until": state.until.isoformat() if state.until else None,
        "quota": {"used": state.used(team), "bytes": state.tournament.settings.quota},
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
        failed=visit.site.scoring.failed(team),
        has_report=await to_thread.run_sync(_report_path(visit).is_file),
        own=not visit.is_host,
        attacking=attacking,
        largest=LARGEST,
    )


def _in_force(state: SiteState, team: str, against: str | None) -> int | None:
    """Number of the submission that counts; an attack counts against the published table, which all may know."""
    one = state.tables.get(team) if against is None else state.published_attacks.get((team, against))
    return None if one is None else one.number


def _number(text: str) -> int | None:
    """Number of a submission; None if the text is no such number."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


async def upload(visit: Visit) -> Response:
    """Submit tables or attacks; the files are independent of each other."""
    site, team, form = visit.site, visit.team, visit.form
    refuse_if(not form.files, 422, "no file was sent; choose a file first")
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
    if content is None and number is None:
        raise RefusalError(422, "no file was sent; choose a file first")

    async def preview_one() -> dict[str, Any]:
        refuse_if(
            team in site.previewing,
            409,
            f"a preview of {team} is running still; wait for it, at most {LIMITS_APART.time:g} seconds once begun",
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
    number = found(_number(visit.form.text("number")), "name the number of a receipt", 422)

    async def take_now() -> str:
        async with site.turns.of(team):
            return await site.work(take, team, number, visit.arrived)

    return await decided(visit, "taken", take_now)


async def kit(visit: Visit) -> Response:
    """All files of a team's folder as a ZIP archive."""
    folder = visit.site.folder / "teams" / visit.team
    data = await to_thread.run_sync(lambda: zip_bytes(folder_files(folder, visit.team)))
    return attachment(data, f"{visit.team}.zip", "application/zip")


async def submitted_file(visit: Visit) -> Response:
    """A file that the team submitted."""
    state = await visit.site.state()
    number = _number(visit.request.path_params["number"])
    same = next((one for one, _ in state.submissions[visit.team] if one.number == number), None)
    one = found(same, f"{visit.team} has no such submission; its page lists all")
    data = await to_thread.run_sync(state.tournament.content, one.content)
    kind = "anonymized" if one.against is None else f"attack_{one.against}"
    return attachment(data, f"{visit.team}_{kind}_{number}.csv", "text/csv; charset=utf-8")


async def report(visit: Visit) -> Response:
    """A team's report."""
    state = await visit.site.state()
    data = await published_bytes(_report_path(visit), "there is no report yet; it appears with the first scoring")
    return answered(visit, "document.html", {"text": data.decode()}, heading=f"Report for {state.titles[visit.team]}")


def hidden(visit: Visit, state: SiteState) -> bool:
    """Whether standings are hidden from this visitor."""
    return state.hidden and not visit.is_host


def _report_path(visit: Visit) -> Path:
    return visit.site.folder / "teams" / visit.team / "report.md"


def attachment(data: bytes, name: str, kind: str) -> Response:
    """A file to save under a name of the server's own."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(data, media_type=kind, headers=headers)
