"""Scoring of every table against every attacker, including the baseline attacks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import (
    AssignmentLinkage,
    Attack,
    Claims,
    ExpectationMaximizationLinkage,
    FellegiSunter,
    Knowledge,
    MajorityInClass,
    NearestNeighbour,
    NearestRowLinkability,
    RankedAnswers,
    SharedColumn,
    ValueClaims,
    gower_distance,
    shared_columns,
)
from defenses import MicrodataRelease
from leaderboard import Result, Store
from metrics.columns import Booleans, Integers, Sentence
from metrics.score import Scores
from scenarios.games import FinishedRelease, GivenPeople, Question, Randomness, RowQuestion, claims_of, make_release
from scenarios.games.people import Drawn
from scenarios.running.methods import closure, digest, reason_of, sources, status_of, versions
from scenarios.running.workers.isolation import Death, TaskStep, isolated
from scenarios.tables import AnswerFile, Content, ReleasedFile, generator
from scenarios.tournament.rules.advancing import published
from scenarios.tournament.rules.contest import Contest
from scenarios.tournament.rules.folder import Submission, Tournament, hash_of, opened_tournament
from scenarios.tournament.rules.sheets import Correspondence, Sheet, read_answers
from scenarios.tournament.rules.submission_utility import Originals

# Columns of a table that reveal whose its rows are.

NEAREST, WITHOUT = "nearest", "nearest_without:"
MEASURE = "measure:"
"""Prefix of the names of utility measures among the values of a table."""


def nearest_originals(sheet: Sheet, people: Drawn) -> dict[str, float]:
    """Share of rows whose original is the nearest candidate, by all columns and without each one.

    The distance is Gower's. Rows declared to stem from no original do not count. Of k tied candidates, each counts 1/k.
    """
    release = MicrodataRelease(sheet.frame, np.full(len(sheet.frame), -1))
    columns = shared_columns(release, Knowledge(people.candidates, people.others.take([])))
    rows = np.flatnonzero(sheet.origin >= 0)
    truth = people.answers[sheet.origin[rows]]

    def nearest(used: list[SharedColumn]) -> float:
        if not used or not rows.size:
            return 0.0
        distance = np.round(gower_distance(used)[rows], 9)
        best = distance == distance.min(axis=1, keepdims=True)
        return float((best[np.arange(rows.size), truth] / best.sum(axis=1)).mean())

    without = {
        WITHOUT + column.name: nearest([other for other in columns if other is not column]) for column in columns
    }
    return {NEAREST: nearest([*columns]), **without}


def listed_measures(values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Value of each utility measure that the contest lists, by name, from the values of a table."""
    return {name.removeprefix(MEASURE): value for name, value in values.items() if name.startswith(MEASURE)}


def leaking_columns(values: Mapping[str, float | None]) -> list[tuple[str, float, float]]:
    """Rate of nearest originals with all columns and without each one, the most informative column first."""
    rate_of_all = float(values[NEAREST] or 0.0)
    rates = {
        name.removeprefix(WITHOUT): float(rate or 0.0) for name, rate in values.items() if name.startswith(WITHOUT)
    }
    drops = sorted(
        ((name, rate, rate_of_all - rate) for name, rate in rates.items()), key=lambda one: (-one[2], one[0])
    )
    return [("(none)", rate_of_all, 0.0), *drops]


SCENARIO = "tournament"
ROWS = "reidentification"
"""Goal that can be scored on a share of the rows."""
OF_ROWS = (ROWS, "rows among ")
"""How its names begin, overall and in strata."""
FEWEST = 5
"""Fewest originals, and fewest decoys, of a stratum that is scored; fewer would let chance decide."""
SCORER = 4
"""Version of the scorer, which is raised when the meaning of a stored number changes."""
WAITING = "waiting"
"""Status of a result that the log asks for and that is not stored yet."""
BASELINE = "baseline:"
"""Prefix of the baseline attacks' names, which no team's name can have."""


def baselines() -> tuple[Attack, ...]:
    """Baseline attacks, which the host runs: they need no knowledge of how a table was made."""
    return (AssignmentLinkage(), ExpectationMaximizationLinkage(), FellegiSunter(), NearestNeighbour())


