"""Standings of a tournament: scores and ranks of defense and attack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

from leaderboard.results import FAILURES, Result, in_order
from metrics.columns import Sentence
from metrics.score import Score
from scenarios.tournament.rules.scoring import BASELINE, WAITING, listed_measures

TIE_BREAKERS = (Sentence("defense"), Sentence("attack"), Sentence("utility"))
"""What decides between teams whose sums of ranks are equal, in this order."""
UNSCORABLE = Sentence("could not be scored")
NOT_RUN = "did_not_run"
"""Goal of a baseline attack that failed or took too long, which counts as not survived."""
RANKING = {
    "ranks": Sentence(
        "# is the rank by the sum of the ranks in defense and attack. Of equal sums, the higher defense comes first, "
        "then the higher attack, then the higher utility."
    ),
    "score": Sentence(
        "# is the rank by defense + attack, where a missing one counts 0; equal sums share it. A baseline attack that "
        "did not run counts as not survived."
    ),
}
"""What the rank is, by the setting `ranking`."""
PLACES = 9
"""Decimal places to which scores are compared; equal scores may differ in the last bit, as rounding errors do."""


@dataclass(frozen=True)
class AttackOutcome:
    """Outcome of one attack on one table, in the goal of its largest advantage.

    Attributes
    ----------
    attacker : str
        A team, or a baseline attack.
    goal : str
        ``reidentification`` or ``membership``; `NOT_RUN` for a baseline attack that failed or took too long.
    success, chance : float
        Success rate of the attack, and chance level.
    advantage : float
        Advantage over guessing, at least 0.
    """

    attacker: str
    goal: str = "reidentification"
    success: float = 0.0
    chance: float = 0.0
    advantage: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Scores and ranks of a team.

    Attributes
    ----------
    team : str
        The team.
    utility_table, utility_record, utility : float or None
        Utility of the table and of the records, and the smaller of both; None without a table.
    worst : AttackOutcome or None
        Outcome of the attack with the largest advantage.
    defense : float or None
        utility x (1 - that advantage).
    attack : float or None
        Mean advantage over the other teams' tables; None if the team attacked none.
    attacked : int
        Number of these tables that the team attacked.
    defense_rank, attack_rank, rank : int
        Ranks by defense, by attack, and overall; see `standings`.
    tie : str
        How a tie in the sum of both ranks was broken, or that it was not; empty without a tie.
    unscored : str
        Which of the team's files have no score, and whether they will get one; empty if defense and attack have what
        the log asks for.
    not_run : tuple of str
        Baseline attacks on the team's table that failed or took too long.
    disqualified : str
        Why the team is disqualified; empty if it is not.
    measures : dict of float
        Value of each utility measure that the contest lists, by name.
    """

    team: str
    utility_table: float | None = None
    utility_record: float | None = None
    utility: float | None = None
    worst: AttackOutcome | None = None
    defense: float | None = None
    attack: float | None = None
    attacked: int = 0
    defense_rank: int = 0
    attack_rank: int = 0
    rank: int = 0
    tie: str = ""
    unscored: str = ""
    not_run: tuple[str, ...] = ()
    disqualified: str = ""
    measures: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def missing(self) -> bool:
        """Whether the team has no score: it handed in nothing that counts, or nothing of it is scored."""
        return self.defense is None and self.attack is None


def best_outcome(attacker: str, scores: Mapping[str, Score]) -> AttackOutcome:
    """Outcome of an attack in the goal of its largest advantage; success 0 if no goal was measured."""
    outcomes = [
        AttackOutcome(attacker, goal, score.rate, score.chance, max(0.0, score.advantage))
        for goal in in_order(scores)
        if (score := scores[goal]).rate is not None and score.chance is not None and score.advantage is not None
    ]
    return max(outcomes, key=lambda one: one.advantage, default=AttackOutcome(attacker))


def outcome_of(trial: Result) -> AttackOutcome:
    """Outcome of a trial's attack."""
    return best_outcome(str(trial.attack), trial.scores)


