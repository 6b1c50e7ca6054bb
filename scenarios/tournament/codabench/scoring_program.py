"""Scoring of one submission on Codabench against reference data, by the functions that score the tournament itself."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path

from leaderboard.results.result import Result
from metrics.columns import PRIVATE, refuse, refuse_any, require
from metrics.table_utility import COMPONENTS
from scenarios.tournament.codabench.make_submission import key
from scenarios.tournament.rules import (
    FILE,
    FileError,
    InvalidFileError,
    Log,
    Phase,
    Submission,
    Target,
    Tournament,
    attacked,
    baseline_name,
    baselines,
    leaking_columns,
    named_target,
    read_submission,
    scored_here,
    store_file,
    validated,
    write_whole,
    zip_bytes,
)
from scenarios.tournament.rules.standings import AttackOutcome, outcome_of, standings

# Reference data of a Codabench task: a tournament's folder with all that scoring needs, answers included.

ARCHIVE = "tournament.zip"
"""The only file of the reference data: the platform would move the content of folders."""
_SHARE = "share.json"
_NEEDED = (FILE, "host/roles.toml", "host/others.csv", "host/secret.json", "host/originals", "host/candidates")


def reference_data(tournament: Tournament, phase: Phase, share: float) -> bytes:
    """Reference data of the task of a phase, as a ZIP archive.

    It holds the host's files from which submissions are scored, and a log of its own: the opening, disqualifications,
    the tables in force and the phase. Every secret of the tournament follows from it.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        for name in ("host", "host/submissions"):
            (folder / name).mkdir(mode=0o700)
        _write_log(tournament, folder, phase)
        write_whole(folder / "host" / _SHARE, json.dumps({"share": share}).encode(), mode=PRIVATE)
        roots = (*(tournament.folder / name for name in _NEEDED), *tournament.own_measures, folder / "host")
        return zip_bytes([(ARCHIVE, zip_bytes(_needed(roots, (folder, tournament.folder))))])


def _needed(roots: Iterable[Path], bases: tuple[Path, Path]) -> Iterator[tuple[str, bytes]]:
    """Files of some folders and files: the path below the one of two folders in which it lies, and the content."""
    for root in roots:
        base = next(one for one in bases if one in root.parents)
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.is_file() and path.suffix in (".csv", ".json", ".jsonl", ".py", ".toml", ""):
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
    """Unpack reference data into an empty folder; return the tournament and the share of the rows that counts."""
    with zipfile.ZipFile(reference / ARCHIVE) as archive:
        archive.extractall(folder)
    (folder / "host" / "submissions").mkdir(exist_ok=True)
    return Tournament(folder), float(json.loads((folder / "host" / _SHARE).read_bytes())["share"])


# Files of a submission on Codabench, and the key that shows whose they are.

MOST_FILES = 250
"""Largest number of files in a submission."""


class RefusedSubmissionError(ValueError):
    """A submission that breaks a rule; the message is one line for its team."""


@dataclass(frozen=True)
class SubmissionFiles:
    """Files of a submission.

    Attributes
    ----------
    team : str
        The team that made it.
    contents : dict of str to bytes
        Content of each CSV file by its name, in order of names.
    """

    team: str
    contents: dict[str, bytes]


def read_files(tournament: Tournament, folder: Path) -> SubmissionFiles:
    """Read the files of a submission.

    The platform does not tell a scoring program who submits. The key, which follows from the team's originals, does.
    Otherwise anybody could measure tables against another team's originals, or a team could attack its own table.
    """
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in (".csv", ".key")
        and not any(part.startswith((".", "__MACOSX")) for part in path.relative_to(folder).parts)
    ]
    refuse(
        len(paths) > MOST_FILES,
        f"the submission has {len(paths)} files; at most {MOST_FILES} are read",
        RefusedSubmissionError,
    )
    contents: dict[str, bytes] = {}
    for path in paths:
        refuse(path.name in contents, f"{path.name}: is in the submission twice", RefusedSubmissionError)
        try:
            contents[path.name] = read_submission(path)
        except FileError as error:
            raise RefusedSubmissionError(f"{path.name}: {error.reason}") from None
    keys = [name for name in contents if name.lower().endswith(".key")]
    refuse(
        len(keys) != 1,
        f"the submission has {len(keys)} files TEAM.key; make_submission.py of the starting kit makes it with one",
        RefusedSubmissionError,
    )
    team, given = keys[0][: -len(".key")], contents.pop(keys[0])
    expected = (
        key(tournament.unchanged(tournament.original_path(team)).read_bytes()).encode()
        if team in tournament.settings.teams
        else b"no team"
    )
    refuse(
        not hmac.compare_digest(given.strip(), expected),
        f"{keys[0][:40]!r}: is not the key of that team; make_submission.py makes it from TEAM_original.csv as the "
        "host handed it out",
        RefusedSubmissionError,
    )
    out = tournament.state().disqualified
    refuse(team in out, f"team {team} is disqualified: {out.get(team)}", RefusedSubmissionError)
    return SubmissionFiles(team, contents)


