"""Scoring of every table against every attacker, including the baseline attacks."""

from __future__ import annotations

import multiprocessing
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl
from numpy.random import Generator

from attacks import AssignmentLinkage, ExpectationMaximizationLinkage, FellegiSunter, NearestNeighbour
from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import RankedAnswers
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from leaderboard.result import Result
from leaderboard.store import Store
from metrics.arrays import Booleans, Integers
from metrics.score import Scores
from scenarios.questions.row_question import score_answers
from scenarios.running.fingerprint import closure, digest, sources, versions
from scenarios.seeds import generator
from scenarios.tournament.advancing import published
from scenarios.tournament.folder import Submission, Tournament
from scenarios.tournament.leakage import nearest_originals
from scenarios.tournament.sheets import read_answers

SCENARIO = "tournament"
ROWS = "reidentification"
"""Goal that can be scored on a share of the rows."""
SCORER = 3
"""Version of the scorer, which is raised when the meaning of a stored number changes."""
BASELINE = "baseline:"
"""Prefix of the baseline attacks' names, which no team's name can have."""


def baselines() -> tuple[Attack, ...]:
    """Baseline attacks, which the host runs: they need no knowledge of how a table was made."""
    return (AssignmentLinkage(), ExpectationMaximizationLinkage(), FellegiSunter(), NearestNeighbour())


def baseline_name(attack: Attack) -> str:
    """Name of a baseline attack on boards."""
    return BASELINE + type(attack).__name__


@dataclass(frozen=True)
class Target:
    """One team's table and all teams' attacks on it.

    Attributes
    ----------
    team : str
        The team that published the table.
    table : Submission
        Submission with the table.
    attacks : mapping of str to Submission
        Correspondence tables by attacker.
    shares : tuple of float
        Shares of the rows that count, in (0, 1]; membership is scored only at share 1.
    missing : frozenset of str
        Keys of the results to compute.
    """

    team: str
    table: Submission
    attacks: Mapping[str, Submission]
    shares: tuple[float, ...]
    missing: frozenset[str]


def score(
    tournament: Tournament, share: float, jobs: int, progress: Callable[[int, int], None] | None = None
) -> list[Result]:
    """Score all tables against all attackers at one share of the rows; see `score_shares`."""
    return score_shares(tournament, (share,), jobs, progress)[share]


def score_shares(
    tournament: Tournament, shares: Sequence[float], jobs: int, progress: Callable[[int, int], None] | None = None
) -> dict[float, list[Result]]:
    """Score all tables against all attackers; stored results are not computed again.

    Parameters
    ----------
    tournament : Tournament
        The tournament, whose tables must have been published.
    shares : sequence of float
        Shares of the rows that count, in (0, 1]; each attack runs once for all of them.
    jobs : int
        Number of worker processes.
    progress : callable, optional
        Called as ``progress(done, total)`` after each table.

    Returns
    -------
    dict of float to list of Result
        For each share, a release for each team's table and a trial for each attack on it, in order of names.
    """
    entries = tournament.log.entries()
    attacks: dict[str, dict[str, Submission]] = defaultdict(dict)
    for (attacker, against), one in sorted(tournament.attacks(entries).items()):
        attacks[against][attacker] = one
    targets = []
    wanted: dict[float, list[str]] = {share: [] for share in shares}
    with Store(tournament.host / "results.db") as store:
        for team, table in sorted(tournament.tables(entries).items()):
            target = Target(team, table, attacks[team], tuple(wanted), frozenset())
            keys = [(share, key) for share in wanted for key in _keys(target, share).values()]
            for share, key in keys:
                wanted[share].append(key)
            needed = frozenset(key for _, key in keys)
            targets.append(replace(target, missing=needed - set(store.known(needed))))
        waiting = [target for target in targets if target.missing]
        for done, results in enumerate(_computed(tournament.folder, waiting, jobs), start=1):
            store.add(results)
            if progress:
                progress(done, len(waiting))
        all_keys = frozenset(key for keys in wanted.values() for key in keys)
        stored = {result.key: result for result in store.results(keys=all_keys)}
    return {share: [stored[key] for key in keys] for share, keys in wanted.items()}


def _keys(target: Target, share: float) -> dict[str, str]:
    """Keys of the results of the table itself (under the empty name) and of each attack on it."""
    common = digest([target.table.content, target.team, share, SCORER, _code()])
    teams = {name: digest([common, name, one.content]) for name, one in target.attacks.items()}
    algorithms = {
        baseline_name(attack): digest([common, baseline_name(attack), sources(attack)]) for attack in baselines()
    }
    return {"": common, **algorithms, **teams}


@cache
def _code() -> str:
    """Hash of this module, of all modules that it imports, and of the numeric packages' versions."""
    return digest([closure([__name__]), versions()])


