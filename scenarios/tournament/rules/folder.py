"""Folder of a tournament: its files, who may see them, and its state according to the log.

```
tournament.toml                  public settings
public/                          everybody: teamX_anonymized.csv, teamX_candidate.csv, boards
teams/teamX/                     team X: teamX_original.csv, roles.toml, others.csv, RULES.md, its report
host/                            the host alone: log, submissions, truth, results
```
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import secrets
import shutil
import threading
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import Microdata
from metrics.columns import UNFINISHED, Integers, Sentence, refuse, write_atomically
from metrics.table_utility import prediction_target
from scenarios.tables import Dataset, generator, load_table
from scenarios.tournament.rules.contest import Contest
from scenarios.tournament.rules.log import (
    DamagedFileError,
    Log,
    LogEntry,
    locked_file,
    named_file,
    read_host_file,
    tournament_files,
)
from scenarios.tournament.rules.settings import FILE, Phase, Settings, read_settings
from scenarios.tournament.rules.sheets import Asked, Form, Forms
from scenarios.tournament.rules.submission_utility import Originals

# What the opening of a tournament logs about the host's files, by which later changes are noticed.

_FILES = ("host/roles.toml", "host/others.csv", "host/secret.json")
_FOLDERS = ("host/originals", "host/candidates")


def file_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file on which scores depend, by its path in the tournament's folder."""
    return {name: hash_of(folder / name) for name in _names(folder)}


def hash_of(path: Path) -> str:
    """SHA-256 of a file; empty if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def changed_file(folder: Path, recorded: Mapping[str, str], path: Path, since: str) -> str:
    """What is wrong with one of the host's files; empty if nothing is, or if no file was logged."""
    expected, actual = recorded.get(path.relative_to(folder).as_posix(), ""), hash_of(path)
    if not recorded or actual == expected:
        return ""
    if not actual:
        return f"{path}: is missing or cannot be read; put it back as it was at {since}, for example from a backup"
    if not expected:
        return f"{path}: was added after {since}; remove it"
    return f"{path}: was changed since {since}; put it back as it was then, for example from a backup"


def changed_files(folder: Path, recorded: Mapping[str, str], since: str) -> list[str]:
    """What is wrong with each of the host's files that is missing, was changed or was added since they were logged."""
    return [
        wrong
        for name in dict.fromkeys((*recorded, *_names(folder)))
        if (wrong := changed_file(folder, recorded, folder / name, since))
    ]


def changed_setting(path: Path, recorded: Mapping[str, Any], actual: Mapping[str, Any], movers: str) -> str:
    """Which setting was changed by hand since the opening; empty if none was, or if the opening logged none."""
    for name, value in recorded.items():
        if value != actual.get(name):
            return Sentence(
                "{path}: {name} was changed by hand from {old!r} to {new!r}; put it back ({movers})",
                path=path,
                name=name,
                old=value,
                new=actual.get(name),
                movers=movers,
            )
    return ""


def changed_copies(folder: Path, recorded: Mapping[str, str]) -> list[str]:
    """What is wrong with the copies in the teams' folders; a folder or file that was handed over may be gone."""
    wrong = []
    for copy in sorted((folder / "teams").glob("*/*")):
        team, name = copy.parent.name, copy.name
        source = f"host/originals/{name}" if name == f"{team}_original.csv" else f"host/{name}"
        if source in recorded and copy.is_file() and hash_of(copy) != recorded[source]:
            wrong.append(f"{copy}: is not what the team was given; copy {folder / source} over it")
    return wrong


def _names(folder: Path) -> Iterator[str]:
    """Paths, in the tournament's folder, of the files on which scores depend."""
    yield from (name for name in _FILES if (folder / name).is_file())
    yield from (f"host/{path.name}" for path in sorted((folder / "host").glob("[!.]*.py")))
    for name in _FOLDERS:
        yield from (f"{name}/{path.name}" for path in sorted((folder / name).glob("[!.]*.csv")))


PUBLIC = 0o644
PUBLISHED = ("anonymized", "candidate", "second")
"""Kinds of the published files about each team; there is a second candidate file where a contest asks for links."""
_SITE_LOCK = "site.lock"


@contextmanager
def site_locked(folder: Path) -> Iterator[int]:
    """Hold the locks of a tournament's site, which end with this process; the block gets a descriptor.

    One lock is in the folder, and one beside it, which outlives the folder if a backup takes its place. A
    `BlockingIOError` says that another process holds one of them.
    """
    beside = folder.resolve().with_name(f".{folder.resolve().name}.{_SITE_LOCK}")
    with ExitStack() as held:
        handle = held.enter_context(locked_file(folder / "host" / _SITE_LOCK, wait=False))
        try:
            held.enter_context(locked_file(beside, wait=False))
            held.callback(beside.unlink, missing_ok=True)
        except OSError as error:
            # Who may not write beside the folder has one lock.
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
        yield handle