COLUMNS = {
    "score": ("Score", "desc"),
    "utility": ("Utility", "desc"),
    "utility_table": ("Utility of the table", "desc"),
    "utility_record": ("Utility of the records", "desc"),
    "advantage": ("Advantage of the strongest built-in attack", "asc"),
    "attacked": ("Tables attacked", "desc"),
}
"""Title and better direction of each column of the leaderboard; the first one ranks."""

# Page about a scored submission, which the platform shows to its team.

_STYLE = "<style>body{font-family:sans-serif}th,td{padding:.2em .8em;text-align:left}</style>"


def table_page(
    team: str,
    numbers: Mapping[str, float],
    values: Mapping[str, float | None],
    outcomes: Sequence[AttackOutcome],
) -> str:
    """Page about a table: parts of its utility, the baseline attacks, and the columns that leak."""
    parts = [(name, values[f"table_{name}"]) for name in COMPONENTS if f"table_{name}" in values]
    return _page(
        f"Table of {team}",
        "<p>Score = utility × (1 − advantage of the strongest built-in attack). Other teams may attack better.</p>",
        _table("Scores", ("score", "value"), [(COLUMNS[key][0], value) for key, value in numbers.items()]),
        _table("Utility of the table, part by part", ("part", "value"), parts),
        _outcomes("Built-in attacks", "attack", [(one.attacker, one) for one in outcomes]),
        _table(
            "Share of rows whose original is the nearest candidate (Gower)",
            ("without the column", "nearest", "drop"),
            leaking_columns(values),
        ),
    )


def attack_page(team: str, score: float, outcomes: Mapping[str, AttackOutcome], tables: int) -> str:
    """Page about a team's attacks."""
    return _page(
        f"Attacks of {team}",
        f"<p>Score {score:.3f}, the mean advantage over {tables} tables. A table without an attack counts 0.</p>",
        _outcomes("Attacks", "table", list(outcomes.items())),
    )


def _outcomes(title: str, column: str, rows: Sequence[tuple[str, AttackOutcome]]) -> str:
    return _table(
        title,
        (column, "goal", "success", "chance level", "advantage"),
        [(name, one.goal, one.success, one.chance, one.advantage) for name, one in rows],
    )


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(one)}</td>" for one in row) + "</tr>" for row in rows)
    return f"<h2>{escape(title)}</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else escape("–" if value is None else str(value))


def _page(title: str, *parts: str) -> str:
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>{_STYLE}</head>'
    return f"{head}<body><h1>{escape(title)}</h1>{''.join(parts)}</body></html>\n"


BAD_INPUT, FAILED = 2, 1
TRACEBACK = "TOKUMEI_TRACEBACK"
"""Environment variable under which a host sees why scoring failed; participants see the log of the program."""


def run(arguments: Sequence[str]) -> int:
    """Score the submission in ``INPUT/res`` against ``INPUT/ref``, and write ``OUTPUT/scores.json``.

    A submission that breaks a rule is refused: its problems are written to standard error, one a line, and there is no
    ``scores.json``. The platform then lists it as failed. Unexpected errors name no detail, since participants see
    them and they might quote the host's files.
    """
    if len(arguments) != 2:
        print("usage: score.py INPUT OUTPUT", file=sys.stderr)
        return BAD_INPUT
    source, output = map(Path, arguments)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            tournament, share = unpacked(source / "ref", Path(scratch))
            numbers, page = scored(tournament, share, source / "res")
    except InvalidFileError as error:
        print(*error.lines, sep="\n", file=sys.stderr)
        return BAD_INPUT
    except RefusedSubmissionError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except Exception as error:
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        print(f"scoring failed ({type(error).__name__}); tell the host", file=sys.stderr)
        return FAILED
    output.mkdir(parents=True, exist_ok=True)
    (output / "detailed_results.html").write_text(page, encoding="utf-8")
    (output / "scores.json").write_text(json.dumps(numbers), encoding="utf-8")
    return 0


