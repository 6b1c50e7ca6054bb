"""Public settings of a tournament: teams, sizes, phases and deadlines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from metrics.columns import Sentence, refuse, require
from metrics.columns.printable import printable
from scenarios.tables.toml.toml_file import TomlTable, read_bytes, read_toml
from scenarios.tournament.rules.contest import Contest
from scenarios.tournament.rules.log import tournament_files
from scenarios.tournament.rules.problems import GuidedError

# Texts of people that others see: titles of tournaments and teams, reasons and messages.

LONGEST_TITLE, LONGEST_TOURNAMENT, LONGEST_REASON, LONGEST_MESSAGE = 60, 80, 500, 4000
"""Largest lengths in characters."""


def checked_title(title: str, team: str, others: Mapping[str, str]) -> str:
    """A title of a team in any script, in Unicode's composed form and without spaces at its ends."""
    given = _composed(title, Sentence("of team {team}", team=team), LONGEST_TITLE)
    for other, theirs in others.items():
        refuse(
            other != team and alike(given) in (alike(other), alike(theirs)),
            Sentence("title {given!r} of team {team}: is that of team {other}", given=given, team=team, other=other),
        )
    return given


def tournament_title(title: str) -> str:
    """A title of a tournament in any script, in Unicode's composed form and without spaces at its ends."""
    return _composed(title, Sentence("of the tournament"), LONGEST_TOURNAMENT)


def _composed(title: str, of: str, longest: int) -> str:
    """A title in one line and in Unicode's composed form."""
    given = " ".join(unicodedata.normalize("NFC", title).split())
    shown = repr(given[:longest])
    refuse(
        not given or len(given) > longest,
        Sentence("title {shown} {of}: must have 1 to {longest} characters", shown=shown, of=of, longest=longest),
    )
    refuse(
        printable(title) != title or not given.isprintable(),
        Sentence("title {shown} {of}: holds a control character", shown=shown, of=of),
    )
    return given


def checked_text(text: str, what: str, longest: int) -> str:
    """A text that others see, such as a reason, without spaces at its ends."""
    given = text.replace("\r\n", "\n").strip()
    require(given, Sentence("{what}: must not be empty; teams see it", what=what))
    refuse(
        len(given) > longest,
        Sentence(
            "{what}: has {count} characters, at most {most} are allowed", what=what, count=len(given), most=longest
        ),
    )
    refuse(printable(given) != given, Sentence("{what}: holds a control character", what=what))
    return given


def checked_reason(reason: str) -> str:
    """A reason in one line; see `checked_text`."""
    try:
        return " ".join(checked_text(reason, Sentence("reason"), LONGEST_REASON).split())
    except ValueError as error:
        raise GuidedError("", f"--{error}", str(error)) from None


def alike(name: str) -> str:
    """Form in which names are compared: equal for names that look alike."""
    return unicodedata.normalize("NFKC", name).casefold()


FILE = "tournament.toml"
TEAM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,31}")
QUOTA = 64 << 20
"""Default quota of a team, in bytes."""
PUBLISH_EVERY = 12 * 3600
"""Seconds between publications of the standings of a new tournament."""
_LAST_SECOND = time(23, 59, 59)
_WITH_TIME = re.compile(r"[\dW-]+[Tt ].+")
_WEEK = re.compile(r"\d{4}-?W\d\d([Tt ].*)?")


class Phase(StrEnum):
    """Phase of a tournament, which says what teams may submit."""

    ANONYMIZE = "anonymize"
    ANONYMIZE_AGAIN = "anonymize-again"
    ATTACK = "attack"
    CLOSED = "closed"

    @property
    def published(self) -> bool:
        """Whether the teams' tables are published."""
        return self in (Phase.ATTACK, Phase.CLOSED)


def team_name(name: str) -> str:
    """Check a team's name, which is also used in file names."""
    require(
        TEAM_NAME.fullmatch(name),
        Sentence("team {name!r}: a name is 1 to 32 of the letters A-Z, a-z, digits and hyphens", name=name),
    )
    return name