@dataclass(frozen=True)
class Submission:
    """A file that a team submitted and the host accepted.

    Attributes
    ----------
    team : str
        The team.
    phase : Phase
        Phase of the submission: tables are submitted while anonymizing, correspondence tables while attacking.
    against : str or None
        Team that a correspondence table attacks; None for an anonymized table.
    content : str
        SHA-256 of the file, which is also its name in the archive.
    number : int
        Number of its entry in the log.
    rows : int
        Number of its rows.
    table : str or None
        SHA-256 of the table that a correspondence table attacks, if the log has it.
    """

    team: str
    phase: Phase
    against: str | None
    content: str
    number: int
    rows: int
    table: str | None = None

    @classmethod
    def of(cls, entry: LogEntry) -> Submission:
        """The submission of an entry, which accepts it or takes it into force again."""
        details = entry.details
        return cls(
            details["team"],
            Phase(details["phase"]),
            details["against"],
            details["sha256"],
            details.get("number", entry.number),
            details["rows"],
            details.get("table"),
        )

    @property
    def kind(self) -> str:
        """What it is: a table, or an attack on a team."""
        return "table" if self.against is None else f"attack on {self.against}"


class Tournament:
    """The tournament in a folder.

    Parameters
    ----------
    folder : Path
        Created by `tokumei tournament init`.

    Raises
    ------
    ValueError
        If there is no tournament, or its settings are damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.settings: Settings = read_settings(folder)
        self.host = self.folder / "host"
        self.public = self.folder / "public"
        self.submissions = self.host / "submissions"
        self.roles_path = self.host / "roles.toml"
        """Roles and public domains of the columns."""
        self.others_path = self.host / "others.csv"
        """Records of people who are neither originals nor decoys, which every team may study."""
        self.log = Log(self.host / "log.jsonl")
        self._forms = Forms(self.roles_path, self.settings)

    def team_folder(self, team: str) -> Path:
        """Folder that a team may see, besides the public one."""
        refuse(
            team not in self.settings.teams,
            Sentence(
                "there is no team {team!r}; the teams are {teams}",
                team=team[:40],
                teams=", ".join(self.settings.teams[:20]),
            ),
        )
        return self.folder / "teams" / team

    def state(self, entries: Sequence[LogEntry] | None = None) -> State:
        """State at the end of some entries of the log; by default of its lasting ones."""
        return State(self, self.log.head().lasting if entries is None else entries)

    def sweep(self) -> None:
        """Remove the unfinished files of commands that were killed; the log must be locked."""
        # Boards are written to the host's folder without the lock; of its unfinished files only the log's are removed.
        for folder, prefix in (
            (self.public, ""),
            (self.submissions, ""),
            (self.host / "presentations", ""),
            (self.host, self.log.path.name),
        ):
            for path in folder.glob(f".{prefix}*{UNFINISHED}"):
                path.unlink(missing_ok=True)

    def content(self, sha256: str) -> bytes:
        """Content of an accepted file."""
        return stored_file(self.submissions / sha256, "accepted")

    def original_path(self, team: str) -> Path:
        """The host's own copy of a team's originals."""
        return self.host / "originals" / f"{team}_original.csv"

    def candidate_path(self, team: str) -> Path:
        """The host's own copy of a team's candidate file."""
        return self.host / "candidates" / f"{team}_candidate.csv"

    def second_rng(self, team: str) -> Generator:
        """Randomness of the order of a team's second candidate file."""
        return generator(self.secret["seed"], "tournament", "second", team)

    def candidate_files(self, team: str) -> dict[str, bytes]:
        """A team's candidate files as they are published: without the column to infer, cut where links are asked."""
        path, contest = self.candidate_path(team), self.settings.rules
        data = read_host_file(path)
        if not contest.cuts:
            return {path.name: data}
        first, second = contest.candidate_columns(self.records(path))
        frame = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
        files = {path.name: csv_bytes(frame[first])}
        order = self.second_rng(team).permutation(len(frame))
        return files | ({f"{team}_second.csv": csv_bytes(frame[second].iloc[order])} if second else {})

    def asked(self, team: str) -> Asked:
        """What correspondence tables about a team answer besides whose row a row is."""
        contest = self.settings.rules
        if not contest.cuts:
            return Asked()
        return Asked.of(contest, self.records(self.original_path(team)), self.form(team))

    def published_files(self, kinds: Sequence[str] = PUBLISHED) -> dict[str, bytes]:
        """Published files of all teams by name; kinds are those of `PUBLISHED`."""
        paths = (self.public / f"{team}_{kind}.csv" for team in self.settings.teams for kind in kinds)
        return {path.name: path.read_bytes() for path in paths if path.is_file()}

    @property
    def published_standings(self) -> datetime | None:
        """When standings were published last; None if they never were."""
        try:
            return datetime.fromtimestamp((self.public / "standings.csv").stat().st_mtime, UTC)
        except OSError:
            return None

    @property
    def _recorded(self) -> list[LogEntry]:
        """Entries that may log hashes of the host's files and the settings: the opening, and an adoption after it."""
        entries = self.log.head().lasting
        return [*entries[:1], *(entry for entry in entries if entry.kind == "adopted")]

    @property
    def recorded_files(self) -> Mapping[str, str]:
        """Hashes of the host's files that were logged, by path; none if an earlier version opened it."""
        try:
            logged = [one.details["files"] for one in self._recorded if one.details.get("files")]
            return logged[-1] if logged else {}
        except ValueError:
            # Whatever depends on a damaged log reads it, too, and names it.
            return {}

    @property
    def recorded_since(self) -> str:
        """What logged the hashes."""
        return "the opening" if len(self._recorded) < 2 else "the adoption of hashes"

    def unchanged(self, path: Path) -> Path:
        """The path of one of the host's files, which is as it was at the opening."""
        recorded = self.recorded_files
        # A damaged log has recorded no file, and cannot say since when.
        wrong = changed_file(self.folder, recorded, path, self.recorded_since) if recorded else ""
        refuse(wrong, wrong, DamagedFileError)
        return path

    def changed_since_opening(
        self, *, settings: bool = True, movers: str = "`extend` and `reopen` move deadlines"
    ) -> str:
        """What was changed by hand since the opening: a setting, or files on which scores depend; empty if nothing.

        `movers` says by what the host moves deadlines instead.
        """
        stated = [one.details["settings"] for one in self._recorded if one.details.get("settings")]
        # An earlier version knew no contest.
        logged = {"contest": None} | stated[-1] if stated and settings else {}
        setting = changed_setting(self.folder / FILE, logged, self.settings.model_dump(mode="json"), movers)
        if setting:
            return setting
        wrong = changed_files(self.folder, self.recorded_files, self.recorded_since)
        return f"{wrong[0]} ({len(wrong) - 1} more)" if len(wrong) > 1 else "".join(wrong)

    def check_opening(self, *, settings: bool = True) -> None:
        """Check that files, and settings unless they are left out, are as they were at the opening."""
        wrong = self.changed_since_opening(settings=settings)
        refuse(wrong, wrong, DamagedFileError)

    @property
    def people(self) -> Path | None:
        """File of the other people, unchanged; None if the tournament has none."""
        path = self.unchanged(self.others_path)
        return path if path.is_file() else None

    def records(self, path: Path) -> Microdata:
        """Records in one of the host's files, with the tournament's roles."""
        return _records(_File.of(self.unchanged(path)), _File.of(self.unchanged(self.roles_path)))

    @tournament_files()
    def dataset(self, team: str) -> Dataset:
        """A team's originals as the host's copy of them and the roles say."""
        return load_table(self.unchanged(self.original_path(team)), self.unchanged(self.roles_path))

    def originals(self, team: str) -> Originals:
        """A team's originals, against which its table is measured."""
        others = _File.of(people) if (people := self.people) is not None else None
        paths = (self.original_path(team), self.roles_path, *self.own_measures)
        own, roles, *code = (_File.of(self.unchanged(path)) for path in paths)
        return _originals(own, roles, others, self.settings.queries_seed, self.settings.rules, tuple(code))

    @property
    def own_measures(self) -> list[Path]:
        """Files of the host's own utility measures."""
        return [self.host / name for name in self.settings.rules.files]

    def form(self, team: str) -> Form:
        """Form that a team's table must have."""
        return self._forms.of(self.original_path(team))

    @cached_property
    def secret(self) -> dict[str, Any]:
        """The host's secret: the seed, and the position of each original among the candidates."""
        secret: dict[str, Any] = json.loads(read_host_file(self.host / "secret.json"))
        return secret

    def answers(self, team: str) -> Integers:
        """Position of each of a team's originals among its candidates, shape (originals,)."""
        return np.array(self.secret["answers"][team], dtype=np.intp)