def _computed(folder: Path, targets: Sequence[Target], jobs: int) -> Iterator[list[Result]]:
    if jobs == 1 or len(targets) < 2:
        yield from (_score_one(folder, target) for target in targets)
        return
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(min(jobs, len(targets)), mp_context=context, initializer=_prepare) as pool:
        yield from pool.map(_score_one, [folder] * len(targets), targets)


def _prepare() -> None:
    threadpoolctl.threadpool_limits(1)


def _score_one(folder: Path, target: Target) -> list[Result]:
    """Missing results of one table."""
    tournament, team = Tournament(folder), target.team
    keys = {share: _keys(target, share) for share in target.shares}
    originals = tournament.originals(team)
    sheet = published(tournament, team, target.table.content)
    names = (tournament.secret["seed"], "tournament", team, target.table.content)
    origins = originals.origins(sheet.origin, sheet.frame, generator(*names, "map"))
    candidates = tournament.records(tournament.candidate_path(team))
    answers = tournament.answers(team)
    results = []
    if any(keys[share][""] in target.missing for share in target.shares):
        utility = originals.utility(sheet.frame, sheet.origin)
        values: dict[str, float | None] = {
            "utility_counted": utility.counted,
            "table": utility.table,
            "record": utility.record,
            **{f"table_{name}": value for name, value in utility.components.items()},
            **nearest_originals(sheet, candidates, answers),
        }
        results += [
            Result(key=keys[share][""], scenario=SCENARIO, defense=team, play=0, values=values)
            for share in target.shares
        ]
    counted = {share: _counted(len(sheet.frame), share, generator(*names, "share")) for share in target.shares}
    for name, claims in _claims(tournament, target, sheet.frame, candidates, keys):
        for share in target.shares:
            counting = {source: np.where(counted[share], origin, -1) for source, origin in origins.items()}
            scored = scores(claims, counting, answers, len(candidates), (*names, "score", seed_name(name)))
            if share < 1:
                scored = _without_members(scored)
            results.append(
                Result(
                    key=keys[share][name],
                    scenario=SCENARIO,
                    defense=team,
                    attack=name,
                    play=0,
                    scores=scored.goals,
                    values=scored.measures,
                )
            )
    return results


def _counted(rows: int, share: float, rng: Generator) -> Booleans:
    """Mask of the rows that count, a secret share of all."""
    counted: Booleans = rng.permutation(rows) < max(1, round(share * rows))
    return counted


def _claims(
    tournament: Tournament,
    target: Target,
    frame: Any,
    candidates: Microdata,
    keys: Mapping[float, Mapping[str, str]],
) -> Iterator[tuple[str, RankedAnswers]]:
    """Claims of the baseline attacks and of the teams whose results are missing."""
    missing = {name for of_share in keys.values() for name, key in of_share.items() if key in target.missing}
    seed = tournament.secret["seed"]
    view = MicrodataRelease(frame, np.full(len(frame), -1))
    others = tournament.others_path
    auxiliary = tournament.records(others) if others.is_file() else candidates.take([])
    for attack in baselines():
        name = baseline_name(attack)
        if name in missing:
            # The label enters the random seed: another one would change the scores of earlier tournaments.
            rng = generator(seed, "tournament", "house", target.team, seed_name(name))
            yield name, RankedAnswers.of(attack.run(view, Knowledge(candidates.frame.copy(), auxiliary), rng))
    for attacker, submission in target.attacks.items():
        if attacker in missing:
            data = tournament.content(submission.content)
            yield attacker, read_answers(attacker, data, len(frame), tournament.settings.candidates)


def seed_name(name: str) -> str:
    """Name of an attacker in seeds, which stay the same whatever `BASELINE` is."""
    return f"house:{name.removeprefix(BASELINE)}" if name.startswith(BASELINE) else name


def _without_members(scored: Scores) -> Scores:
    """Scores without membership."""
    measures = {name: value for name, value in scored.measures.items() if name != "membership_auc"}
    return Scores({ROWS: scored[ROWS]}, measures)


def scores(
    claims: RankedAnswers,
    origins: Mapping[str, Integers],
    answers: Integers,
    candidates: int,
    seed: Sequence[Any],
) -> Scores:
    """Scores of an attack under the origins that give the highest rate: as declared, or as assigned by the host.

    Ties are broken alike under all origins, since their generators are equal.
    """
    scored = {
        name: score_answers(claims, origin, answers, candidates, generator(*seed)) for name, origin in origins.items()
    }
    rates = {name: one[ROWS].rate for name, one in scored.items()}
    best = max(scored, key=lambda name: -1.0 if rates[name] is None else float(rates[name] or 0.0))
    return scored[best].with_measures(**rates)
