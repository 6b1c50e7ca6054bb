"""Tournaments for tests: a folder with teams, and hands that play them."""

import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from metrics.columns.cells import escape_column
from scenarios import load
from scenarios.tables.dataset import load_table, with_columns
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.folder import Tournament, csv_bytes
from scenarios.tournament.rules.opening import open_tournament
from scenarios.tournament.rules.scoring import score_shares
from scenarios.tournament.rules.submitting import submit

START = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
RECORDS = 6000
"""Records of tournaments on Bank; the long test of 25 teams needs 5000."""


_PLACE = TemporaryDirectory(prefix="tokumei-tests-")
_OPENED: dict[str, Path] = {}
"""Tournaments that were opened, by what they are."""


@cache
def few_columns():
    """Seven columns of Bank, of every kind, and some of its records.

    Tables are valued and attacked in half the time of all seventeen. The records of other people, which teams and
    attacks read again and again, are the rest.
    """
    bank = with_columns(load("bank"), ["age", "job", "marital", "education", "balance", "housing", "y"])
    chosen = np.sort(np.random.default_rng(0).permutation(len(bank.records))[:RECORDS])
    return replace(bank, records=bank.records.take(chosen))


@dataclass
class Played:
    """A tournament, and what its tests do again and again."""

    tournament: Tournament

    def frame(self, team):
        """A team's originals as released cells, each row declared as its own original."""
        place = self.tournament.team_folder(team)
        records = load_table(place / f"{team}_original.csv", place / "roles.toml").records
        columns = {name: escape_column(records.frame[name]) for name in records.released_columns}
        return pd.DataFrame(columns).assign(original_row=np.arange(len(records)))

    def file(self, team, content, name=None):
        """Write what a team would hand in; content is a frame, text or bytes."""
        path = self.tournament.team_folder(team) / (name or f"{team}_anonymized.csv")
        data = csv_bytes(content) if isinstance(content, pd.DataFrame) else content
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def hand_in(self, team, content, *, now=START + HOUR, name=None, against=None, measure=False):
        """Submit a file; to measure the utility of a table would take longer than all else."""
        path = self.file(team, content, name)
        return submit(self.tournament, team, path, now, against=against, measure=measure)

    def publish(self):
        return advance(self.tournament, START + DAY)

    def attack(self, team, target, rows, candidates, confidence=1.0):
        table = pd.DataFrame({"released_row": rows, "candidate_row": candidates, "confidence": confidence})
        return self.hand_in(team, table, now=START + DAY + HOUR, name=f"{team}_attack_{target}.csv")

    def close(self):
        return advance(self.tournament, START + 2 * DAY)

    def truth(self, team):
        """Candidate of each published row, by the host's secret."""
        from scenarios.tournament.rules.advancing import published

        table = self.tournament.state(self.tournament.log.entries()).tables[team]
        origin = published(self.tournament, team, table.content).origin
        return np.where(origin >= 0, self.tournament.answers(team)[origin], -1)


def opened(
    folder: Path, teams=("kyoto", "osaka", "nara"), *, originals=30, candidates=60, seed=1, **settings
) -> Played:
    """A tournament that has just been opened, on seven columns of Bank unless a data set is given."""
    given = {
        "decoys": "random",
        "rounds": 1,
        "anonymize_until": (START + DAY).isoformat(),
        "anonymize_again_until": None,
        "attack_until": (START + 2 * DAY).isoformat(),
        "now": START,
        "publish_every": None,
        **settings,
    }
    dataset = given.pop("dataset", None)
    sizes = {"originals": originals, "candidates": candidates, "seed": seed}
    if dataset is not None:
        open_tournament(folder, dataset, list(teams), **sizes, **given)
        return Played(Tournament(folder))
    # Equal tournaments are opened once, and copied.
    asked = repr((teams, sizes, sorted(given.items())))
    if asked not in _OPENED:
        place = Path(_PLACE.name) / str(len(_OPENED))
        open_tournament(place, few_columns(), list(teams), **sizes, **given)
        _OPENED[asked] = place
    shutil.copytree(_OPENED[asked], folder)
    return Played(Tournament(folder))


def score(tournament, share, jobs, progress=None):
    """Results of all tables against all attackers at one share of the rows."""
    return score_shares(tournament, (share,), jobs, progress)[share]