_PATIENCE = timedelta(minutes=10)
"""How long standings that are due wait for missing results."""


@dataclass(frozen=True)
class State:
    """State of a tournament at the end of its log, or of a part of it; each part is read from the entries once.

    Attributes
    ----------
    tournament : Tournament
        The tournament, to be read only.
    entries : sequence of LogEntry
        Entries of the log, the opening first.
    """

    tournament: Tournament
    entries: Sequence[LogEntry]

    @cached_property
    def phase(self) -> Phase:
        """Current phase."""
        teams, log = self.tournament.settings.teams, self.tournament.log.path
        refuse(
            not self.entries or self.entries[0].kind != "opened" or self.entries[0].details.get("teams") != teams,
            f"{log}: does not begin with the opening of this tournament; put it back",
            DamagedFileError,
        )
        moves = [entry.opens for entry in self.entries if entry.opens]
        return Phase(moves[-1]) if moves else Phase.ANONYMIZE

    @property
    def hidden(self) -> bool:
        """Whether only the host may see standings now."""
        return self.tournament.settings.hide_standings and self.phase is not Phase.CLOSED

    @cached_property
    def until(self) -> datetime | None:
        """End of the current phase; None once the tournament is closed."""
        return self.end(self.phase)

    def publishes(self, written: datetime | None, now: datetime, *, partial: bool = False) -> bool:
        """Whether standings are due, of which the last ones were published at `written`.

        Those that lack results wait a while for them, as there are no others until the next time.
        """
        settings, end = self.tournament.settings, self.end(Phase.ATTACK)
        if self.phase is not Phase.ATTACK or end is None:
            return True
        freeze = end - timedelta(seconds=settings.freeze or 0)
        frozen = settings.freeze is not None and now > freeze
        if settings.publish_every is None:
            return written is None or not frozen
        every = timedelta(seconds=settings.publish_every)
        opened = max(datetime.fromisoformat(entry.arrived) for entry in self.entries if entry.opens == Phase.ATTACK)
        last = max(opened, end - every * math.ceil((end - min(now, freeze)) / every))
        waited = now - last > _PATIENCE
        due = written is None or (written < last and not (frozen and waited))
        return due and (waited or not partial)

    def end(self, phase: Phase) -> datetime | None:
        """End of a phase, as announced or as the host moved it; None if it has none."""
        moved = [
            entry.details["until"]
            for entry in self.entries
            if entry.kind in ("extended", "reopened") and entry.details["phase"] == phase
        ]
        return datetime.fromisoformat(moved[-1]) if moved else self.tournament.settings.until(phase)

    @property
    def ends(self) -> list[tuple[Phase, datetime]]:
        """Each phase with its end, in order."""
        return [(phase, end) for phase in self.tournament.settings.phases if (end := self.end(phase)) is not None]

    @cached_property
    def disqualified(self) -> dict[str, str]:
        """Reason of each disqualification, by team."""
        last = {entry.details["team"]: entry for entry in self.entries if entry.kind in ("disqualified", "readmitted")}
        return {
            entry.details["team"]: entry.details["reason"]
            for entry in sorted(last.values(), key=lambda one: one.number)
            if entry.kind == "disqualified"
        }

    @cached_property
    def titles(self) -> dict[str, str]:
        """Title of each team; its name where it has none."""
        given = {entry.details["team"]: entry.details["title"] for entry in self.entries if entry.kind == "titled"}
        return {team: given.get(team) or team for team in self.tournament.settings.teams}

    @cached_property
    def submissions(self) -> dict[str, list[tuple[Submission, LogEntry]]]:
        """All accepted submissions of each team, oldest first, with their log entries."""
        by_team: dict[str, list[tuple[Submission, LogEntry]]] = {team: [] for team in self.tournament.settings.teams}
        for entry in self.entries:
            if entry.kind == "submitted":
                by_team[entry.details["team"]].append((Submission.of(entry), entry))
        return by_team

    def archived(self, team: str) -> dict[str, int]:
        """Size of each archived file of a team by its content; equal files are kept once."""
        return {one.content: entry.details["bytes"] for one, entry in self.submissions[team]}

    def used(self, team: str) -> int:
        """Bytes that the host keeps of a team's files."""
        return sum(self.archived(team).values())

    def left(self, team: str) -> int:
        """Bytes that are left of a team's quota."""
        return self.tournament.settings.quota - self.used(team)

    @cached_property
    def in_force(self) -> dict[tuple[str, str | None], Submission]:
        """The submission that counts, by team and attacked team (None for its table): the last one or one taken again.

        A correspondence table counts only while the table that it attacks is in force. Disqualified teams have none.
        """
        last = {
            (entry.details["team"], entry.details["against"]): Submission.of(entry)
            for entry in self.entries
            if entry.kind in ("submitted", "taken")
        }

        def counts(one: Submission) -> bool:
            if one.team in self.disqualified or one.against in self.disqualified:
                return False
            target = last.get((one.against, None)) if one.against is not None else None
            return target is None or one.table in (None, target.content)

        return {about: one for about, one in last.items() if counts(one)}

    @cached_property
    def tables(self) -> dict[str, Submission]:
        """Table of each team that counts: the last accepted one, or an older one that the team took into force."""
        return {team: one for (team, against), one in self.in_force.items() if against is None}

    @cached_property
    def attacks(self) -> dict[tuple[str, str], Submission]:
        """Correspondence tables that count, by attacker and target."""
        return {(team, target): one for (team, target), one in self.in_force.items() if target is not None}


