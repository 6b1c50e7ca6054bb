"""Simulated tournament, in which the teams are built-in defenses and attacks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

from attacks import (
    AssignmentLinkage,
    Attack,
    ExpectationMaximizationLinkage,
    NearestNeighbour,
    RankedAnswers,
)
from defenses import (
    Constant,
    Identity,
    Microaggregation,
    MicrodataDefense,
    Mondrian,
    RankSwapping,
    RetentionReplacement,
)
from scenarios.games.table_game import GivenPeople
from scenarios.tables import Dataset, generator, load_table
from scenarios.tournament.rules import (
    ORIGINAL_ROW,
    AttackedTable,
    Tournament,
    advance,
    csv_bytes,
    open_tournament,
    submit,
)

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""Start of simulated tournaments, which do not depend on the clock."""


def cast() -> dict[str, tuple[MicrodataDefense, Attack]]:
    """Defense and attack of each team, by the team's name."""
    return {
        "identity": (Identity(), NearestNeighbour()),
        "constant": (Constant(), NearestNeighbour()),
        "mondrian-3": (Mondrian(k=3), AssignmentLinkage()),
        "mdav-3": (Microaggregation(k=3), ExpectationMaximizationLinkage()),
        "pram-70": (RetentionReplacement(retention=0.7), AssignmentLinkage()),
        "pram-40": (RetentionReplacement(retention=0.4), ExpectationMaximizationLinkage()),
        "rank-swapping": (RankSwapping(), AssignmentLinkage()),
    }


def simulate(
    folder: Path,
    dataset: Dataset,
    *,
    originals: int,
    candidates: int,
    seed: int,
    say: Callable[[str], None],
    contest: Path | None = None,
) -> Tournament:
    """Play a tournament until it closes; the caller scores it. `contest` is a file of a contest's rules."""
    teams = cast()
    open_tournament(
        folder,
        dataset,
        list(teams),
        originals=originals,
        candidates=candidates,
        decoys="random",
        rounds=1,
        anonymize_until=(START + timedelta(days=1)).isoformat(),
        anonymize_again_until=None,
        attack_until=(START + timedelta(days=2)).isoformat(),
        now=START,
        seed=seed,
        contest=contest,
    )
    tournament = Tournament(folder)
    for team, (defense, _) in teams.items():
        say(f"{team} anonymizes with {type(defense).__name__}")
        path = _anonymize(tournament, team, defense, seed)
        submit(tournament, team, path, START + timedelta(hours=1), measure=False)
    advance(tournament, START + timedelta(days=1))
    # What teams see of another one is the same for all, as are the other people whom they know.
    seen = {target: _seen(tournament, target) for target in teams}
    for team, (_, attack) in teams.items():
        say(f"{team} attacks with {type(attack).__name__}")
        for target in teams:
            if target != team:
                rng = generator(seed, "simulation", "attack", team, target)
                path = tournament.team_folder(team) / f"{team}_attack_{target}.csv"
                path.write_bytes(csv_bytes(correspondence(seen[target].claims(attack, rng), rng)))
                submit(tournament, team, path, START + timedelta(days=1, hours=1))
    advance(tournament, START + timedelta(days=2))
    return tournament


def _anonymize(tournament: Tournament, team: str, defense: MicrodataDefense, seed: int) -> Path:
    """Anonymize as a team would: read its folder, and write a table into it."""
    team_folder = tournament.team_folder(team)
    originals = load_table(team_folder / f"{team}_original.csv", team_folder / "roles.toml")
    records = originals.records
    rng = generator(seed, "simulation", "anonymize", team)
    release = defense.apply(records, rng).shuffled(rng)
    origin = pd.Series(release.origin, dtype=object).where(release.origin >= 0, None)
    path = team_folder / f"{team}_anonymized.csv"
    path.write_bytes(csv_bytes(originals.written.write(release.frame).assign(**{ORIGINAL_ROW: origin})))
    return path


def _seen(tournament: Tournament, target: str) -> AttackedTable:
    """What a team reads in the public folder and in its own to attack another one."""
    public, roles = tournament.public, tournament.roles_path
    # An attack knows of them what the public files have.
    candidates = load_table(tournament.candidate_path(target), roles)
    people = candidates.records
    text = pd.read_csv(public / f"{target}_anonymized.csv", dtype=str, keep_default_na=False, na_values=[""])
    others = tournament.people
    auxiliary = tournament.records(others) if others is not None else people.take([])
    return AttackedTable.of(
        candidates.written.read_frame(text), GivenPeople.listed(people, auxiliary), tournament.settings.rules
    )


def correspondence(claims: RankedAnswers, rng: np.random.Generator) -> pd.DataFrame:
    """Correspondence table of the best answers; the confidence is the rank of a row's score among all rows."""
    best = claims.best(rng)
    rows = np.flatnonzero(best >= 0)
    score = np.full(claims.targets, -np.inf)
    np.maximum.at(score, claims.target, claims.score)
    surer = (score[rows][:, None] > score[rows][None, :]).mean(axis=1)
    return pd.DataFrame({"released_row": rows, "candidate_row": best[rows], "confidence": surer.round(6)})
