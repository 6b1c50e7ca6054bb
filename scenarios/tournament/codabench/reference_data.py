"""Reference data of a Codabench task: a tournament's folder with all that scoring needs, answers included."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from metrics.columns import PRIVATE
from scenarios.tournament.rules.folder import Tournament, store_file, write_whole, zip_bytes
from scenarios.tournament.rules.log import Log
from scenarios.tournament.rules.settings import FILE, Phase

ARCHIVE = "tournament.zip"
"""The only file of the reference data: the platform would move the content of folders."""
_SHARE = "share.json"
_NEEDED = (FILE, "host/roles.toml", "host/others.csv", "host/secret.json", "host/originals", "host/candidates")


def reference_data(tournament: Tournament, phase: Phase, share: float) -> bytes:
    """Reference data of the task of a phase, as a ZIP archive.

    It holds the host's files from which submissions are scored, and a log of its own: the opening, disqualifications,
    the tables in force and the phase. Every secret of the tournament follows from it.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    phase : Phase
        ``attack``, or a phase of anonymization.
    share : float
        Share of each table's rows that counts, in (0, 1].
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        for name in ("host", "host/submissions"):
            (folder / name).mkdir(mode=0o700)
        _write_log(tournament, folder, phase)
        write_whole(folder / "host" / _SHARE, json.dumps({"share": share}).encode(), mode=PRIVATE)
        roots = (*(tournament.folder / name for name in _NEEDED), folder / "host")
        return zip_bytes([(ARCHIVE, zip_bytes(_needed(roots, (folder, tournament.folder))))])


def _needed(roots: Iterable[Path], bases: tuple[Path, Path]) -> Iterator[tuple[str, bytes]]:
    """Files of some folders and files: the path below the one of two folders in which it lies, and the content."""
    for root in roots:
        base = next(one for one in bases if one in root.parents)
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.is_file() and path.suffix in (".csv", ".json", ".jsonl", ".toml", ""):
                yield path.relative_to(base).as_posix(), path.read_bytes()


def _write_log(tournament: Tournament, folder: Path, phase: Phase) -> None:
    """Write the log of the reference data, and the tables in force that it names."""
    state = tournament.state(tournament.log.entries())
    opened = state.entries[0]
    now = datetime.fromisoformat(opened.time)
    log = Log(folder / "host" / "log.jsonl")
    with log.locked():
        log.append("opened", opened.details, now)
        for team, reason in state.disqualified.items():
            log.append("disqualified", {"team": team, "reason": reason}, now)
        if phase is not Phase.ATTACK:
            return
        tables = state.tables if state.phase.published else {}
        for team, table in sorted(tables.items()):
            details = {"team": team, "phase": str(table.phase), "against": None, "sha256": table.content}
            log.append("submitted", {**details, "rows": table.rows}, now)
            store_file(folder / "host" / "submissions", tournament.content(table.content), mode=PRIVATE)
        log.append("advanced", {"from": str(tournament.settings.phases[-3]), "to": str(Phase.ATTACK)}, now)


def unpacked(reference: Path, folder: Path) -> tuple[Tournament, float]:
    """Unpack reference data into an empty folder; return the tournament and the share of the rows that counts.

    Raises
    ------
    ValueError
        If they are no reference data.
    """
    with zipfile.ZipFile(reference / ARCHIVE) as archive:
        archive.extractall(folder)
    (folder / "host" / "submissions").mkdir(exist_ok=True)
    return Tournament(folder), float(json.loads((folder / "host" / _SHARE).read_bytes())["share"])
