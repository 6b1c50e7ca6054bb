"""A whole tournament of algorithms: built-in defenses and attacks in the teams' place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

from attacks import AssignmentLinkage, ExpectationMaximizationLinkage, NearestNeighbour
from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import RankedAnswers
from defenses import Constant, Identity, Microaggregation, Mondrian, RankSwapping, RetentionReplacement
from defenses.base.defense import MicrodataDefense
from defenses.base.release import MicrodataRelease
from scenarios.seeds import generator
from scenarios.tables.dataset import Dataset, load_table
from scenarios.tournament.advancing import advance
from scenarios.tournament.folder import Tournament, csv_bytes
from scenarios.tournament.opening import open_tournament
from scenarios.tournament.sheets import ORIGINAL_ROW
from scenarios.tournament.submitting import submit

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""When simulated tournaments start: no clock enters them."""


def cast() -> dict[str, tuple[MicrodataDefense, Attack]]:
    """Who plays: a team's name, how it anonymizes and how it attacks."""
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
    folder: Path, dataset: Dataset, *, originals: int, candidates: int, seed: int, say: Callable[[str], None]
) -> Tournament:
    """Play a tournament up to its close; scoring is left to the caller.

    Parameters
    ----------
    folder : Path
        Where; must not exist, or be empty.
    dataset : Dataset
        Whose records.
    originals, candidates : int
        Rows of a team's table, and of its candidate file.
    seed : int
        Of everything: one seed gives one tournament.
    say : callable
        Told in a line what goes on.
    """
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
    )
    tournament = Tournament(folder)
    for team, (defense, _) in teams.items():
        say(f"{team} anonymizes with {type(defense).__name__}")
        path = _anonymize(tournament, team, defense, seed)
        submit(tournament, team, path, START + timedelta(hours=1))
    advance(tournament, START + timedelta(days=1))
    for team, (_, attack) in teams.items():
        say(f"{team} attacks with {type(attack).__name__}")
        for target in teams:
            if target != team:
                path = _attack(tournament, team, target, attack, seed)
                submit(tournament, team, path, START + timedelta(days=1, hours=1))
    advance(tournament, START + timedelta(days=2))
    return tournament


def _anonymize(tournament: Tournament, team: str, defense: MicrodataDefense, seed: int) -> Path:
    """A team's own work: reads its folder, writes a table there."""
    place = tournament.team_folder(team)
    records = load_table(place / f"{team}_original.csv", place / "roles.toml").records
    rng = generator(seed, "simulation", "anonymize", team)
    release = defense.apply(records, rng).shuffled(rng)
    origin = pd.Series(release.origin, dtype=object).where(release.origin >= 0, None)
    path = place / f"{team}_anonymized.csv"
    path.write_bytes(csv_bytes(release.frame.assign(**{ORIGINAL_ROW: origin})))
    return path


def _attack(tournament: Tournament, team: str, target: str, attack: Attack, seed: int) -> Path:
    """A team's own work: reads what is public, writes a correspondence table into its folder."""
    place, public = tournament.team_folder(team), tournament.public
    people = load_table(public / f"{target}_candidate.csv", place / "roles.toml").records
    text = pd.read_csv(public / f"{target}_anonymized.csv", dtype=str, keep_default_na=False, na_values=[""])
    others = place / "others.csv"
    auxiliary = load_table(others, place / "roles.toml").records if others.is_file() else people.take([])
    rng = generator(seed, "simulation", "attack", team, target)
    release = MicrodataRelease(text, np.full(len(text), -1))
    claims = attack.run(release, Knowledge(people.frame, auxiliary), rng)
    if not isinstance(claims, RankedAnswers):
        raise TypeError(f"{type(attack).__name__} names no candidates")
    path = place / f"{team}_attack_{target}.csv"
    path.write_bytes(csv_bytes(correspondence(claims, rng)))
    return path


def correspondence(claims: RankedAnswers, rng: np.random.Generator) -> pd.DataFrame:
    """Best answer to each row as a correspondence table; the confidence is the rank of the score among all rows'."""
    best = claims.best(rng)
    rows = np.flatnonzero(best >= 0)
    score = np.full(claims.targets, -np.inf)
    np.maximum.at(score, claims.target, claims.score)
    surer = (score[rows][:, None] > score[rows][None, :]).mean(axis=1)
    return pd.DataFrame({"released_row": rows, "candidate_row": best[rows], "confidence": surer.round(6)})
