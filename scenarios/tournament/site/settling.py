"""Uploads that a killed server left behind are checked by the next command that depends on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scenarios.tournament.rules.advancing import publish_again
from scenarios.tournament.rules.arrivals import accepted_arrivals, arrivals, unserved
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.site.damaged_folder_error import DamagedFolderError
from scenarios.tournament.site.jobs import submit_file
from scenarios.tournament.site.uploaded_content import UploadedContent


@contextmanager
def _named_damage() -> Iterator[None]:
    """Refuse to go on in a damaged folder."""
    try:
        yield
    except DamagedFolderError as damage:
        raise ValueError(str(damage)) from None


def settle(tournament: Tournament) -> int:
    """Check the uploads that arrived and are not decided yet, unless a server does so; return how many are left.

    Raises
    ------
    OSError, ValueError
        If a file cannot be read or written, or is damaged.
    """
    if not arrivals(tournament):
        return 0
    with unserved(tournament) as here, _named_damage():
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
