"""The standing board: a published run with all its results, so that others can check and extend it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from leaderboard.results import RESULT_COLUMNS, Result, identity, result_of, row_of
from metrics.columns import errors_at, require, write_atomically
from scenarios.running.units import Catalogue

RESULTS = "results.jsonl.gz"
"""File of all results of a standing board, one JSON object a line."""
RECORD = "record.json"
"""File that says from which version, revision, packages, seeds and machine a standing board was made."""


def check_folder(folder: Path, scenarios: Collection[str], files: Collection[str]) -> None:
    """Refuse a folder whose files a new standing board would replace.

    The folder need not exist. A ValueError is raised if it holds the board of other scenarios, or such a file without
    the record of a board.

    - scenarios: Names of the scenarios that will be published.
    - files: Names of the files that will be written.
    """
    record = folder / RECORD
    if not record.exists():
        present = sorted(name for name in files if (folder / name).exists())
        # The record is written last: results without one are those of an interrupted command.
        if present and not (folder / RESULTS).exists():
            raise ValueError(f"{folder} holds {present[0]}, which no standing board wrote; name an empty folder")
        return
    try:
        published = list(json.loads(record.read_text(encoding="utf-8"))["scenarios"])
    except (ValueError, TypeError, KeyError, UnicodeDecodeError):
        raise ValueError(f"{record}: is not the record of a standing board") from None
    require(
        set(published) & set(scenarios),
        f"{folder} holds the standing board of {', '.join(map(str, published))}; name another folder",
    )


def write_results(folder: Path, results: Iterable[Result]) -> None:
    """Write results in the order of scenario, defense, attack and play; equal results give equal bytes."""
    ordered = sorted(results, key=lambda result: [str(part) for part in identity(result)])
    lines = [json.dumps(row_of(result), sort_keys=True, ensure_ascii=False) for result in ordered]
    # No time of writing in the header of the compressed file.
    packed = gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)
    write_atomically(folder / RESULTS, packed, mode=None)


def read_results(folder: Path) -> list[Result]:
    """Results of a standing board; none if the folder has none.

    Raises ValueError if the file is damaged; names file and line.
    """
    path = folder / RESULTS
    if not path.is_file():
        return []
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: is no gzip file of UTF-8 text ({error})") from None
    results = []
    for number, line in enumerate(text.splitlines(), 1):
        with errors_at(f"{path}, line {number}", (ValueError, TypeError, KeyError)):
            row = json.loads(line)
            results.append(result_of([number, *(row[name] for name in RESULT_COLUMNS)]))
    return results


def stale(catalogue: Catalogue, results: Sequence[Result]) -> dict[tuple[str, str], int]:
    """Number of results whose key is not among the given ones, by defense and attack.

    A key is the hash of everything that a result depends on: sources, parameters, data, seed and package versions. The
    attack is "" for releases.
    """
    stored = {result.key for result in results if result.status in ("ok", "skipped")}
    missing = [result for unit in catalogue.units for result in unit.results if result.key not in stored]
    return Counter((result.defense, result.attack or "") for result in missing)


def write_record(folder: Path, about: Mapping[str, Any]) -> None:
    """Write what the board was made from."""
    text = json.dumps(dict(about), indent=2, sort_keys=True, ensure_ascii=False)
    write_atomically(folder / RECORD, f"{text}\n".encode(), mode=None)
