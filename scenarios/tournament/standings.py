"""Standings of a tournament: scores and ranks of defense and attack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leaderboard.goals import in_order
from leaderboard.result import Result
from metrics.score import Score


@dataclass(frozen=True)
class AttackOutcome:
    """Outcome of one attack on one table, in the goal of its largest advantage.

    Attributes
    ----------
    attacker : str
        A team, or a baseline attack.
    goal : str
        ``reidentification`` or ``membership``.
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
        Mean advantage over the other teams' tables; None if there are none.
    attacked : int
        Number of these tables that the team attacked.
    defense_rank, attack_rank, rank : int
        Ranks by defense, by attack, and by the sum of both ranks. Equal scores share a rank; missing scores are last.
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
    """Standings of all teams, best first.

    Parameters
    ----------
    teams : sequence of str
        All teams, including those without a submission.
    results : sequence of Result
        Results as returned by `scenarios.tournament.scoring.score`.
    """
    releases = {result.defense: result for result in results if result.attack is None}
    outcomes: dict[str, dict[str, AttackOutcome]] = defaultdict(dict)
    for result in results:
        if result.attack is not None:
            outcomes[result.defense][result.attack] = outcome_of(result)
    unranked = [_standing(team, releases, outcomes) for team in teams]
    defense = _ranks([one.defense for one in unranked])
    attack = _ranks([one.attack for one in unranked])
    overall = _ranks([-float(ranks[0] + ranks[1]) for ranks in zip(defense, attack, strict=True)])
    ranked = [
        replace(one, defense_rank=first, attack_rank=second, rank=third)
        for one, first, second, third in zip(unranked, defense, attack, overall, strict=True)
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
    """Rank of each score, 1 for the largest; equal scores share a rank, and missing scores come last."""
    present = [score for score in scores if score is not None]
    return [1 + (len(present) if score is None else sum(other > score for other in present)) for score in scores]
