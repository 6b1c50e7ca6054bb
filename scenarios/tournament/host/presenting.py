"""Presentations of the teams: a text about the method and a picture, shown after the close."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from metrics.columns import PRIVATE, Sentence, refuse, require
from scenarios.tournament.rules import (
    LogEntry,
    Phase,
    Settings,
    State,
    Tournament,
    checked_text,
    store_file,
    stored_file,
)

# Pictures of presentations: PNG or JPEG within limits, and without metadata.

LARGEST_PICTURE = 2 << 20
"""Largest size of a picture, in bytes."""
LONGEST_SIDE, MOST_PIXELS = 4096, 8_000_000
_BEGINNINGS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
"""Media type of a picture by its first bytes."""


def media_type(data: bytes) -> str | None:
    """Media type of a picture by its first bytes; None if it is neither PNG nor JPEG."""
    return next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), None)


def checked_picture(data: bytes) -> bytes:
    """A picture to store: Pillow writes it anew, which drops metadata and appended data.

    The size in pixels is read from the header, so no pixel of a too large picture is decoded.
    """
    refuse(
        len(data) > LARGEST_PICTURE,
        Sentence("picture: has {size} bytes, at most {most} are allowed", size=len(data), most=LARGEST_PICTURE),
    )
    kind = media_type(data)
    if kind is None:
        raise ValueError(Sentence("picture: is neither PNG nor JPEG; save it as one of them"))
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise ValueError(
            Sentence(
                "picture: the tournament's machine lacks Pillow, which removes hidden data from "
                "pictures; its host installs it by pip install 'tokumei[server]'. The text can be stored "
                "without a picture"
            )
        ) from None
    name, target = kind.removeprefix("image/").upper(), io.BytesIO()
    most = Sentence("at most {side} a side and {pixels} altogether are allowed", side=LONGEST_SIDE, pixels=MOST_PIXELS)
    try:
        with _undamaged():
            # This reads the header alone.
            source = Image.open(io.BytesIO(data), formats=[name])
    except Image.DecompressionBombError:
        raise ValueError(Sentence("picture: has too many pixels; {most}", most=most)) from None
    width, height = source.size
    require(
        0 < width <= LONGEST_SIDE and 0 < height <= LONGEST_SIDE and width * height <= MOST_PIXELS,
        Sentence("picture: has {width} x {height} pixels; {most}", width=width, height=height, most=most),
    )
    with _undamaged():
        turned = ImageOps.exif_transpose(source)
        mode = "RGBA" if name == "PNG" and turned.has_transparency_data else "RGB"
        # A new image has the pixels alone, no metadata.
        clean = Image.new(mode, turned.size)
        clean.paste(turned.convert(mode))
        clean.save(target, name, **({"quality": 90} if name == "JPEG" else {}))
    refuse(
        target.tell() > 2 * LARGEST_PICTURE,
        Sentence("picture: is too large when it is decoded; save it with fewer pixels"),
    )
    return target.getvalue()


@contextmanager
def _undamaged() -> Iterator[None]:
    """Let errors of Pillow say that a picture is damaged."""
    try:
        yield
    except (OSError, SyntaxError, ValueError):
        raise ValueError(Sentence("picture: is damaged; save it again")) from None


LONGEST_TEXT = 20_000
"""Largest length of the text in characters."""
MOST_CHANGES = 50
"""Number of versions that a team may store; all of them stay, as the log names them."""
_FOLDER = "presentations"


@dataclass(frozen=True)
class Presentation:
    """A team's presentation, as the log names it.

    Attributes
    ----------
    team : str
        The team.
    time : str
        Time of the last change, ISO 8601.
    text : str
        SHA-256 of the text (Markdown).
    picture : str or None
        SHA-256 of the picture, if there is one.
    """

    team: str
    time: str
    text: str
    picture: str | None


def present(
    tournament: Tournament,
    team: str,
    text: str,
    picture: bytes | None,
    now: datetime,
    *,
    keep_picture: bool = False,
) -> Presentation:
    """Store a team's presentation in place of its former one."""
    tournament.team_folder(team)
    content = checked_text(text, Sentence("text of the presentation"), LONGEST_TEXT).encode()
    image = None if picture is None else checked_picture(picture)
    with tournament.log.locked():
        tournament.sweep()
        state = tournament.state()
        _check_open(state, team, now)
        details = {"team": team, "text": _store(tournament, content)}
        former = presentations(state.entries).get(team)
        if image is not None:
            details["picture"] = _store(tournament, image)
        elif keep_picture and former is not None and former.picture is not None:
            details["picture"] = former.picture
        entry = tournament.log.append("presented", details, now)
    return _presentation(entry)


