"""Pages for everybody: phase, standings, rules, published tables, live updates, and the log-in."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

from anyio import to_thread
from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from leaderboard.pages.advantage_axis import Plane, inside, is_free, places_beside, text_box
from metrics.columns import Sentence
from scenarios.tournament.host.boards import SCORING_GOES_ON, built_in_legend
from scenarios.tournament.rules import (
    LANGUAGE,
    PUBLISHED,
    RANKING,
    Phase,
    alike,
    baseline_name,
    house_attacks,
    worded,
    zip_bytes,
)
from scenarios.tournament.site.account_store import Role, User, user_of
from scenarios.tournament.site.accounts import LIFETIME, LONGEST_PASSWORD, SHORTEST_PASSWORD
from scenarios.tournament.site.journal import MOST, SiteState
from scenarios.tournament.site.pages.answers import (
    STATIC,
    answered,
    attachment,
    done,
    environment,
    for_spreadsheets,
    hidden,
    page,
    published_bytes,
    rendered,
    static_content,
)
from scenarios.tournament.site.refusal_error import RefusalError, refuse_if
from scenarios.tournament.site.site import DEVICE, SESSION, Site, Visit, read_cookie, remove_cookie, set_cookie

# Standings, matrix and picture as the last scoring published them.

MOST_ATTACKERS = 40
"""Number of attackers that the page's matrix shows; the file has all."""


@dataclass(frozen=True)
class PublicBoard:
    """Standings and matrix as the files hold them, so that page, files and terminal agree.

    Attributes
    ----------
    standings : list of mapping of str to str
        A line of ``standings.csv`` for each team, best first; a missing value is empty. Titles are as they are, without
        the apostrophe by which the file keeps spreadsheets from calculating.
    attackers : list of str
        Attackers that the page shows, the strongest first.
    advantage : mapping of (str, str) to float
        Advantage by table and attacker.
    scored : float or None
        Moment of the scoring, in seconds since 1970; None before the first.
    """

    standings: list[dict[str, str]] = field(default_factory=list)
    attackers: list[str] = field(default_factory=list)
    advantage: Mapping[tuple[str, str], float] = field(default_factory=dict)
    scored: float | None = None

    @property
    def final(self) -> bool:
        """Whether the scoring was one of a closed tournament, and complete."""
        return bool(self.standings) and all(line.get("status") == "final" for line in self.standings)

    @property
    def partial(self) -> bool:
        """Whether results were missing, so that scoring went on."""
        return any(line.get("status") == "partial" for line in self.standings)


def read_board(folder: Path, titles: Mapping[str, str]) -> PublicBoard:
    """Board in a folder; empty before the first scoring."""
    path = folder / "standings.csv"
    try:
        written = path.stat().st_mtime
        standings = [{**line, "title": titles.get(line["team"], line["team"])} for line in _lines(path)]
    except FileNotFoundError:
        return PublicBoard()
    with suppress(FileNotFoundError):
        remarks = map(Sentence.read, json.loads((folder / "remarks.json").read_text(encoding="utf-8")))
        said: dict[str, str] = {one: one for one in remarks}
        standings = [{**line, "remark": said.get(line["remark"], line["remark"])} for line in standings]
    try:
        pairs = _lines(folder / "matrix.csv")
    except FileNotFoundError:
        pairs = []
    advantage = {(pair["defense"], pair["attack"]): float(pair["advantage"]) for pair in pairs if pair["advantage"]}
    sums: dict[str, float] = {}
    for (_, attacker), value in advantage.items():
        sums[attacker] = sums.get(attacker, 0.0) + value
    attackers = sorted(sums, key=lambda name: (-sums[name], name))[:MOST_ATTACKERS]
    return PublicBoard(standings, attackers, advantage, written)


