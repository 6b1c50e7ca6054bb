"""Time left of a run, by what each kind of result has cost so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from leaderboard.results.result import Result, canonical


@dataclass
class _Cost:
    count: int = 0
    seconds: float = 0.0


@dataclass
class TimeLeft:
    """Cost of a run's results by defense, attack and game; memory does not grow with the number of plays.

    Notes
    -----
    Every play costs about the same, but defenses and attacks differ. The results left of each kind count with the mean
    cost of this kind, and kinds without a result with the mean cost of all. The work left, over the work done, is the
    time left over the time that has passed.
    """

    costs: dict[Hashable, _Cost] = field(default_factory=lambda: defaultdict(_Cost))

    def add(self, results: Iterable[Result]) -> None:
        """Add results that have ended."""
        for one in results:
            methods = one.defense, one.parameters, one.attack, one.attack_parameters, one.game
            cost = self.costs[canonical(methods)]
            cost.count += 1
            cost.seconds += one.seconds

    def seconds(self, passed: float, left: int, kinds: int) -> float:
        """Seconds left.

        Parameters
        ----------
        passed : float
            Seconds since the run began.
        left : int
            Number of results left.
        kinds : int
            Number of results of one play.
        """
        done, work = sum(cost.count for cost in self.costs.values()), sum(cost.seconds for cost in self.costs.values())
        if not done:
            return 0.0
        if work <= 0:
            return passed * left / done
        # Results of each kind in this run: all plays, or those that were not played earlier.
        plays = (done + left) / max(1, kinds)
        missing = {kind: max(0.0, plays - cost.count) for kind, cost in self.costs.items()}
        seen = sum(missing.values())
        ahead = sum(missing[kind] * cost.seconds / cost.count for kind, cost in self.costs.items())
        # More than all that is left can be missing of kinds of which some were played earlier.
        unseen = (left - seen) * work / done if seen <= left else ahead * (left / seen - 1)
        return passed * (ahead + unseen) / work