def house_attacks(contest: Contest) -> tuple[Attack, ...]:
    """Baseline attacks of a tournament: where a contest asks about a value or links, one that answers it, too."""
    asked = {one.use for one in contest.question}
    return (*baselines(), *(attack for question, attack in _ANSWERING.items() if question in asked))


_ANSWERING = {"AttributeQuestion": MajorityInClass(), "LinkQuestion": NearestRowLinkability()}
"""The baseline attack that answers each question about something else than rows and members."""


def baseline_name(attack: Attack) -> str:
    """Name of a baseline attack on boards."""
    return BASELINE + type(attack).__name__


def built_in_names() -> dict[str, str]:
    """What pages call each baseline attack."""
    return {
        baseline_name(one): Sentence("built-in attack {letter}", letter=ascii_uppercase[place])
        for place, one in enumerate((*baselines(), *_ANSWERING.values()))
    }


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
    keys : mapping of float to (mapping of str to str)
        Key of each result by the attack's name, for each share of the rows that counts, in (0, 1]. The result of the
        table itself has the empty name. Membership is scored only at share 1.
    missing : frozenset of str
        Keys of the results to compute.
    """

    team: str
    table: Submission
    attacks: Mapping[str, Submission]
    keys: Mapping[float, Mapping[str, str]]
    missing: frozenset[str] = frozenset()

    def shares_without(self, name: str) -> list[float]:
        """Shares at which the result of an attack, or of the table itself, is missing."""
        return [share for share, named in self.keys.items() if named[name] in self.missing]


def score_shares(
    tournament: Tournament,
    shares: Sequence[float],
    jobs: int,
    progress: Callable[[int, int], None] | None = None,
    *,
    retry: bool = False,
) -> dict[float, list[Result]]:
    """Score all tables against all attackers; stored results are not computed again.

    A submission that makes its scoring fail stops no other: its results have another status than ``ok``. With several
    workers this holds for crashes and for steps beyond the limits, too.
    """
    plan = scoring_plan(tournament, shares)
    if retry:
        plan = scoring_plan(tournament, shares, retry=plan.failed)
    with Store(tournament.host / "results.db") as store:
        for done, results in enumerate(_computed(tournament.folder, plan.waiting, jobs), start=1):
            store.add(results)
            if progress:
                progress(done, len(plan.waiting))
        return plan.results(store)


@dataclass(frozen=True)
class ScoringPlan:
    """What the scores of a tournament are made of, and what of it must be computed.

    Attributes
    ----------
    wanted : dict of float to list of Result
        The results that the log asks for at each share, without content: all of them have the status ``waiting``.
    waiting : list of Target
        Tables with missing results: first those on which only teams' attacks are missing, which are cheap, and the
        oldest submission first.
    failed : frozenset of str
        Keys of the stored results whose scoring failed.
    """

    wanted: dict[float, list[Result]]
    waiting: list[Target]
    failed: frozenset[str]

    def results(self, store: Store) -> dict[float, list[Result]]:
        """The results at each share; those that are not stored yet have the status ``waiting``."""
        keys = frozenset(one.key for wanted in self.wanted.values() for one in wanted)
        stored = {one.key: one for one in store.results(keys=keys)}
        return {share: [stored.get(one.key, one) for one in wanted] for share, wanted in self.wanted.items()}


def scoring_plan(tournament: Tournament, shares: Sequence[float], *, retry: Collection[str] = ()) -> ScoringPlan:
    """Results that the log asks for, and those that are not stored."""
    state = tournament.state(tournament.log.entries())
    # The server goes on after a setting was changed by hand, and shows it to the host.
    tournament.check_opening(settings=False)
    attacks: dict[str, dict[str, Submission]] = defaultdict(dict)
    for (attacker, against), one in sorted(state.attacks.items()):
        attacks[against][attacker] = one
    wanted: dict[float, list[Result]] = {share: [] for share in shares}
    waiting: list[tuple[bool, int, Target]] = []
    failed: set[str] = set()
    with Store(tournament.host / "results.db") as store:
        for team, table in sorted(state.tables.items()):
            keys = {share: _keys(tournament, team, table, attacks[team], share) for share in wanted}
            everything = [key for named in keys.values() for key in named.values()]
            stored = store.known(everything)
            failed |= {key for key, status in stored.items() if status != "ok"}
            missing = frozenset(everything) - (stored.keys() - set(retry))
            target = Target(team, table, attacks[team], keys, missing)
            for share, named in keys.items():
                wanted[share] += [_result(target, share, name, status=WAITING) for name in named]
            names = [name for name in keys[shares[0]] if target.shares_without(name)]
            if names:
                dear = any(name not in attacks[team] for name in names)
                oldest = table.number if dear else min(attacks[team][name].number for name in names)
                waiting.append((dear, oldest, target))
    return ScoringPlan(wanted, [target for *_, target in sorted(waiting, key=lambda one: one[:2])], frozenset(failed))


def _keys(
    tournament: Tournament, team: str, table: Submission, attacks: Mapping[str, Submission], share: float
) -> dict[str, str]:
    """Keys of the results of the table itself (under the empty name) and of each attack on it."""
    # A result of other files is none of these, which matters where the opening did not log their hashes.
    files = (
        tournament.original_path(team),
        tournament.candidate_path(team),
        tournament.roles_path,
        tournament.others_path,
        *tournament.own_measures,
    )
    common = digest([table.content, team, share, SCORER, _code(), [hash_of(path) for path in files]])
    teams = {name: digest([common, name, one.content]) for name, one in attacks.items()}
    algorithms = {
        baseline_name(attack): digest([common, baseline_name(attack), sources(attack)])
        for attack in house_attacks(tournament.settings.rules)
    }
    return {"": common, **algorithms, **teams}


@cache
def _code() -> str:
    """Hash of this module, of all modules that it imports, and of the numeric packages' versions."""
    return digest([closure([__name__]), versions()])


