"""Whether the site is well, for supervisors."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from scenarios.tournament.site.members.user import Role
from scenarios.tournament.site.visit import Visit


async def health(visit: Visit) -> Response:
    """Phase, if the server answers and the log is sound; members also get the number of its entries.

    Guests do not, since that number shows when files are submitted.
    """
    state = await visit.site.state()
    entries = {} if visit.user.role is Role.GUEST else {"entries": len(state.entries)}
    return JSONResponse({"phase": str(state.phase), **entries})
