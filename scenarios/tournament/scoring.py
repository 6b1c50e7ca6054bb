"""Scoring: every table against every attacker, the baseline attacks among them, on the game that algorithms play."""

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
from numpy.typing import NDArray

from attacks import AssignmentLinkage, ExpectationMaximizationLinkage, FellegiSunter, NearestNeighbour
from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import RankedAnswers
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from leaderboard.result import Result
from leaderboard.store import Store
from metrics.arrays import Integers
from metrics.score import Scores
from scenarios.games.candidate_file import score_answers
from scenarios.running.fingerprint import closure, digest, sources, versions
from scenarios.seeds import generator
from scenarios.tournament.advancing import published
from scenarios.tournament.folder import Submission, Tournament
from scenarios.tournament.leakage import nearest_originals
from scenarios.tournament.sheets import read_answers

SCENARIO = "tournament"
ROWS = "reidentification"
"""The goal that is scored on a part of the rows too."""
SCORER = 2
"""Raised when the meaning of a stored number changes."""
BASELINE = "baseline:"
"""Prefix of the host's own attacks, which no team's name can have."""


def baselines() -> tuple[Attack, ...]:
    """The host's own attacks: all that need to know nothing of how a table was made."""
    return (AssignmentLinkage(), ExpectationMaximizationLinkage(), FellegiSunter(), NearestNeighbour())


def baseline_name(attack: Attack) -> str:
    """What boards call an attack of the host's."""
    return BASELINE + type(attack).__name__


@dataclass(frozen=True)
class Target:
    """One team's table and everybody's answers on it.

    Attributes
    ----------
    team : str
        Whose.
    table : Submission
        What was handed in.
    attacks : mapping of str to Submission
        Correspondence tables by attacker.
    shares : tuple of float
        Shares of the rows that count, in (0, 1]; members are scored only where all rows are.
    missing : frozenset of str
        Keys of the results that are to be computed.
    """

    team: str
    table: Submission
    attacks: Mapping[str, Submission]
    shares: tuple[float, ...]
    missing: frozenset[str]


def score(
    tournament: Tournament, share: float, jobs: int, progress: Callable[[int, int], None] | None = None
) -> list[Result]:
    """Score all tables against all attackers by one share of the rows; see `score_shares`."""
    return score_shares(tournament, (share,), jobs, progress)[share]


def score_shares(
    tournament: Tournament, shares: Sequence[float], jobs: int, progress: Callable[[int, int], None] | None = None
) -> dict[float, list[Result]]:
    """Score all tables against all attackers; what was scored before is not computed again.

    Parameters
    ----------
    tournament : Tournament
        Which; its tables must have been published.
    shares : sequence of float
        Shares of the rows that count, in (0, 1]; attacks are played once for all of them.
    jobs : int
        Number of processes.
    progress : callable, optional
        ``progress(done, total)``, told after each table.

    Returns
    -------
    dict of float to list of Result
        For each share a release for each team's table, and a trial for each attack on it, in order of their names.
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
            everything = frozenset(key for _, key in keys)
            targets.append(replace(target, missing=everything - set(store.known(everything))))
        waiting = [target for target in targets if target.missing]
        for done, results in enumerate(_computed(tournament.folder, waiting, jobs), start=1):
            store.add(results)
            if progress:
                progress(done, len(waiting))
        asked = frozenset(key for keys in wanted.values() for key in keys)
        found = {result.key: result for result in store.results(keys=asked)}
    return {share: [found[key] for key in keys] for share, keys in wanted.items()}


def _keys(target: Target, share: float) -> dict[str, str]:
    """Key of the result of the table itself (under no name) and of each attack on it."""
    common = digest([target.table.content, target.team, share, SCORER, _code()])
    teams = {name: digest([common, name, one.content]) for name, one in target.attacks.items()}
    algorithms = {
        baseline_name(attack): digest([common, baseline_name(attack), sources(attack)]) for attack in baselines()
    }
    return {"": common, **algorithms, **teams}


@cache
def _code() -> str:
    """Hash of this module, of all that it imports, and of the numeric packages' versions."""
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
    """Results of one table that are missing."""
    tournament, team = Tournament(folder), target.team
    keys = {share: _keys(target, share) for share in target.shares}
    originals = tournament.originals(team)
    sheet = published(tournament, team, target.table.content)
    names = (tournament.secret["seed"], "tournament", team, target.table.content)
    every = originals.maps(sheet.origin, sheet.frame, generator(*names, "map"))
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
            maps = {map_: np.where(counted[share], origin, -1) for map_, origin in every.items()}
            scored = scores(claims, maps, answers, len(candidates), (*names, "score", seed_name(name)))
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


def _counted(rows: int, share: float, rng: Generator) -> NDArray[np.bool_]:
    """Which rows count, a secret share of them."""
    counted: NDArray[np.bool_] = rng.permutation(rows) < max(1, round(share * rows))
    return counted


def _claims(
    tournament: Tournament,
    target: Target,
    frame: Any,
    candidates: Microdata,
    keys: Mapping[float, Mapping[str, str]],
) -> Iterator[tuple[str, RankedAnswers]]:
    """Answers of the baseline attacks and of the other teams that are yet to be scored."""
    missing = {name for named in keys.values() for name, key in named.items() if key in target.missing}
    seed = tournament.secret["seed"]
    view = MicrodataRelease(frame, np.full(len(frame), -1))
    others = tournament.others_path
    auxiliary = tournament.records(others) if others.is_file() else candidates.take([])
    for attack in baselines():
        name = baseline_name(attack)
        if name in missing:
            rng = generator(seed, "tournament", "house", target.team, seed_name(name))
            claims = attack.run(view, Knowledge(candidates.frame.copy(), auxiliary), rng)
            if isinstance(claims, RankedAnswers):
                yield name, claims
    for attacker, submission in target.attacks.items():
        if attacker in missing:
            data = tournament.content(submission.content)
            yield attacker, read_answers(attacker, data, len(frame), tournament.settings.candidates)


def seed_name(name: str) -> str:
    """An attacker's name in seeds, which do not change with `BASELINE`."""
    return f"house:{name.removeprefix(BASELINE)}" if name.startswith(BASELINE) else name


def _without_members(scored: Scores) -> Scores:
    """Scores of rows alone."""
    measures = {name: value for name, value in scored.measures.items() if name != "membership_auc"}
    return Scores({ROWS: scored[ROWS]}, measures)


def scores(
    claims: RankedAnswers,
    maps: Mapping[str, Integers],
    answers: Integers,
    candidates: int,
    seed: Sequence[Any],
) -> Scores:
    """Rates by the declared origins or by one of the host's own maps, whichever are higher.

    Ties break alike under all maps, since their generators are equal.
    """
    scored = {name: score_answers(claims, map_, answers, candidates, generator(*seed)) for name, map_ in maps.items()}
    rates = {name: one[ROWS].rate for name, one in scored.items()}
    counts = max(scored, key=lambda name: -1.0 if rates[name] is None else float(rates[name] or 0.0))
    return scored[counts].with_measures(**rates)