def _lines(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


# Picture of utility against the worst attack.

_PLANE = Plane("linear", 640, 400, (56, 16, 32, 48), 0.0)
_FRAME = 0.0, _PLANE.width, 0.0, _PLANE.y(0.0) + 8
_LINE = 14.0
_LEVELS = [side * level for level in range(1, 25) for side in (1.0, -1.0)]
LONGEST_NAME = 24
"""Number of letters of a name that the picture shows."""


@dataclass(frozen=True)
class PicturePoint:
    """A team in the picture.

    Attributes
    ----------
    team : str
        The team.
    advantage : float
        Advantage of the worst attack.
    x, y : float
        Place in the picture.
    label_x, label_y : float
        Place of the label.
    anchor : {"start", "end"}
        Side of the label.
    """

    team: str
    advantage: float
    x: float
    y: float
    label_x: float
    label_y: float
    anchor: str


def picture_points(standings: Sequence[Mapping[str, str]]) -> list[PicturePoint]:
    """Points of the teams that have a table. The advantage of the worst attack is 1 - defense / utility.

    Each name stands beside its point, or as near to that as it is clear of the other points and names.
    """
    places = []
    for line in standings:
        if line.get("utility") and line.get("defense"):
            utility, defense = float(line["utility"]), float(line["defense"])
            advantage = 1 - defense / utility if utility > 0 else 1.0
            x, y = _PLANE.x(advantage), _PLANE.y(min(max(utility, 0.0), 1.0))
            places.append((line["team"], line.get("title") or line["team"], advantage, x, y))
    taken = [(x - 8, x + 8, y - 8, y + 8) for *_, x, y in places]
    points = []
    for team, title, advantage, x, y in places:
        beside = places_beside((x, y), 10.0, _LINE, 1.0, _LEVELS)
        boxes = {one: text_box(*one, _width(title), _LINE) for one in beside}
        free = (one for one, box in boxes.items() if inside(box, _FRAME) and is_free(box, taken))
        label_x, label_y, anchor = place = next(free, beside[0])
        taken.append(boxes[place])
        points.append(PicturePoint(team, advantage, x, y, label_x, round(label_y, 1), anchor))
    return points


def _width(title: str) -> float:
    """Width of a name in the picture, shortened as there; wide letters, such as Japanese ones, take twice the room."""
    shown = title if len(title) <= LONGEST_NAME else f"{title[: LONGEST_NAME - 1]}…"
    return sum(12.0 if east_asian_width(letter) in "WF" else 7.0 for letter in shown)


_BOARDS = ("standings.csv", "matrix.csv")
HIDDEN = Sentence("The standings are hidden until the tournament closes.")


async def board_page(visit: Visit, name: str) -> Response:
    """A page of the board, or of its standings for a projector, rendered once for each state and user."""
    site = visit.site
    # Looking at four files takes less time than handing that to a thread.
    stamp = site.journal.stamp()
    state = await site.state()
    ended = state.until is not None and site.clock() >= state.until
    if visit.wants_json:
        if hidden(visit, state):
            return JSONResponse({**_phases(state, ended), "counts": HIDDEN, "standings": []})
        board = await to_thread.run_sync(read_board, site.folder / "public", state.titles)
        return JSONResponse(
            {**_phases(state, ended), "counts": what_counts_now(state, board), "standings": board.standings}
        )

    # The page holds no secret, so compressing it reveals none.
    compressed = "gzip" in visit.request.headers.get("accept-encoding", "")
    member, concealed = visit.user.role is not Role.GUEST, hidden(visit, state)

    async def content() -> bytes:
        return await to_thread.run_sync(_content, site, f"{name}_main.html", state, ended, member, concealed)

    async def whole() -> bytes:
        # All members see the same content, and only the navigation has a name.
        main = await site.pages.get((name, LANGUAGE.get(), member, concealed), (stamp, ended), content)
        text = rendered(visit, f"{name}.html", content=Markup(main.decode()))  # noqa: S704 (a template has escaped it)
        data = text.encode()
        return await to_thread.run_sync(lambda: gzip.compress(data, 6, mtime=0)) if compressed else data

    data = await site.pages.get((name, LANGUAGE.get(), visit.user, compressed), (stamp, ended), whole)
    tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Cookie, Accept, Accept-Encoding, Accept-Language"}
    if compressed:
        headers["Content-Encoding"] = "gzip"
    if visit.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(data, headers=headers)


def _content(site: Site, template: str, state: SiteState, ended: bool, member: bool, concealed: bool) -> bytes:
    """Content of a page of the board."""
    board = PublicBoard() if concealed else read_board(site.folder / "public", state.titles)
    return (
        environment()
        .get_template(template)
        .render(
            title=site.settings.title,
            state=state,
            ended=ended,
            member=member,
            hidden=concealed,
            board=board,
            counts=HIDDEN if concealed else what_counts_now(state, board),
            points=picture_points(board.standings),
            plane=_PLANE,
            ranking=RANKING[site.settings.ranking],
            legend=built_in_legend([baseline_name(one) for one in house_attacks(site.settings.rules)]),
        )
        .encode()
    )


def _phases(state: SiteState, ended: bool) -> dict[str, Any]:
    return {
        "phase": str(state.phase),
        "until": state.until.isoformat() if state.until else None,
        "ended": ended,
        "phases": [{"phase": str(phase), "until": end.isoformat()} for phase, end in state.ends],
        "teams": [{"team": team, "title": state.titles[team]} for team in state.tournament.settings.teams],
        "disqualified": dict(state.disqualified),
        "notices": [asdict(one) for one in state.notices],
    }


def what_counts_now(state: SiteState, board: PublicBoard) -> str:
    """What the published standings count, in words. Those from before the close are never called final."""
    if not board.standings:
        return Sentence(
            "The final standings are not scored yet. {count} of {teams} teams have submitted a table."
            if state.phase is Phase.CLOSED
            else "Standings are not scored yet. {count} of {teams} teams have submitted a table.",
            count=len(state.tables),
            teams=len(state.titles),
        )
    if state.phase is not Phase.CLOSED:
        if board.final:
            return Sentence(
                "Standings of the earlier close, in which all rows counted. The tournament was reopened since."
            )
        so_far = Sentence(
            "Standings so far: until the tournament closes, a secret share of each table's rows counts, and membership "
            "does not."
        )
        parts = [SCORING_GOES_ON if board.partial else "", so_far, state.tournament.settings.publication]
        return Sentence.joined(" ", list(filter(None, parts)))
    closings = [entry.time for entry in state.entries if entry.details.get("to") == str(Phase.CLOSED)]
    closed = datetime.fromisoformat(closings[-1]).timestamp()
    after = board.scored is not None and board.scored >= closed
    if after and board.partial:
        return Sentence.joined(" ", [SCORING_GOES_ON, Sentence("The final standings are not complete yet.")])
    if not after or not board.final:
        return Sentence("Standings from before the close; the final ones are not scored yet.")
    return Sentence("Final standings: all rows count, and membership does, too.")


async def rules_page(visit: Visit) -> Response:
    """The rules of the tournament."""
    path = visit.site.folder / "teams" / visit.site.settings.teams[0] / "RULES.md"
    data = await published_bytes(path, Sentence("the rules are missing from the teams' folders"))
    state, same = await visit.site.state(), LANGUAGE.get() == visit.site.settings.language
    text = data.decode() if same else worded(await to_thread.run_sync(lambda: state.rules))
    return answered(visit, "document.html", {"text": text}, heading="")


async def board_file(visit: Visit) -> Response:
    """Standings or matrix as a file."""
    name = visit.request.path_params["name"]
    refuse_if(
        name not in _BOARDS, 404, Sentence("there is no such file; there are {boards}", boards=" and ".join(_BOARDS))
    )
    refuse_if(hidden(visit, await visit.site.state()), 403, HIDDEN)
    return await _published(visit, name)


async def _published(visit: Visit, name: str) -> Response:
    """A CSV file of the public folder."""
    data = await published_bytes(visit.site.folder / "public" / name, Sentence("this file is not published yet"))
    return attachment(for_spreadsheets(name, data), name, "text/csv; charset=utf-8")


async def published_files(visit: Visit) -> Response:
    """All published tables and candidate files as a ZIP archive."""
    state = await visit.site.state()
    files = await to_thread.run_sync(state.tournament.published_files)
    refuse_if(not files, 404, Sentence("nothing is published yet"))
    saved = [(name, for_spreadsheets(name, data)) for name, data in files.items()]
    return attachment(await to_thread.run_sync(zip_bytes, saved), "published.zip", "application/zip")


async def published_file(visit: Visit) -> Response:
    """A team's published table or candidate file."""
    kind = visit.request.path_params["kind"]
    refuse_if(
        kind not in PUBLISHED,
        404,
        Sentence("there is no such file; there are the tables (anonymized) and the candidate files"),
    )
    name = f"{visit.request.path_params['of']}_{kind}.csv"
    refuse_if(visit.request.path_params["of"] not in visit.site.teams, 404, Sentence("there is no such team"))
    return await _published(visit, name)


async def static_file(visit: Visit) -> Response:
    """Style sheet or script."""
    name = visit.request.path_params["name"]
    refuse_if(name not in STATIC, 404, Sentence("there is no such file"))
    headers = {"Cache-Control": "public, max-age=86400"}
    return Response(await to_thread.run_sync(static_content, name), media_type=STATIC[name], headers=headers)


async def live(visit: Visit) -> Response:
    """A stream of events for the script of a page."""
    updates = visit.site.updates
    if visit.request.method == "HEAD":
        return Response(media_type="text/event-stream", headers={"Cache-Control": "no-store"})
    refuse_if(
        updates.listeners >= MOST,
        503,
        Sentence("too many pages are open; reload this one by hand"),
        {"Retry-After": "60"},
    )
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(updates.events(), media_type="text/event-stream", headers=headers)


# Pages to log in, to accept an invitation, and to log out.


async def log_in_page(visit: Visit) -> Response:
    """Form to log in."""
    then = local_path(visit.request.query_params.get("then", ""))
    return answered(visit, "log_in.html", {}, then=then, name="", message="")


async def log_in(visit: Visit) -> Response:
    """Log in."""
    form, site = visit.form, visit.site
    name = form.text("name")
    if user_of(name, site.settings.teams) is None:
        # A team may log in by its title, which may be in any script.
        titles = (await site.state()).titles
        name = next((team for team, title in titles.items() if alike(title) == alike(name)), name)
    try:
        password = form.fields.get("password", "")
        token = await site.hashing(site.accounts.log_in, name, password, visit.address, site.clock(), device(visit))
    except RefusalError as refusal:
        if visit.wants_json:
            raise
        then = local_path(form.text("then"))
        return page(
            visit, "log_in.html", refusal.status, refusal.headers, then=then, name=name[:100], message=str(refusal)
        )
    return await _entered(visit, user_of(name, site.settings.teams), token, local_path(form.text("then")))


async def invitation_page(visit: Visit) -> Response:
    """Form to set a password."""
    site, token = visit.site, visit.request.path_params["token"]
    invited = await to_thread.run_sync(site.accounts.invitations.find, token, site.clock())
    if invited is None or invited[1]:
        raise RefusalError(
            404, Sentence("this link is wrong, was used, or has expired; log in, or ask the host for a new one")
        )
    return answered(
        visit, "invitation.html", {"name": invited[0]}, shortest=SHORTEST_PASSWORD, longest=LONGEST_PASSWORD, message=""
    )


async def accept_invitation(visit: Visit) -> Response:
    """Set the password of an invited user and log in."""
    form, site, token = visit.form, visit.site, visit.request.path_params["token"]
    invited = await to_thread.run_sync(site.accounts.invitations.find, token, site.clock())
    try:
        session = await site.hashing(
            site.accounts.accept,
            token,
            form.fields.get("password", ""),
            form.fields.get("repeated", ""),
            visit.address,
            site.clock(),
            device(visit),
        )
    except RefusalError as refusal:
        if visit.wants_json or refusal.status != 422 or invited is None:
            raise
        return page(
            visit,
            "invitation.html",
            refusal.status,
            name=invited[0],
            shortest=SHORTEST_PASSWORD,
            longest=LONGEST_PASSWORD,
            message=str(refusal),
        )
    return await _entered(visit, user_of(invited[0], site.settings.teams) if invited else None, session, "")


async def account_page(visit: Visit) -> Response:
    """The user's account, with the ways to log out."""
    return answered(visit, "account.html", {"name": visit.user.name, "role": str(visit.user.role)})


async def log_out(visit: Visit) -> Response:
    """End this session, or all sessions of the user."""
    sessions = visit.site.accounts.sessions
    if visit.form.text("everywhere"):
        await to_thread.run_sync(sessions.end_all, visit.user.name)
    else:
        await to_thread.run_sync(sessions.end, visit.cookie)
    response = done(visit, "logged out", "/")
    remove_cookie(response, visit.site, SESSION)
    return response


def local_path(path: str) -> str:
    """A path of this site; empty if the text leads elsewhere."""
    plain = path.startswith("/") and path.isascii() and path.isprintable() and not set(path) & set("\\ ")
    return path if plain and not path.startswith("//") and len(path) < 500 else ""


def home(user: User | None) -> str:
    """First page of a user."""
    if user is None or user.role is Role.GUEST:
        return "/"
    return "/host" if user.role is Role.HOST else f"/team/{user.name}"


def device(visit: Visit) -> str:
    """Cookie of the visitor's browser, which lasts; empty if it has none."""
    return read_cookie(visit.request, visit.site, DEVICE)


async def _entered(visit: Visit, user: User | None, token: str, then: str) -> Response:
    """Answer that starts a session, and by which the browser is known later."""
    response = done(visit, "logged in", then or home(user), home=home(user))
    set_cookie(response, visit.site, SESSION, token)
    if user is not None:
        devices = visit.site.accounts.devices
        known = await to_thread.run_sync(devices.remember, device(visit), user.name, visit.site.clock())
        set_cookie(response, visit.site, DEVICE, known, lasts=LIFETIME)
    return response
