"""Uploads that a killed server left behind are checked by the next command that depends on them."""

from __future__ import annotations

from scenarios.tournament.advancing import publish_again
from scenarios.tournament.arrivals import accepted_arrivals, arrivals, unserved
from scenarios.tournament.folder import Tournament
from scenarios.tournament.site.jobs import submit_file
from scenarios.tournament.site.uploaded_content import UploadedContent


def settle(tournament: Tournament) -> int:
    """Check the uploads that arrived and are not decided yet, unless a server does so; return how many are left.

    Raises
    ------
    OSError
        If a file cannot be read or written.
    """
    if not arrivals(tournament):
        return 0
    with unserved(tournament) as here:
        if here:
            known = accepted_arrivals(tournament.log.entries())
            for one in arrivals(tournament):
                for number, (name, data) in enumerate(one.files()):
                    if one.name_of(number) not in known:
                        content, own = UploadedContent(data), one.name_of(number)
                        submit_file(tournament.folder, one.team, name, one.chosen, content, one.arrived, one.phase, own)
                one.path.unlink()
            publish_again(tournament)
    return len(arrivals(tournament))