def moment(text: str) -> str:
    """Convert a date, with or without a time, to a moment of ISO 8601 in UTC.

    A date without a time is the end of that day: its last second. Without a zone, date and time are in the zone of this
    machine, which is the host's when the host gives commands.
    """
    try:
        # In UTC, the first and last days of the calendar may lie outside of it.
        return _parsed(text).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        raise ValueError(
            Sentence(
                "{text!r} is no moment; write it as 2026-06-17T12:00 or 2026-06-17T12:00+09:00, or as "
                "2026-06-17 for the end of that day",
                text=text,
            )
        ) from None


def _parsed(text: str) -> datetime:
    refuse(_WEEK.fullmatch(text), "a week is no day; Python takes it for its Monday")
    try:
        return datetime.combine(date.fromisoformat(text), _LAST_SECOND)
    except ValueError:
        # Python takes any character between date and time, so that a zone after a date would be a time.
        if not _WITH_TIME.fullmatch(text):
            raise
        return datetime.fromisoformat(text)


_SECONDS = {Sentence("second"): 1, Sentence("minute"): 60, Sentence("hour"): 3600, Sentence("day"): 86400}
_DURATION = re.compile(r"([0-9]{1,5}) ?(s|min|h|d)")


def seconds_in(text: str) -> int:
    """Seconds of a time such as ``90min``, ``12h`` or ``2d``."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise ValueError(f"{text!r} is no length of time; write it as 30min, 12h or 2d")
    return int(found[1]) * next(seconds for unit, seconds in _SECONDS.items() if unit.startswith(found[2]))


def duration_text(seconds: int) -> str:
    """A length of time in its largest whole unit, such as ``12 hours``."""
    unit = next(unit for unit, size in reversed(_SECONDS.items()) if seconds % size == 0)
    count = seconds // _SECONDS[unit]
    return Sentence("{count:,} {unit}" if count == 1 else "{count:,} {unit}s", count=count, unit=unit)


WEEKDAYS = (
    Sentence("Monday"),
    Sentence("Tuesday"),
    Sentence("Wednesday"),
    Sentence("Thursday"),
    Sentence("Friday"),
    Sentence("Saturday"),
    Sentence("Sunday"),
)
"""Days of the week, Monday first."""


def local_text(moment: datetime) -> str:
    """A moment for people: weekday, date and time in the zone of this machine."""
    try:
        local = moment.astimezone()
    except OverflowError:
        local = moment.astimezone(UTC)
    offset = f"UTC{local.isoformat()[-6:]}"
    name = local.tzname() or ""
    zone = f"{name} ({offset})" if name.isalpha() else offset
    return Sentence(
        "{weekday} {time:%Y-%m-%d} {time:%H:%M:%S} {zone}",
        weekday=WEEKDAYS[local.weekday()],
        time=local,
        zone="UTC" if name == "UTC" else zone,
    )


def moment_text(moment: datetime) -> str:
    """A moment for people: in the zone of this machine, and in UTC if that differs."""
    local, utc = local_text(moment), f"{moment.astimezone(UTC):%A %Y-%m-%d %H:%M:%S} UTC"
    return local if local == utc else f"{local}, which is {utc}"


def _plain(value: object) -> object:
    """A date or time of TOML as text."""
    return value.isoformat() if isinstance(value, date) else value


Team = Annotated[str, AfterValidator(team_name)]
Moment = Annotated[str, BeforeValidator(_plain), AfterValidator(moment)]


class Settings(TomlTable):
    """Public settings of a tournament, as its `tournament.toml` holds them.

    Parameters
    ----------
    format : int
        Version of the folder's format.
    title : str
        Title of the tournament, which pages show; that of the data set if the host gave none.
    teams : list of str
        Names of the teams.
    originals, candidates : int
        Number of rows of a team's original table, and of its candidate file.
    decoys : {"random", "hard"}
        How decoys are chosen: at random, or as the people most like the originals.
    rounds : {1, 2}
        Number of rounds of anonymization; in the second one, teams know their candidate file.
    anonymize_until, anonymize_again_until, attack_until : str
        Ends of the phases, as `moment` reads them; `anonymize_again_until` only with two rounds.
    queries_seed : int
        Seed of the range counts by which utility is measured; it is public, so that teams measure the same utility.
    decimals : dict of str to int
        Largest number of decimals in each column.
    quota : int
        Most bytes that are kept of a team's files, equal files counted once.
    ranking : {"ranks", "score"}
        How teams are ranked overall: by the sum of their ranks, as in folders of before, or by defense + attack.
    hide_standings : bool
        Whether standings and attacks' outcomes are for the host alone until the tournament closes.
    publish_every : int, optional
        Seconds between publications of the standings, counted back from the end of the attack phase; without it they
        are published as they come, as in folders of before.
    freeze : int, optional
        Seconds before that end from which on nothing is published until the tournament closes.
    present_until : str, optional
        End of the time in which teams may change their presentations, which goes on after the close; without it they
        may until the end of the attack phase.
    language : {"en", "ja"}
        Language of the rules, the notices and the reports in the folder.
    contest : Contest, optional
        Utility measures that count; without it, the smaller of the table's and the records' utility, as in folders of
        before.
    """

    format: Literal[1] = 1
    title: str
    teams: list[Team] = Field(min_length=2)
    originals: int = Field(ge=1)
    candidates: int = Field(ge=2)
    decoys: Literal["random", "hard"] = "random"
    rounds: Literal[1, 2] = 1
    anonymize_until: Moment
    anonymize_again_until: Moment | None = None
    attack_until: Moment
    queries_seed: int = Field(ge=0)
    decimals: dict[str, int] = Field(default_factory=dict)
    quota: int = Field(default=QUOTA, ge=1)
    ranking: Literal["ranks", "score"] = "ranks"
    hide_standings: bool = False
    publish_every: int | None = Field(default=None, ge=60)
    freeze: int | None = Field(default=None, ge=1)
    present_until: Moment | None = None
    language: Literal["en", "ja"] = "en"
    contest: Contest | None = None

    @property
    def rules(self) -> Contest:
        """The contest's rules; those of folders of before if there are none."""
        return self.contest or Contest()

    @property
    def publication(self) -> str:
        """When standings are published before the close, in words; empty if they are published as they come."""
        parts = []
        if self.publish_every is not None:
            every = duration_text(self.publish_every)
            parts.append(
                Sentence("They are updated every {every}, counted back from the end of the attack phase.", every=every)
            )
        if self.freeze is not None:
            last = duration_text(self.freeze)
            parts.append(Sentence("In its last {last} they are frozen until the close.", last=last))
        return Sentence.joined(" ", parts)

    def presents(self, phase: Phase, end: datetime | None, moment: datetime) -> bool:
        """Whether teams may change their presentations at a moment; `end` is that of the phase."""
        if self.present_until is not None:
            return moment < datetime.fromisoformat(self.present_until)
        return phase is not Phase.CLOSED and (phase is not Phase.ATTACK or end is None or moment < end)

    @property
    def phases(self) -> list[Phase]:
        """The phases in order."""
        return [Phase.ANONYMIZE, *([Phase.ANONYMIZE_AGAIN] if self.rounds == 2 else []), Phase.ATTACK, Phase.CLOSED]

    def until(self, phase: Phase) -> datetime | None:
        """End of a phase; None if it has none."""
        end = {
            Phase.ANONYMIZE: self.anonymize_until,
            Phase.ANONYMIZE_AGAIN: self.anonymize_again_until,
            Phase.ATTACK: self.attack_until,
        }.get(phase)
        return None if end is None else datetime.fromisoformat(end)

    @property
    def ends(self) -> list[tuple[Phase, datetime]]:
        """Each phase that ends, with its end, in order."""
        return [(phase, end) for phase in self.phases if (end := self.until(phase)) is not None]

    def after(self, phase: Phase) -> Phase:
        """The next phase."""
        order = self.phases
        return order[min(order.index(phase) + 1, len(order) - 1)]


@tournament_files()
def read_settings(folder: Path) -> Settings:
    """Settings of the tournament in a folder."""
    path = folder / FILE
    require(path.is_file(), f"{folder}: is no tournament; `tokumei tournament init {folder}` makes one")
    return read_toml(path, read_bytes(path), Settings)