def _computed(folder: Path, targets: Sequence[Target], jobs: int) -> Iterator[list[Result]]:
    """Missing results of each table."""
    # Code of the host's own may hang or end its process, which must stop nothing else.
    if (jobs == 1 or len(targets) < 2) and not opened_tournament(folder).own_measures:
        yield from (scored_here(folder, target) for target in targets)
        return
    for (_, target), items in isolated(score_target, [(folder, target) for target in targets], jobs):
        yield results_of(target, items)


def scored_here(folder: Path, target: Target) -> list[Result]:
    """Missing results of one table, computed in this process."""
    return [one for step in score_target((folder, target)) if not isinstance(step, TaskStep) for one in step]


def results_of(target: Target, items: Sequence[list[Result] | Death]) -> list[Result]:
    """Results of one table; where its process died, the step failed and the rest is computed another time."""
    # Without the table itself nothing can be scored: the death before the first step is its fault.
    return [
        one
        for item in items
        for one in (_failed(target, item.step, item.status, item.reason) if isinstance(item, Death) else item)
    ]


def score_target(task: tuple[Path, Target]) -> Iterator[TaskStep | list[Result]]:
    """Missing results of one table, step by step; a step that fails gives results that say why."""
    folder, target = task
    names = next(iter(target.keys.values()))
    yield TaskStep("")
    try:
        table = _prepared(folder, target.team, target.table, names[""])
        if target.shares_without(""):
            values = table.values()
            yield [_result(target, share, "", values=values) for share in target.shares_without("")]
    except Exception as error:
        yield _failed(target, "", status_of(error), reason_of(error))
        return
    for name in names:
        if name and target.shares_without(name):
            yield TaskStep(name)
            try:
                yield _scored(table, target, name)
            except Exception as error:
                yield _failed(target, name, status_of(error), reason_of(error))


def _result(target: Target, share: float, name: str, **content: Any) -> Result:
    """Result of an attack on a table, or of the table itself under the empty name."""
    return Result(
        key=target.keys[share][name],
        scenario=SCENARIO,
        defense=target.team,
        attack=name or None,
        play=0,
        **content,
    )