def presentations(entries: Sequence[LogEntry]) -> dict[str, Presentation]:
    """Last presentation of each team that has one."""
    return {entry.details["team"]: _presentation(entry) for entry in entries if entry.kind == "presented"}


def shown_presentations(tournament: Tournament, entries: Sequence[LogEntry]) -> dict[str, Presentation]:
    """Presentations that everybody sees: none before the close, and none of disqualified teams."""
    state = tournament.state(entries)
    shown = presentations(entries) if state.phase is Phase.CLOSED else {}
    return {team: one for team, one in shown.items() if team not in state.disqualified}


def presented_names(entries: Sequence[LogEntry]) -> list[str]:
    """Hashes of all texts and pictures that the log names."""
    return [
        entry.details[name]
        for entry in entries
        if entry.kind == "presented"
        for name in ("text", "picture")
        if name in entry.details
    ]


def presented_file(tournament: Tournament, sha256: str) -> bytes:
    """Content of a text or picture."""
    return stored_file(tournament.host / _FOLDER / sha256, "stored")


def wrong_presentation(entry: LogEntry, settings: Settings, phase: Phase, end: datetime | None, out: set[str]) -> str:
    """What in the log contradicts a presentation; empty if nothing does."""
    team = entry.details["team"]
    if team in out:
        return f"is of team {team}, which is disqualified"
    if settings.presents(phase, end, datetime.fromisoformat(entry.arrived)):
        return ""
    if phase is Phase.CLOSED or end is None:
        return "is a presentation after the close"
    return f"is a presentation of {entry.arrived}, after the end of phase {phase} at {end.isoformat()}"


# Points for presentations, by a jury and by the other teams.

MOST_POINTS = 10
"""Most points that a juror or a team gives to a presentation."""


def give_points(tournament: Tournament, team: str, giver: str, points: int, now: datetime, *, jury: bool) -> None:
    """Log the points of a juror or a team for a presentation that is shown; the last ones of each giver count."""
    require(0 <= points <= MOST_POINTS, Sentence("points are a whole number from 0 to {most}", most=MOST_POINTS))
    name = checked_text(giver, Sentence("name of the juror"), 60)
    with tournament.log.locked():
        entries = tournament.log.entries()
        out = tournament.state(entries).disqualified
        refuse(team not in shown_presentations(tournament, entries), Sentence("there is no such presentation"))
        refuse(not jury and name in out, Sentence("team {team} is disqualified", team=name))
        refuse(not jury and name == team, Sentence("a team gives its own presentation no points"))
        tournament.log.append("pointed", {"team": team, "by": name, "points": points, "jury": jury}, now)


def mean_points(entries: Sequence[LogEntry], team: str, *, jury: bool) -> tuple[float | None, int]:
    """Mean of the points that a presentation has of the jury or of the teams, and how many gave some."""
    about = [one.details for one in entries if one.kind == "pointed"]
    given = {one["by"]: one["points"] for one in about if (one["team"], one["jury"]) == (team, jury)}
    return (sum(given.values()) / len(given) if given else None), len(given)


def _check_open(state: State, team: str, now: datetime) -> None:
    refuse(
        not state.tournament.settings.presents(state.phase, state.until, now),
        Sentence("the tournament has ended; presentations stay as they are"),
    )
    refuse(team in state.disqualified, Sentence("team {team} is disqualified", team=team))
    refuse(
        sum(one.kind == "presented" and one.details["team"] == team for one in state.entries) >= MOST_CHANGES,
        Sentence(
            "team {team} has changed its presentation {count} times, no more changes are allowed",
            team=team,
            count=MOST_CHANGES,
        ),
    )


def _store(tournament: Tournament, data: bytes) -> str:
    """Write a file under its hash; return the hash."""
    folder = tournament.host / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return store_file(folder, data, mode=PRIVATE)


def _presentation(entry: LogEntry) -> Presentation:
    details = entry.details
    return Presentation(details["team"], entry.time, details["text"], details.get("picture"))
