"""How a run stands while it goes on: the attack that each defense fares worst against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from leaderboard.goals import goal_words
from leaderboard.result import Result, label
from metrics.score import advantage


@dataclass
class _Mean:
    count: int = 0
    rate: float = 0.0
    chance: float = 0.0

    def add(self, rate: float, chance: float) -> None:
        self.count += 1
        self.rate += (rate - self.rate) / self.count
        self.chance += (chance - self.chance) / self.count

    @property
    def advantage(self) -> float:
        return advantage(self.rate, self.chance) if self.chance < 1 else 0.0


@dataclass(frozen=True)
class Worst:
    """The attack and goal of the largest mean advantage so far against one defense.

    Attributes
    ----------
    defense, attack, goal : str
        As people read them.
    success, chance, advantage : float
        Means over the plays so far; without intervals, which the board has.
    plays : int
        How many they are.
    """

    defense: str
    attack: str
    goal: str
    success: float
    chance: float
    advantage: float
    plays: int


@dataclass
class RunProgress:
    """Means over the results so far; memory grows with pairs, not with plays."""

    means: dict[str, dict[tuple[str, str], _Mean]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, results: Iterable[Result]) -> None:
        """Take results in."""
        for result in results:
            if result.status != "ok" or not result.attack:
                continue
            pairs = self.means[label(result.defense, result.parameters)]
            attack = label(result.attack, {**result.attack_parameters, **result.game})
            for goal, score in result.scores.items():
                if score.rate is not None and score.chance is not None:
                    pairs.setdefault((attack, goal), _Mean()).add(score.rate, score.chance)

    def worst(self) -> list[Worst]:
        """Of each defense the worst attack so far, the most exposed defense first."""
        found = []
        for defense, pairs in self.means.items():
            if pairs:
                (attack, goal), mean = max(pairs.items(), key=lambda item: item[1].advantage)
                found.append(
                    Worst(defense, attack, goal_words(goal), mean.rate, mean.chance, mean.advantage, mean.count)
                )
        return sorted(found, key=lambda one: -one.advantage)
