"""Log of what was published: hashes of the boards and of the results behind them, by which changes are noticed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from leaderboard import Store
from leaderboard.results import row_of
from scenarios.running.methods import digest
from scenarios.tournament.rules import Log, Tournament, changed_file


def record_publication(tournament: Tournament, pages: Mapping[str, str], keys: Collection[str], now: datetime) -> None:
    """Log the hashes of public boards, by name, and those of results with these keys that no earlier entry has."""
    log = _log(tournament)
    files = {f"public/{name}": hashlib.sha256(text.encode()).hexdigest() for name, text in pages.items()}
    with log.locked():
        entries = log.entries()
        results = _hashes(tournament, set(keys).difference(*(entry.details["results"] for entry in entries)))
        if results or not entries or files != entries[-1].details["files"]:
            log.append("published", {"files": files, "results": results}, now)


def changed_publications(tournament: Tournament) -> Iterator[str]:
    """What was changed since it was published; nothing where an earlier version published."""
    entries = _log(tournament).entries()
    if not entries:
        return
    files = entries[-1].details["files"]
    for name in files:
        yield changed_file(tournament.folder, files, tournament.folder / name, "the last publication")
    recorded = {key: hashed for entry in entries for key, hashed in entry.details["results"].items()}
    stored = _hashes(tournament, recorded)
    changed = sum(stored.get(key) != hashed for key, hashed in recorded.items())
    if changed:
        yield (
            f"{tournament.host / 'results.db'}: {changed} of {len(recorded)} results were changed or removed since "
            "they were published; put the file back from a backup"
        )


def _log(tournament: Tournament) -> Log:
    return Log(tournament.host / "published.jsonl")


def _hashes(tournament: Tournament, keys: Collection[str]) -> dict[str, str]:
    """Hash of each stored result with one of these keys."""
    with Store(tournament.host / "results.db") as store:
        return {one.key: digest(row_of(one)) for one in store.results(keys=keys)}