def _failed(target: Target, name: str, status: str, reason: str) -> list[Result]:
    """Results of a step that failed; if it is that of the table itself, nothing about the table can be scored."""
    names = [name] if name else list(next(iter(target.keys.values())))
    return [
        _result(target, share, one, status=status, reason=reason)
        for one in names
        for share in target.shares_without(one)
    ]


@dataclass(frozen=True)
class AttackedTable:
    """A finished table as attackers find it, with the people whom they compare its rows with.

    Attributes
    ----------
    file : ReleasedFile
        The table, its rows of unknown origin.
    people : GivenPeople
        The candidates and the attackers' own people.
    """

    file: ReleasedFile
    people: GivenPeople
    contest: Contest

    @classmethod
    def of(cls, frame: pd.DataFrame, people: GivenPeople, contest: Contest) -> AttackedTable:
        """A table of released cells."""
        return cls(ReleasedFile.of(MicrodataRelease(frame, np.full(len(frame), -1)), people.records), people, contest)

    @cached_property
    def game(self) -> FinishedRelease:
        """What is asked about the people: whose row a row is."""
        return FinishedRelease(people=self.people, question=RowQuestion())

    @cached_property
    def release(self) -> MicrodataRelease:
        """The table as it was published."""
        release: MicrodataRelease = make_release(self.file, self.game, self.people, np.random.default_rng(0))[1]
        return release

    def claims(self, attack: Attack, rng: Generator) -> Any:
        """Claims of an attack, from one generator; it knows the candidates as they are published."""
        records, asked = self.people.records, self.contest.asked(self.people.records)
        rows = RowQuestion(known=self.contest.candidate_columns(records)[0])
        question = next((one for one, *_ in asked if attack.goal in one.takes), rows)
        game = FinishedRelease(people=self.people, question=question)
        return claims_of(self.file, attack, game, self.people, self.release, Randomness.in_turn(rng))

    def scores(self, claims: Claims, origins: Mapping[str, Integers], seed: Sequence[Any]) -> Scores:
        """Scores of claims under the origins that give the highest rate: as declared, or as assigned by the host.

        Ties are broken alike under all origins, since their generators are equal.
        """
        scored = {name: self._scored(claims, origin, seed) for name, origin in origins.items()}
        rates = {name: one[ROWS].rate if ROWS in one.goals else None for name, one in scored.items()}
        best = max(scored, key=lambda name: -1.0 if rates[name] is None else float(rates[name] or 0.0))
        return scored[best].with_measures(**rates)

    @cached_property
    def _asked(self) -> list[tuple[Question, str, Booleans]]:
        """Each question, what its score is called, and the candidates about whom it is asked."""
        asked, member = list(self.contest.asked(self.people.records)), self.people.member
        named = {name: stratum.holds(self.people) for name, stratum in self.contest.strata.items()}
        groups = [(question, goal, named.get(name, np.ones_like(member))) for question, goal, name in asked]
        return [one for one in groups if min((one[2] & member).sum(), (one[2] & ~member).sum()) >= FEWEST]

    def _scored(self, claims: Claims, origin: Integers, seed: Sequence[Any]) -> Scores:
        """Scores of claims under one origin, in each question of the contest."""
        if not self.contest.question:
            return self.game.score(self.people, replace(self.release, origin=origin), claims, generator(*seed))
        goals, answers = {}, _answers(claims)
        for question, name, counted in self._asked:
            (kind,) = question.takes
            if kind not in answers:
                continue
            rows = np.where(np.append(counted[self.people.answers], False)[origin], origin, -1)
            people, release = replace(self.people, counted=counted), replace(self.release, origin=rows)
            goals[name] = replace(question.score(people, release, answers[kind], generator(*seed))[kind], goal=name)
        return Scores(goals, {})


def _answers(claims: Claims) -> dict[str, Claims]:
    """What claims answer, by the goal of attacks that answer it; links of rows also say who is in the table."""
    if isinstance(claims, RankedAnswers):
        others = claims.others if isinstance(claims, Correspondence) else {}
        return {ROWS: claims, "membership": claims.members(), **others}
    return {"attribute" if isinstance(claims, ValueClaims) else "linkability": claims}


