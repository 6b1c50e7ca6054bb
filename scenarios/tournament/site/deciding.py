"""Uploads from their arrival to their decision: recorded first, then checked in the order of their arrival."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from anyio import to_thread

from metrics.columns import one_line
from scenarios.tournament.rules import Phase, Tournament, publish_again, site_locked
from scenarios.tournament.rules.arrivals import Arrival, TooManyBytesError, accepted_arrivals, arrivals, record
from scenarios.tournament.site.jobs import close_ended, publish_decided, submit_file
from scenarios.tournament.site.journal import EVERY
from scenarios.tournament.site.posted_form import UploadedContent, UploadedFile
from scenarios.tournament.site.refusal_error import DamagedFolderError, RefusalError, noticing_damage
from scenarios.tournament.site.site import Site

_log = logging.getLogger("uvicorn.error")
"""The server's output."""

# Uploads that a killed server left behind are checked by the next command that depends on them.


def settle(tournament: Tournament) -> int:
    """Check the uploads that arrived and are not decided yet, unless a server does so; return how many are left."""
    if not arrivals(tournament):
        return 0
    try:
        # No server can start in this block, and one that runs checks them itself.
        with suppress(BlockingIOError), site_locked(tournament.folder):
            known = accepted_arrivals(tournament.log.entries())
            for one in arrivals(tournament):
                for given in _undecided(one, known):
                    submit_file(tournament.folder, *given)
                one.path.unlink()
            publish_again(tournament)
    except DamagedFolderError as damage:
        raise ValueError(str(damage)) from None
    return len(arrivals(tournament))


async def recorded(
    site: Site, number: int, team: str, chosen: str, files: Sequence[UploadedFile], arrived: datetime
) -> Arrival:
    """Record an upload durably; see `record`."""
    state = await site.state()

    def write() -> Arrival:
        contents = [(file.claimed_name, file.content.read()) for file in files]
        return record(state.tournament, number, team, chosen, contents, arrived, site.clock())

    with noticing_damage(site.folder):
        try:
            return await to_thread.run_sync(write)
        except TooManyBytesError as error:
            raise RefusalError(429, str(error), headers={"Retry-After": "60"}) from None


async def forget(site: Site, arrival: Arrival) -> None:
    """Remove the record of an upload whose files are decided, and publish what waited for them."""
    with noticing_damage(site.folder):
        await to_thread.run_sync(lambda: arrival.path.unlink(missing_ok=True))
        if arrival.phase is not Phase.ATTACK and (await site.state()).phase is not arrival.phase:
            await site.work(publish_decided)


async def resumed(site: Site) -> list[asyncio.Task[None]]:
    """Begin to check what a stopped or killed server left undecided; later uploads of a team wait for that."""
    try:
        state = await site.state()
    except DamagedFolderError:
        return []
    by_team: dict[str, list[Arrival]] = {}
    for arrival in await to_thread.run_sync(arrivals, state.tournament):
        by_team.setdefault(arrival.team, []).append(arrival)
    known = accepted_arrivals(state.entries)
    tasks = [asyncio.create_task(_check_all(site, team, own, known)) for team, own in by_team.items()]
    # Each task takes the turn of its team before the first request comes.
    await asyncio.sleep(0)
    return tasks


async def _check_all(site: Site, team: str, waiting: Sequence[Arrival], known: frozenset[str]) -> None:
    """Check those files of a team's uploads of which the log knows nothing; nobody waits for their outcomes."""
    if team in site.teams:
        async with site.turns.of(team):
            for arrival in waiting:
                with suppress(DamagedFolderError, RefusalError):
                    for given in await to_thread.run_sync(_undecided, arrival, known):
                        await site.work(submit_file, *given)
                    await forget(site, arrival)
        site.scoring.wake()


def _undecided(
    arrival: Arrival, known: frozenset[str]
) -> list[tuple[str, str, str, UploadedContent, datetime, Phase, str]]:
    """What `submit_file` needs of each file of an upload that was not accepted yet; `known` names those that were."""
    return [
        (arrival.team, name, arrival.chosen, UploadedContent(data), arrival.arrived, arrival.phase, own)
        for number, (name, data) in enumerate(arrival.files())
        if (own := arrival.name_of(number)) not in known
    ]


# Phases that close at their ends.

_AGAIN = 10.0
"""Seconds until the next attempt to close a phase that could not be closed."""


async def close_phases(site: Site) -> None:
    """Close each phase at its end and open the next one, until the task is cancelled."""
    while True:
        try:
            until = (await site.state()).until
            if until is not None and site.clock() >= until:
                async with site.turns.of_all():
                    await site.work(close_ended, site.clock())
                site.scoring.wake()
            await asyncio.sleep(EVERY)
        except (DamagedFolderError, RefusalError, ValueError) as error:
            _log.error("the phase cannot be closed now: %s", one_line(error))
            await asyncio.sleep(_AGAIN)
