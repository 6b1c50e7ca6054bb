"""The host's pages: progress, decisions, invitations, incidents."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.responses import JSONResponse, Response, StreamingResponse

from metrics.columns import Sentence
from scenarios.tournament.rules import LARGEST, Phase
from scenarios.tournament.site.account_store import LIFETIME, Role, host_name
from scenarios.tournament.site.accounts import RateLimit
from scenarios.tournament.site.jobs import admit_file, decide, export_all, incidents
from scenarios.tournament.site.journal import SiteState
from scenarios.tournament.site.pages.answers import answered, decided, shown
from scenarios.tournament.site.pages.public_pages import read_board
from scenarios.tournament.site.pages.team_pages import UPLOADS
from scenarios.tournament.site.posted_form import UploadLimits, check_room
from scenarios.tournament.site.refusal_error import refuse_if
from scenarios.tournament.site.site import Visit

# Whether the site is well, for supervisors.


async def health(visit: Visit) -> Response:
    """Phase, if the server answers, the log is sound and the disk has room; members also get the log's length.

    Guests do not, since that number shows when files are submitted.
    """
    state = await visit.site.state()
    await to_thread.run_sync(check_room, visit.site.uploads, UPLOADS.total)
    entries = {} if visit.user.role is Role.GUEST else {"entries": len(state.entries)}
    return JSONResponse({"phase": str(state.phase), **entries})


# A temporary file that is sent once.

_CHUNK = 1 << 20


def read_once(path: Path) -> AsyncIterator[bytes]:
    """Content of a file, chunk by chunk; it has no name from now on, so that nothing is left however this ends."""
    file = path.open("rb")
    path.unlink()

    async def chunks() -> AsyncIterator[bytes]:
        with file:
            while chunk := await to_thread.run_sync(file.read, _CHUNK):
                yield chunk

    return chunks()


LATE_FILES = UploadLimits(files=1, file=LARGEST, total=LARGEST)
EXPORT_RATE = RateLimit(5, timedelta(minutes=5))
INVITATION_RATE = RateLimit(300, timedelta(minutes=10))


async def host_page(visit: Visit) -> Response:
    """Progress of the teams and all decisions of the host."""
    site, state = visit.site, await visit.site.state()
    accounts = await to_thread.run_sync(site.accounts.invitations.states, site.clock())
    board = await to_thread.run_sync(read_board, site.folder / "host", state.titles)
    looking = partial(state.tournament.changed_since_opening, movers=Sentence("forms on this page move deadlines"))
    failures, progress = await site.work(incidents, site.clock()), site.scoring.progress()
    order = [phase for phase, _ in state.ends]
    content = {
        "phase": str(state.phase),
        "until": state.until.isoformat() if state.until else None,
        "teams": [_progress(state, team, accounts) for team in site.settings.teams],
        "failures": failures,
        "scoring": {
            "runs": site.scores,
            **vars(progress),
            "failed": [
                {
                    "table": one.defense,
                    "attack": one.attack,
                    "status": one.status,
                    "reason": one.reason.partition("\n")[0],
                }
                for one in progress.failed
            ],
        },
        "standings": board.standings,
        "changed_setting": await to_thread.run_sync(looking),
    }
    return answered(
        visit,
        "host.html",
        content,
        state=state,
        board=board,
        outcome=visit.outcome(),
        closed=state.phase is Phase.CLOSED,
        following=state.tournament.settings.after(state.phase),
        # Phases that are over may be reopened.
        earlier=order if state.phase is Phase.CLOSED else order[: order.index(state.phase)],
        largest=LARGEST,
    )


def _progress(state: SiteState, team: str, accounts: dict[str, str]) -> dict[str, Any]:
    """How far a team is."""
    submissions = state.submissions[team]
    table = state.tables.get(team)
    return {
        "team": team,
        "title": state.titles[team],
        "account": accounts.get(team, "not invited"),
        "table": table.number if table else None,
        "attacked": sum(attacker == team for attacker, _ in state.attacks),
        "submissions": len(submissions),
        "last": submissions[-1][1].time if submissions else None,
        "used": state.used(team),
        "disqualified": state.disqualified.get(team),
    }


async def decision(visit: Visit, action: str) -> Response:
    """Carry out one decision of the host."""
    site, form = visit.site, visit.form
    refuse_if(
        action in ("advance", "reopen", "disqualify") and not form.text("sure"),
        422,
        Sentence("tick the box to confirm; nothing has changed"),
    )

    async def decide_now() -> str:
        # Files that arrived before the decision are still being checked.
        async with site.turns.of_all():
            return await site.work(decide, action, dict(form.fields), site.clock())

    return await decided(visit, "decision", decide_now)


async def admit_late(visit: Visit) -> Response:
    """Admit a late file of a team."""
    site, form = visit.site, visit.form
    team = form.text("team")
    refuse_if(team not in site.teams, 422, Sentence("choose a team"))
    refuse_if(len(form.files) != 1, 422, Sentence("no file was sent; choose a file first"))
    one = form.files[0]

    async def carry_out() -> dict[str, Any]:
        given = (team, one.claimed_name, form.text("against"), one.content, form.text("reason"))
        admitted = await site.work(admit_file, *given, site.clock())
        return {"kind": "upload", "files": [admitted], "done": admitted["accepted"]}

    outcome = await site.once.run(visit.form_key, carry_out)
    return shown(visit, outcome, ok=outcome["done"])


async def score_again(visit: Visit) -> Response:
    """Score again what made its scoring fail."""
    visit.site.scoring.wake(retry=True)
    return shown(visit, {"kind": "decision", "message": Sentence("failed scorings run again")})


async def export(visit: Visit) -> Response:
    """Everything of the tournament except for its secret seed, as a ZIP archive."""
    site = visit.site
    path = site.uploads / f"{secrets.token_hex(16)}.zip"
    await site.work(export_all, path)
    # Each archive is made anew. A part of it would not continue another one, so requests for a range get all of it.
    headers = {
        "Content-Disposition": 'attachment; filename="tournament.zip"',
        "Content-Length": str(path.stat().st_size),
        "Accept-Ranges": "none",
        "Cache-Control": "no-store",
    }
    return StreamingResponse(read_once(path), media_type="application/zip", headers=headers)


async def invite(visit: Visit) -> Response:
    """Make a one-time link for a team or the host, and show it once."""
    site, name = visit.site, visit.form.text("team")
    refuse_if(name not in site.teams and name != host_name(site.settings.teams), 422, Sentence("choose a team"))
    token = await to_thread.run_sync(site.accounts.invitations.issue, name, site.clock())
    link = str(visit.request.base_url.replace(path=f"/invitation/{token}"))
    return answered(visit, "invited.html", {"name": name, "link": link, "days": LIFETIME.days})
