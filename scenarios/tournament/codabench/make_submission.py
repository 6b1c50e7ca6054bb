"""Makes the archive that a team submits on Codabench: its files, and the key that shows whose they are.

``python3 make_submission.py kyoto_original.csv kyoto_anonymized.csv`` writes ``submission.zip``.
"""

import argparse
import hashlib
import sys
import zipfile
from pathlib import Path

ENDING = "_original.csv"


def key(original: bytes) -> str:
    """Key of a team: the SHA-256 of its originals, which nobody else has but the host."""
    return hashlib.sha256(original).hexdigest()


def write_submission(original: Path, files: list[Path], output: Path) -> None:
    """Write the archive of a team.

    Parameters
    ----------
    original : Path
        The team's originals, ``TEAM_original.csv``, as the host handed them out.
    files : list of Path
        Its table, or its answers about other teams' tables.
    output : Path
        The archive, a new file.

    Raises
    ------
    ValueError
        If the originals have another name.
    OSError
        If a file cannot be read, or the archive exists already.
    """
    team = original.name.removesuffix(ENDING)
    if team == original.name:
        raise ValueError(f"{original}: the originals are named TEAM{ENDING}")
    contents = {f"{team}.key": key(original.read_bytes()).encode(), **{file.name: file.read_bytes() for file in files}}
    with zipfile.ZipFile(output, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)


def main() -> int:
    """Write the archive that the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(description="Make the archive that a team submits on Codabench.")
    parser.add_argument("original", type=Path, help="TEAM_original.csv, as the host handed it out")
    parser.add_argument("files", type=Path, nargs="+", help="TEAM_anonymized.csv, or all TEAM_attack_OTHER.csv")
    parser.add_argument("-o", "--output", type=Path, default=Path("submission.zip"), help="a new file")
    given = parser.parse_args()
    try:
        write_submission(given.original, given.files, given.output)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{given.output}: submit this file")
    return 0


if __name__ == "__main__":
    sys.exit(main())