def standings(
    teams: Sequence[str],
    results: Sequence[Result],
    disqualified: Mapping[str, str] | None = None,
    ranking: str = "ranks",
) -> list[Standing]:
    """Standings of all teams, best first.

    Teams are ranked by defense and by attack. Equal scores share a rank, and missing scores come last. Scores are equal
    if they are so to nine decimal places. Teams without any score come last, and disqualified teams after them; the
    ranks of both are the number of teams.

    The overall rank is one of two, by the tournament's setting:

    - ``score``: by defense + attack. A missing one counts 0, and so does the table of the originals, whose defense is
      0: neither is worth anything. Equal sums share the rank. A baseline attack that failed or took too long counts as
      not survived, so that nobody gains by a table that makes it slow.
    - ``ranks``: by the sum of both ranks. Of teams with equal sums, the higher defense comes first, then the higher
      attack, then the higher utility. If all are equal, they share the rank.
    """
    out = disqualified or {}
    counted = [one for one in results if one.status == "ok" and not {one.defense, one.attack} & set(out)]
    releases = {result.defense: result for result in counted if result.attack is None}
    outcomes: dict[str, dict[str, AttackOutcome]] = defaultdict(dict)
    for result in counted:
        if result.attack is not None and result.defense in releases:
            outcomes[result.defense][result.attack] = outcome_of(result)
    not_run: dict[str, list[str]] = defaultdict(list)
    for result in results:
        attack = result.attack or ""
        if attack.startswith(BASELINE) and result.defense in releases and result.status in FAILURES:
            not_run[result.defense].append(attack)
            if ranking == "score":
                outcomes[result.defense][attack] = AttackOutcome(attack, NOT_RUN, 1.0, 0.0, 1.0)
    files: dict[tuple[str, str], set[str]] = defaultdict(set)
    for result in results:
        files[("table", result.defense) if result.attack is None else ("attacks", result.attack)].add(result.status)
    bare = [_standing(team, releases, outcomes) for team in teams]
    unranked = [replace(one, unscored=_unscored(one, files), not_run=tuple(not_run[one.team])) for one in bare]
    ranks = zip(_ranks([one.defense for one in unranked]), _ranks([one.attack for one in unranked]), strict=True)
    ranked = [replace(one, defense_rank=by[0], attack_rank=by[1]) for one, by in zip(unranked, ranks, strict=True)]
    order = {"score": _by_score, "ranks": _by_ranks}[ranking]
    placed = []
    for one in ranked:
        if one.missing:
            placed.append(replace(one, rank=len(teams), disqualified=out.get(one.team, "")))
            continue
        better = sum(order(other) < order(one) for other in ranked if not other.missing)
        tied = [other for other in ranked if not other.missing and order(other)[0] == order(one)[0] and other != one]
        placed.append(replace(one, rank=1 + better, tie=_tie(one, tied, order)))
    return sorted(placed, key=lambda one: (bool(one.disqualified), one.missing, one.rank, one.team))


def _by_score(one: Standing) -> tuple[float, ...]:
    """Sort key of a team that takes part, the best first: the sum of its scores."""
    return (-_compared((one.defense or 0.0) + (one.attack or 0.0)),)


def _by_ranks(one: Standing) -> tuple[float, ...]:
    """Sort key of a team that takes part, the best first: the sum of its ranks, then what breaks ties."""
    return (
        one.defense_rank + one.attack_rank,
        *(1.0 if score is None else -_compared(score) for score in (one.defense, one.attack, one.utility)),
    )


def _tie(one: Standing, tied: Sequence[Standing], order: Callable[[Standing], tuple[float, ...]]) -> str:
    """How a tie with other teams was broken."""
    if not tied:
        return ""
    own, breakers = order(one)[1:], TIE_BREAKERS[: len(order(one)) - 1]
    criteria = {
        next((name for name, mine, theirs in zip(breakers, own, order(other)[1:], strict=True) if mine != theirs), "")
        for other in tied
    }
    names = Sentence.joined(", ", [other.team for other in tied])
    decided = Sentence.joined(", then ", [name for name in TIE_BREAKERS if name in criteria])
    shared = Sentence.joined(", ", [other.team for other in tied if order(other) == order(one)])
    parts = [Sentence("decided by {decided}", decided=decided)] if decided else []
    parts += [Sentence("shares the rank with {shared}", shared=shared)] if shared and decided else []
    how = Sentence.joined(", ", parts or [Sentence("shares the rank")])
    return Sentence("tied with {names}; {how}", names=names, how=how)


def _standing(
    team: str, releases: Mapping[str, Result], outcomes: Mapping[str, Mapping[str, AttackOutcome]]
) -> Standing:
    others = [other for other in releases if other != team]
    own = [outcomes[other][team].advantage for other in others if team in outcomes[other]]
    # The correctly rounded sum does not depend on the order of the tables, which is that of the teams' names.
    attack = fsum(own) / len(others) if own else None
    if team not in releases:
        return Standing(team=team, attack=attack, attacked=len(own))
    values = releases[team].values
    utility = float(values["utility_counted"] or 0.0)
    worst = max(outcomes[team].values(), key=lambda one: (one.advantage, one.success), default=None)
    return Standing(
        team=team,
        utility_table=values["table"],
        utility_record=values["record"],
        utility=utility,
        measures=listed_measures(values),
        worst=worst,
        defense=utility * (1 - (worst.advantage if worst else 0.0)),
        attack=attack,
        attacked=len(own),
    )


def _unscored(one: Standing, files: Mapping[tuple[str, str], set[str]]) -> str:
    """Which files of a team have no score, in words; `files` are the statuses of its table and of its attacks."""
    return Sentence.joined(
        ", ",
        [
            Sentence(
                "{kind} {state}",
                kind=kind,
                state=Sentence("not scored yet") if WAITING in files[kind, one.team] else UNSCORABLE,
            )
            for kind, score in ((Sentence("table"), one.defense), (Sentence("attacks"), one.attack))
            if score is None and (kind, one.team) in files
        ],
    )


def _ranks(scores: Sequence[float | None]) -> list[int]:
    """Rank of each score, 1 for the largest; equal scores share a rank, and missing scores come last."""
    compared = [None if score is None else _compared(score) for score in scores]
    present = [score for score in compared if score is not None]
    last = 1 + len(present) if present else len(compared)
    return [last if score is None else 1 + sum(other > score for other in present) for score in compared]


def _compared(score: float) -> float:
    """A score as ranks and ties compare it."""
    return round(score, PLACES)
