"""Pages to log in, to accept an invitation, and to log out."""

from __future__ import annotations

from anyio import to_thread
from starlette.responses import JSONResponse, RedirectResponse, Response

from scenarios.tournament.site.account_store import Role, User, user_of
from scenarios.tournament.site.accounts import LIFETIME, LONGEST_PASSWORD, SHORTEST_PASSWORD
from scenarios.tournament.site.pages.answers import answered, page
from scenarios.tournament.site.refusal_error import RefusalError
from scenarios.tournament.site.site import DEVICE, SESSION, Visit, read_cookie, remove_cookie, set_cookie


async def log_in_page(visit: Visit) -> Response:
    """Form to log in."""
    then = local_path(visit.request.query_params.get("then", ""))
    return answered(visit, "log_in.html", {}, then=then, name="", message="")


async def log_in(visit: Visit) -> Response:
    """Log in."""
    form, site = visit.form, visit.site
    name = form.text("name")
    try:
        password = form.fields.get("password", "")
        token = await site.hashing(site.accounts.log_in, name, password, visit.address, site.clock(), device(visit))
    except RefusalError as refusal:
        if visit.wants_json:
            raise
        then = local_path(form.text("then"))
        response = page(visit, "log_in.html", refusal.status, then=then, name=name[:100], message=str(refusal))
        response.headers.update(refusal.headers)
        return response
    return await _entered(visit, user_of(name, site.settings.teams), token, local_path(form.text("then")))


async def invitation_page(visit: Visit) -> Response:
    """Form to set a password."""
    site, token = visit.site, visit.request.path_params["token"]
    invited = await to_thread.run_sync(site.accounts.invitations.find, token, site.clock())
    if invited is None or invited[1]:
        raise RefusalError(404, "this link is wrong, was used, or has expired; log in, or ask the host for a new one")
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
    user = user_of(invited[0], site.settings.teams) if invited else None
    return await _entered(visit, user, session, "")


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
    response: Response = JSONResponse({"done": "logged out"}) if visit.wants_json else RedirectResponse("/", 303)
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
    response: Response
    if visit.wants_json:
        response = JSONResponse({"done": "logged in", "home": home(user)})
    else:
        response = RedirectResponse(then or home(user), status_code=303)
    set_cookie(response, visit.site, SESSION, token)
    if user is not None:
        devices = visit.site.accounts.devices
        known = await to_thread.run_sync(devices.remember, device(visit), user.name, visit.site.clock())
        set_cookie(response, visit.site, DEVICE, known, lasts=LIFETIME)
    return response