def scored(tournament: Tournament, share: float, folder: Path) -> tuple[dict[str, float], str]:
    """Scores of a submission by the leaderboard's columns, and a page about it."""
    files = read_files(tournament, folder)
    scoring = _attacks_scored if tournament.state().phase is Phase.ATTACK else _table_scored
    return scoring(tournament, share, files)


def _table_scored(tournament: Tournament, share: float, files: SubmissionFiles) -> tuple[dict[str, float], str]:
    """Utility of a table, and its defense against the baseline attacks."""
    team = files.team
    refuse(
        len(files.contents) != 1,
        f"this phase takes {team}_anonymized.csv alone; the submission has {', '.join(files.contents) or 'none'}",
        RefusedSubmissionError,
    )
    (name,) = files.contents
    refuse(
        named_target(name),
        f"{name}: attacks are submitted in the attack phase; submit {team}_anonymized.csv",
        RefusedSubmissionError,
    )
    table = _stored(tournament, files, name, None)
    keys = {share: {"": "table", **{name: name for name in map(baseline_name, baselines())}}}
    results = _results(tournament, Target(team, table, {}, keys, frozenset(keys[share].values())))
    (standing,) = standings([team], results)
    (values,) = (one.values for one in results if one.attack is None)
    outcomes = sorted((outcome_of(one) for one in results if one.attack), key=lambda one: -one.advantage)
    numbers = {
        "score": standing.defense,
        "utility": standing.utility,
        "utility_table": standing.utility_table,
        "utility_record": standing.utility_record,
        "advantage": outcomes[0].advantage,
    }
    measured = {column: value for column, value in numbers.items() if value is not None}
    return measured, table_page(team, measured, values, outcomes)


def _attacks_scored(tournament: Tournament, share: float, files: SubmissionFiles) -> tuple[dict[str, float], str]:
    """Mean advantage of a team's attacks over the other teams' tables; a table that it does not attack counts 0."""
    team = files.team
    tables = tournament.state(tournament.log.entries()).tables
    others = [other for other in tables if other != team]
    require(
        others,
        "no other table is published yet; wait until the host has published the tables",
        RefusedSubmissionError,
    )
    require(
        files.contents,
        f"the submission has no CSV file; name attacks {team}_attack_OTHER.csv",
        RefusedSubmissionError,
    )
    targets = []
    # All files are read before the first is scored, so that a wrong one is refused at once.
    for name in files.contents:
        require(
            named_target(name),
            f"{name}: in the attack phase files are named {team}_attack_OTHER.csv",
            RefusedSubmissionError,
        )
        attack = _stored(tournament, files, name, Phase.ATTACK)
        other = str(attack.against)
        targets.append(
            Target(other, tables[other], {team: attack}, {share: {"": "table", team: team}}, frozenset({team}))
        )
    outcomes = {one.team: outcome_of(_results(tournament, one)[0]) for one in targets}
    score = sum(one.advantage for one in outcomes.values()) / len(others)
    return {"score": score, "attacked": float(len(outcomes))}, attack_page(team, score, outcomes, len(others))


def _stored(tournament: Tournament, files: SubmissionFiles, name: str, phase: Phase | None) -> Submission:
    """Validate a file and store it in the tournament's folder, as `submit` does."""
    team, entries = files.team, tournament.log.entries()
    # A damaged file of the host fails here and not below, where messages are for the team.
    tournament.form(team)
    try:
        target = attacked(tournament, team, name, None, required=True) if phase is Phase.ATTACK else None
        upload = validated(tournament, entries, team, name, files.contents[name], target)
    except InvalidFileError:
        raise
    except ValueError as error:
        raise RefusedSubmissionError(str(error)) from None
    content = hashlib.sha256(upload.data).hexdigest()
    (tournament.submissions / content).write_bytes(upload.data)
    return Submission(team, phase or Phase.ANONYMIZE, target, content, 0, upload.rows, upload.table)


def _results(tournament: Tournament, target: Target) -> list[Result]:
    """Results of scoring a table or attacks on it."""
    results = scored_here(tournament.folder, target)
    refuse_any(
        (one for one in results if one.status != "ok"),
        lambda one: f"{one.attack or one.defense}: {one.status} ({one.reason})",
        RuntimeError,
    )
    return results
