"""Files of a submission on Codabench, and the key that shows whose they are."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from pathlib import Path

from metrics.columns import refuse
from scenarios.tournament.codabench.make_submission import key
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.problems import FileError
from scenarios.tournament.rules.sheets import read_submission

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

    Parameters
    ----------
    tournament : Tournament
        The reference data.
    folder : Path
        Folder of the submission.

    Raises
    ------
    RefusedSubmissionError
        If there is no key, it is wrong, the team is disqualified, there are too many files or equal names, or a file
        cannot be read.
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
