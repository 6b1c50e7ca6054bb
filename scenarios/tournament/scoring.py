"""Scoring: every table against every attacker, the house's attacks among them, on the game that algorithms play."""

from __future__ import annotations

import multiprocessing
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
from attacks.attack import Attack, Knowledge
from attacks.claims import RankedAnswers
from defenses.microdata import Microdata
from defenses.release import MicrodataRelease
from leaderboard.result import Result
from leaderboard.store import Store
from scenarios.candidate_file import score_answers
from scenarios.fingerprint import closure, digest, sources, versions
from scenarios.seeds import generator
from scenarios.tournament.advancing import published
from scenarios.tournament.folder import Submission, Tournament
from scenarios.tournament.sheets import read_answers

SCENARIO = "tournament"
SCORER = 1
"""Raised when the meaning of a stored number changes."""
HOUSE = "house:"
"""Prefix of the host's own attacks, which no team's name can have."""
MEMBERS = ("membership", "persons", "membership_chance", "membership_auc")
Rows = NDArray[np.intp]


def house() -> tuple[Attack, ...]:
    """The host's own attacks: all that need to know nothing of how a table was made."""
    return (AssignmentLinkage(), ExpectationMaximizationLinkage(), FellegiSunter(), NearestNeighbour())


def house_name(attack: Attack) -> str:
    """What boards call an attack of the host's."""
    return HOUSE + type(attack).__name__


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
    share : float
        Share of the rows that count, in (0, 1]; members are scored only where all rows are.
    missing : frozenset of str
        Keys of the results that are to be computed.
    """

    team: str
    table: Submission
    attacks: Mapping[str, Submission]
    share: float
    missing: frozenset[str]


def score(
    tournament: Tournament, share: float, jobs: int, progress: Callable[[int, int], None] | None = None
) -> list[Result]:
    """Score all tables against all attackers; what was scored before is not computed again.

    Parameters
    ----------
    tournament : Tournament
        Which; its tables must have been published.
    share : float
        Share of the rows that count, in (0, 1].
    jobs : int
        Number of processes.
    progress : callable, optional
        ``progress(done, total)``, told after each table.

    Returns
    -------
    list of Result
        A release for each team's table, and a trial for each attack on it, in order of their names.
    """
    entries = tournament.log.entries()
    attacks = tournament.attacks(entries)
    targets = []
    with Store(tournament.host / "results.db") as store:
        wanted: list[str] = []
        for team, table in sorted(tournament.tables(entries).items()):
            own = {attacker: one for (attacker, against), one in sorted(attacks.items()) if against == team}
            target = Target(team, table, own, share, frozenset())
            keys = list(_keys(target).values())
            wanted += keys
            known = store.known(keys)
            targets.append(replace(target, missing=frozenset(keys) - set(known)))
        waiting = [target for target in targets if target.missing]
        for done, results in enumerate(_computed(tournament.folder, waiting, jobs), start=1):
            store.add(results)
            if progress:
                progress(done, len(waiting))
        found = {result.key: result for result in store.results(keys=frozenset(wanted))}
    return [found[name] for name in wanted]


def _keys(target: Target) -> dict[str, str]:
    """Key of the result of the table itself (under no name) and of each attack on it."""
    common = {
        "table": target.table.content,
        "team": target.team,
        "share": target.share,
        "scorer": SCORER,
        "code": _code(),
    }
    teams = {name: digest([common, name, one.content]) for name, one in target.attacks.items()}
    algorithms = {house_name(attack): digest([common, house_name(attack), sources(attack)]) for attack in house()}
    return {"": digest([common]), **algorithms, **teams}


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
    tournament, team, keys = Tournament(folder), target.team, _keys(target)
    originals = tournament.originals(team)
    sheet = published(tournament, team, target.table.content)
    seed = tournament.secret["seed"]
    names = (seed, "tournament", team, target.table.content)
    counted = _counted(len(sheet.frame), target.share, generator(*names, "share"))
    best = originals.best_origin(sheet.frame, generator(*names, "map"))
    maps = {"declared": np.where(counted, sheet.origin, -1), "assigned": np.where(counted, best, -1)}
    candidates = tournament.records(tournament.candidate_path(team))
    answers = tournament.answers(team)
    results = []
    if keys[""] in target.missing:
        merit = originals.merit(sheet.frame, sheet.origin)
        values: dict[str, float | None] = {
            "utility_counted": merit.counted,
            "table": merit.table,
            "record": merit.record,
            **{f"table_{name}": value for name, value in merit.components.items()},
        }
        results.append(Result(key=keys[""], scenario=SCENARIO, defense=team, play=0, values=values))
    for name, claims in _claims(tournament, target, sheet.frame, candidates, keys):
        values = scores(claims, maps, answers, len(candidates), (*names, "score", name))
        if target.share < 1:
            values = {name: value for name, value in values.items() if name not in MEMBERS}
        results.append(Result(key=keys[name], scenario=SCENARIO, defense=team, attack=name, play=0, values=values))
    return results


def _counted(rows: int, share: float, rng: Generator) -> NDArray[np.bool_]:
    """Which rows count, a secret share of them."""
    counted: NDArray[np.bool_] = rng.permutation(rows) < max(1, round(share * rows))
    return counted


def _claims(
    tournament: Tournament, target: Target, frame: Any, candidates: Microdata, keys: Mapping[str, str]
) -> Iterator[tuple[str, RankedAnswers]]:
    """Answers of the house and of the other teams that are yet to be scored."""
    seed = tournament.secret["seed"]
    view = MicrodataRelease(frame, np.full(len(frame), -1))
    others = tournament.others_path
    auxiliary = tournament.records(others) if others.is_file() else candidates.take([])
    for attack in house():
        name = house_name(attack)
        if keys[name] in target.missing:
            rng = generator(seed, "tournament", "house", target.team, name)
            claims = attack.run(view, Knowledge(candidates.frame.copy(), auxiliary), rng)
            if isinstance(claims, RankedAnswers):
                yield name, claims
    for attacker, submission in target.attacks.items():
        if keys[attacker] in target.missing:
            data = tournament.content(submission.content)
            yield attacker, read_answers(attacker, data, len(frame), tournament.settings.candidates)


def scores(
    claims: RankedAnswers,
    maps: Mapping[str, Rows],
    answers: Rows,
    candidates: int,
    seed: Sequence[Any],
) -> dict[str, float | None]:
    """Rates by the declared origins or by the host's own map, whichever are higher.

    Ties break alike under both maps, since both generators are equal.
    """
    scored = {name: score_answers(claims, map_, answers, candidates, generator(*seed)) for name, map_ in maps.items()}
    rates = {name: one["reidentification"] for name, one in scored.items()}
    counts = max(scored, key=lambda name: -1.0 if rates[name] is None else float(rates[name] or 0.0))
    return {**scored[counts], **rates}
