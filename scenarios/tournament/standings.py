"""Who stands where: scores of defense and attack, and ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leaderboard.goals import in_order
from leaderboard.result import Result
from metrics.score import Score


@dataclass(frozen=True)
class AttackOutcome:
    """One attack on one table, in the goal in which it succeeded best.

    Attributes
    ----------
    attacker : str
        A team, or a baseline attack.
    goal : str
        ``reidentification`` or ``membership``.
    success, chance : float
        Its success rate, and that of guessing.
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
    """Where a team stands.

    Attributes
    ----------
    team : str
        Who.
    utility_table, utility_record, utility : float or None
        Both utilities, and the smaller one; None without a table.
    worst : AttackOutcome or None
        The attack of the largest advantage.
    defense : float or None
        utility x (1 - that advantage).
    attack : float or None
        Mean advantage over the other teams' tables; None where there is none.
    attacked : int
        How many of them the team attacked.
    defense_rank, attack_rank, rank : int
        Of defense, of attack, and of the sum of both ranks; equal scores share a rank, missing ones are last.
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


def standings(teams: Sequence[str], results: Sequence[Result]) -> list[Standing]:
    """Where every team stands, the first first.

    Parameters
    ----------
    teams : sequence of str
        Everybody, also who handed in nothing.
    results : sequence of Result
        As `scenarios.tournament.scoring.score` gives them.
    """
    releases = {result.defense: result for result in results if result.attack is None}
    outcomes: dict[str, dict[str, AttackOutcome]] = defaultdict(dict)
    for result in results:
        if result.attack is not None:
            outcomes[result.defense][result.attack] = outcome_of(result)
    found = [_standing(team, releases, outcomes) for team in teams]
    defense = _ranks([one.defense for one in found])
    attack = _ranks([one.attack for one in found])
    overall = _ranks([-float(both[0] + both[1]) for both in zip(defense, attack, strict=True)])
    ranked = [
        replace(one, defense_rank=first, attack_rank=second, rank=both)
        for one, first, second, both in zip(found, defense, attack, overall, strict=True)
    ]
    return sorted(ranked, key=lambda one: (one.rank, one.team))


def _standing(
    team: str, releases: Mapping[str, Result], outcomes: Mapping[str, Mapping[str, AttackOutcome]]
) -> Standing:
    others = [other for other in releases if other != team]
    own = [outcomes[other][team].advantage for other in others if team in outcomes[other]]
    attack = sum(own) / len(others) if others else None
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
        worst=worst,
        defense=utility * (1 - (worst.advantage if worst else 0.0)),
        attack=attack,
        attacked=len(own),
    )


def _ranks(scores: Sequence[float | None]) -> list[int]:
    """Rank of each score, 1 the largest; equal ones share a rank, and missing ones are behind all others."""
    known = [score for score in scores if score is not None]
    return [1 + (len(known) if score is None else sum(other > score for other in known)) for score in scores]
