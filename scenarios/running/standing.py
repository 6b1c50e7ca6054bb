"""Interim results of a run: the worst attack on each defense so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from leaderboard.results.goals import goal_words
from leaderboard.results.result import Result, label
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
        Labels for display.
    success, chance, advantage : float
        Means over the plays so far, without confidence intervals.
    plays : int
        Number of plays so far.
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
    """Running means of rates and chance levels; memory grows with the number of pairs, not of plays."""

    means: dict[str, dict[tuple[str, str], _Mean]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, results: Iterable[Result]) -> None:
        """Add results to the means."""
        for result in results:
            if result.status != "ok" or not result.attack:
                continue
            pairs = self.means[label(result.defense, result.parameters)]
            attack = label(result.attack, {**result.attack_parameters, **result.game})
            for goal, score in result.scores.items():
                if score.rate is not None and score.chance is not None:
                    pairs.setdefault((attack, goal), _Mean()).add(score.rate, score.chance)

    def worst(self) -> list[Worst]:
        """Worst attack on each defense so far, in descending order of advantage."""
        worst = []
        for defense, pairs in self.means.items():
            if pairs:
                (attack, goal), mean = max(pairs.items(), key=lambda item: item[1].advantage)
                worst.append(
                    Worst(defense, attack, goal_words(goal), mean.rate, mean.chance, mean.advantage, mean.count)
                )
        return sorted(worst, key=lambda one: -one.advantage)
