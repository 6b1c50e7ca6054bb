"""Standings, matrix and picture as the last scoring published them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MOST_ATTACKERS = 40
"""Number of attackers that the page's matrix shows; the file has all."""


@dataclass(frozen=True)
class PublicBoard:
    """Standings and matrix as the files hold them, so that page, files and terminal agree.

    Attributes
    ----------
    standings : list of mapping of str to str
        A line of ``standings.csv`` for each team, best first; a missing value is empty. Titles are as they are, without
        the apostrophe by which the file keeps spreadsheets from calculating.
    attackers : list of str
        Attackers that the page shows, the strongest first.
    advantage : mapping of (str, str) to float
        Advantage by table and attacker.
    scored : float or None
        Moment of the scoring, in seconds since 1970; None before the first.
    """

    standings: list[dict[str, str]] = field(default_factory=list)
    attackers: list[str] = field(default_factory=list)
    advantage: Mapping[tuple[str, str], float] = field(default_factory=dict)
    scored: float | None = None

    @property
    def final(self) -> bool:
        """Whether the scoring was one of a closed tournament, and complete."""
        return bool(self.standings) and all(line.get("status") == "final" for line in self.standings)

    @property
    def partial(self) -> bool:
        """Whether results were missing, so that scoring went on."""
        return any(line.get("status") == "partial" for line in self.standings)


def read_board(folder: Path, titles: Mapping[str, str]) -> PublicBoard:
    """Board in a folder; empty before the first scoring.

    Parameters
    ----------
    folder : Path
        The public folder, or the host's.
    titles : mapping of str to str
        Title by team.
    """
    path = folder / "standings.csv"
    try:
        written = path.stat().st_mtime
        standings = [{**line, "title": titles.get(line["team"], line["team"])} for line in _lines(path)]
    except FileNotFoundError:
        return PublicBoard()
    try:
        pairs = _lines(folder / "matrix.csv")
    except FileNotFoundError:
        pairs = []
    advantage = {(pair["defense"], pair["attack"]): float(pair["advantage"]) for pair in pairs if pair["advantage"]}
    sums: dict[str, float] = {}
    for (_, attacker), value in advantage.items():
        sums[attacker] = sums.get(attacker, 0.0) + value
    attackers = sorted(sums, key=lambda name: (-sums[name], name))[:MOST_ATTACKERS]
    return PublicBoard(standings, attackers, advantage, written)


def _lines(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