@dataclass(frozen=True)
class PublishedTable:
    """A published table with all that attacks on it are scored by.

    Attributes
    ----------
    tournament : Tournament
        The tournament.
    team : str
        The team.
    names : tuple
        Names in the random seeds.
    sheet : Sheet
        The table with its secret origins.
    originals : Originals
        The team's originals.
    origins : dict of str to ndarray of int, shape (rows,)
        Origins as declared and as assigned by the host.
    attacked : AttackedTable
        The table and its candidates.
    """

    tournament: Tournament
    team: str
    names: tuple[Any, ...]
    sheet: Sheet
    originals: Originals
    origins: Mapping[str, Integers]
    attacked: AttackedTable

    def values(self) -> dict[str, float | None]:
        """Utility of the table, and the columns that leak."""
        utility = self.originals.utility(self.sheet.frame, self.sheet.origin)
        return {
            "utility_counted": utility.counted,
            "table": utility.table,
            "record": utility.record,
            **{f"{MEASURE}{name}": value for name, value in utility.listed.items()},
            **{f"table_{name}": value for name, value in utility.components.items()},
            **nearest_originals(self.sheet, self.attacked.people),
        }


@lru_cache(maxsize=64)
def _prepared(folder: Path, team: str, table: Submission, key: str) -> PublishedTable:
    """A published table; a process that scores more attacks on it later does not prepare it again.

    The key of its result is part of the arguments, since it differs for another version of the scorer.
    """
    tournament = Tournament(folder)
    originals = tournament.originals(team)
    sheet = published(tournament, team, table.content)
    names = (tournament.secret["seed"], "tournament", team, table.content)
    origins = originals.origins(sheet.origin, sheet.frame, generator(*names, "map"))
    candidates = tournament.records(tournament.candidate_path(team))
    others = tournament.people
    auxiliary = tournament.records(others) if others is not None else candidates.take([])
    people = GivenPeople.listed(candidates, auxiliary, tournament.answers(team))
    people = replace(people, rng=tournament.second_rng(team))
    attacked = AttackedTable.of(sheet.frame, people, tournament.settings.rules)
    return PublishedTable(tournament, team, names, sheet, originals, origins, attacked)


def _scored(table: PublishedTable, target: Target, name: str) -> list[Result]:
    """Results of one attack at all shares."""
    # The label enters the random seed: another one would change the scores of earlier tournaments.
    rng = generator(table.tournament.secret["seed"], "tournament", "house", table.team, seed_name(name))
    claims = table.attacked.claims(_attack(table, target, name), rng)
    results, rows = [], len(table.sheet.frame)
    for share in target.shares_without(name):
        # A secret share of all rows counts.
        counted = generator(*table.names, "share").permutation(rows) < max(1, round(share * rows))
        counting = {source: np.where(counted, origin, -1) for source, origin in table.origins.items()}
        scored = table.attacked.scores(claims, counting, (*table.names, "score", seed_name(name)))
        if share < 1:
            measures = {name: value for name, value in scored.measures.items() if name != "membership_auc"}
            scored = Scores({goal: one for goal, one in scored.goals.items() if goal.startswith(OF_ROWS)}, measures)
        results.append(_result(target, share, name, scores=scored.goals, values=scored.measures))
    return results


def _attack(table: PublishedTable, target: Target, name: str) -> Attack:
    """A team's answers, or a baseline attack."""
    if name not in target.attacks:
        return next(one for one in house_attacks(table.attacked.contest) if baseline_name(one) == name)
    tournament, content = table.tournament, target.attacks[name].content
    rows, asked = len(table.sheet.frame), tournament.asked(table.team)
    answers = read_answers(name, tournament.content(content), rows, tournament.settings.candidates, asked)
    return AnswerFile(answers=Content(answers, content))


def seed_name(name: str) -> str:
    """Name of an attacker in seeds, which stay the same whatever `BASELINE` is."""
    return f"house:{name.removeprefix(BASELINE)}" if name.startswith(BASELINE) else name