@dataclass(frozen=True)
class _File:
    """A file by its content: equal ones are read once, wherever they are."""

    sha256: str
    path: Path = field(compare=False)

    @classmethod
    def of(cls, path: Path) -> _File:
        # A file that cannot be read is refused by whoever reads the table in it.
        data = path.read_bytes() if os.access(path, os.R_OK) and path.is_file() else b""
        return cls(hashlib.sha256(data).hexdigest(), path)


@lru_cache(maxsize=64)
@tournament_files()
def _records(table: _File, roles: _File) -> Microdata:
    return load_table(table.path, roles.path).records


@lru_cache(maxsize=16)
def _originals(
    table: _File, roles: _File, others: _File | None, queries_seed: int, contest: Contest, code: tuple[_File, ...]
) -> Originals:
    """Originals, which keep what their table is measured by; a team submits many tables."""
    people, folder = None if others is None else _records(others, roles), code[0].path.parent if code else Path()
    return originals_of(_records(table, roles), queries_seed, people, contest, folder)


def originals_of(
    records: Microdata, queries_seed: int, others: Microdata | None, contest: Contest, folder: Path
) -> Originals:
    """Originals against which a table is measured; the other people test the classifier."""
    domains = {name: records.domain(name) for name in records.released_columns}
    people = None if others is None else others.frame[list(domains)]
    target = prediction_target(records.sensitive, domains)
    return Originals(records.frame[list(domains)], domains, queries_seed, people, target, contest, folder)


