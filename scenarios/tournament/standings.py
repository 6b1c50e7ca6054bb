"""Who stands where: scores of defense and attack, and ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leaderboard.result import Result

GOALS = {"reidentification": "chance", "membership": "membership_chance"}
GOAL_WORDS = {"reidentification": "rows", "membership": "members"}


@dataclass(frozen=True)
class Blow:
    """How an attack on a table went, in the goal where it went best.

    Attributes
    ----------
    attacker : str
        A team, or an attack of the house.
    goal : str
        ``reidentification`` or ``membership``.
    success, chance : float
        Its rate, and what guessing reaches.
    """

    attacker: str
    goal: str
    success: float
    chance: float

    @property
    def advantage(self) -> float:
        """How far success is from chance to certainty, at least 0."""
        return max(0.0, (self.success - self.chance) / (1 - self.chance))


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a team stands.

    Attributes
    ----------
    team : str
        Who.
    utility_table, utility_record, utility : float or None
        Both utilities, and the smaller one; None without a table.
    worst : Blow or None
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
    worst: Blow | None = None
    defense: float | None = None
    attack: float | None = None
    attacked: int = 0
    defense_rank: int = 0
    attack_rank: int = 0
    rank: int = 0


def blow(trial: Result) -> Blow:
    """How one attack went."""
    blows = [
        Blow(str(trial.attack), goal, float(rate), float(chance))
        for goal, name in GOALS.items()
        if (rate := trial.values.get(goal)) is not None and (chance := trial.values.get(name)) is not None
    ]
    return max(blows, key=lambda one: one.advantage, default=Blow(str(trial.attack), "reidentification", 0.0, 0.0))


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
    blows: dict[str, dict[str, Blow]] = defaultdict(dict)
    for result in results:
        if result.attack is not None:
            blows[result.defense][result.attack] = blow(result)
    found = [_standing(team, releases, blows) for team in teams]
    defense = _ranks([one.defense for one in found])
    attack = _ranks([one.attack for one in found])
    overall = _ranks([-float(both[0] + both[1]) for both in zip(defense, attack, strict=True)])
    ranked = [
        replace(one, defense_rank=first, attack_rank=second, rank=both)
        for one, first, second, both in zip(found, defense, attack, overall, strict=True)
    ]
    return sorted(ranked, key=lambda one: (one.rank, one.team))


def _standing(team: str, releases: Mapping[str, Result], blows: Mapping[str, Mapping[str, Blow]]) -> Standing:
    others = [other for other in releases if other != team]
    own = [blows[other][team].advantage for other in others if team in blows[other]]
    attack = sum(own) / len(others) if others else None
    if team not in releases:
        return Standing(team=team, attack=attack, attacked=len(own))
    values = releases[team].values
    utility = float(values["utility_counted"] or 0.0)
    worst = max(blows[team].values(), key=lambda one: (one.advantage, one.success), default=None)
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