def write_whole(path: Path, data: bytes, *, mode: int = PUBLIC) -> None:
    """Write a file atomically, safe on the disk when this returns."""
    refuse(
        path.parent.resolve() != path.parent or not path.parent.is_dir(),
        f"{path.parent}: is no folder of the tournament",
        DamagedFileError,
    )
    with named_file(path):
        write_atomically(path, data, mode=mode, durable=True)


def store_file(folder: Path, data: bytes, *, mode: int) -> str:
    """Store a file under its SHA-256 and return that; see `write_whole`."""
    name = hashlib.sha256(data).hexdigest()
    write_whole(folder / name, data, mode=mode)
    return name


def stored_file(path: Path, since: str) -> bytes:
    """Content of a file whose name is its SHA-256."""
    data = read_host_file(path)
    refuse(hashlib.sha256(data).hexdigest() != path.name, f"{path}: was changed after it was {since}", DamagedFileError)
    return data


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Path of a folder that the block makes, and that gets its name afterwards; if the block fails, none is left."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}{UNFINISHED}")
    try:
        yield unfinished
        # An empty folder of that name is replaced.
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def folder_files(folder: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Files of a folder without links and hidden files: the path below `name`, and the content."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
            yield f"{name}/{path.name}", path.read_bytes()


def zip_bytes(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Files as a ZIP archive, each given by its name and content."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return data.getvalue()


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """A table as CSV; a missing value is an empty field."""
    return frame.to_csv(index=False, lineterminator="\n").encode()


def toml_bytes(content: Mapping[str, Any]) -> bytes:
    """Content of a TOML file; None values are left out."""
    import tomli_w

    return tomli_w.dumps({name: value for name, value in content.items() if value is not None}).encode()


# Tournaments that stay open between the steps of a long-running process.

_local = threading.local()


def opened_tournament(folder: Path) -> Tournament:
    """The tournament in a folder, opened once in each thread as long as its settings do not change."""
    try:
        status = (folder / FILE).stat()
    except OSError:
        return Tournament(folder)
    key = folder, status.st_mtime_ns, status.st_size
    if getattr(_local, "key", None) != key:
        _local.tournament, _local.key = Tournament(folder), key
    tournament: Tournament = _local.tournament
    return tournament
