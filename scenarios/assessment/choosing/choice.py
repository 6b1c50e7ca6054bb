"""The choice of a setting: rounds of successive halving, then fresh plays of the best settings.

Each round plays fewer settings more often (Karnin, Koren and Somekh 2013, Almost optimal exploration in multi-armed
bandits). A setting is dropped if its advantage is clearly above the bound, or if enough others keep more utility.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from defenses.base import Guarantee
from leaderboard import Exposure, Result, Store, Success, canonical, exposures, matrix
from leaderboard.statistics import judged, level_of_each, meets, sure_upper, upper_advantage, widening
from scenarios.assessment.choosing.portfolio import Portfolio
from scenarios.running.display import Display
from scenarios.running.plan import NamedMethod, Plan
from scenarios.running.runner import Backend, guarantees
from scenarios.running.runner import run as run_plan
from scenarios.running.units import Catalogue

# Successive halving: which settings are played on, and how many fresh plays confirm the best ones.


# Upper bounds that confirm a setting on fresh plays: those that hold however plays vary, and those of these plays.

ERROR = 0.05
"""Probability at most that some setting is said to meet a bound and does not."""


def confirmed_bounds(results: Sequence[Result], settings: int) -> dict[tuple[str, str], float]:
    """The largest sure upper bound among the attacks on each setting, by its name and canonical parameters.

    The bounds hold however plays vary (`leaderboard.statistics.play_bounds.sure_upper`). A setting meets a bound b if
    the upper bounds of all its attacks do, each of level 1 - `ERROR` / settings. Suppose that some attack has an
    advantage above b. Its own upper bound is then at most b with probability at most `ERROR` / settings. This holds
    however many attacks there are. Over all settings the probabilities add up to `ERROR`. Attacks with fewer than
    `leaderboard.statistics.pairs.FEWEST_TRIALS` trials are not judged, and no bound is about them.

    - results: Fresh plays, on people who were drawn independently of the choice.
    - settings: Number of settings that are confirmed together, at least 1.

    Source: Berger (1982), Multiparameter hypothesis testing and acceptance sampling, for this intersection-union test.
    """
    level = level_of_each(settings, 1 - ERROR)
    return _largest(results, lambda success: sure_upper(success, level))


def bounds_in_plays(results: Sequence[Result], settings: int) -> dict[tuple[str, str], float]:
    """The same bounds if plays vary as they did in these (`leaderboard.statistics.play_bounds.upper_advantage`).

    They do not allow for a release that gives much away in one of many plays if none of these showed it. The bound is 1
    if some attack was judged on one play only, which does not show how much plays differ.
    """
    level = level_of_each(settings, 1 - ERROR)
    return _largest(results, lambda success: upper_advantage(success, level) if len(success.rates) > 1 else 1.0)


def _largest(results: Sequence[Result], upper: Callable[[Success], float]) -> dict[tuple[str, str], float]:
    """The largest bound among the judged attacks on each setting."""
    bounds: dict[tuple[str, str], float] = defaultdict(lambda: 0.0)
    for pair in matrix(results):
        key = pair.defense, canonical(pair.parameters)
        for success in pair.successes.values():
            if judged(success):
                bounds[key] = max(bounds[key], upper(success))
    return dict(bounds)


FINALISTS = 3
"""Settings that are confirmed on fresh plays."""


@dataclass(frozen=True)
class Round:
    """One round of the choice.

    - settings: Most settings that are played; 0 for all.
    - plays: Plays of each, those of earlier rounds included.
    - every_attack: Whether all attacks are played, or only the cheap ones.
    """

    settings: int
    plays: int
    every_attack: bool


ROUNDS = (Round(0, 1, False), Round(20, 2, False), Round(10, 2, True), Round(6, 4, True))


def clearly_over(exposure: Exposure, bound: float) -> bool:
    """Whether the lower bound of a setting's worst advantage exceeds a bound."""
    worst = exposure.overall
    return worst is not None and worst.lower > bound


def never(exposure: Exposure) -> bool:
    """Refuse no setting."""
    return False


def survivors(
    exposures: Sequence[Exposure], bound: float, count: int, refused: Callable[[Exposure], bool] = never
) -> list[Exposure]:
    """Settings that are played on: the most useful ones that may meet the bound, and the safest one.

    They come in descending order of utility. Settings without utility, or with failures, are left out; those that no
    attack was judged on stay. The safest one is the most useful that meets the bound already, or else that of the
    smallest upper bound.

    - bound: Bound of the worst advantage.
    - count: Most settings to return; the safest one is among them.
    - refused: Whether a report would refuse a setting whatever its plays show. Such settings only fill places that are
      left.
    """
    measured = [one for one in exposures if one.utility is not None and not one.failures]
    if not measured:
        return []
    by_utility = sorted(measured, key=_usefulness)
    possible = sorted((one for one in by_utility if not clearly_over(one, bound)), key=refused)
    safe = [one for one in possible if meets(one, bound)]
    safest = safe[0] if safe else min(measured, key=_upper)
    others = [one for one in possible if one is not safest]
    return sorted([safest, *others[: count - 1]], key=_usefulness)


def finalists(
    exposures: Sequence[Exposure], bound: float, refused: Callable[[Exposure], bool] = never
) -> list[Exposure]:
    """The most useful settings whose measured advantage is within the bound, at most `FINALISTS`.

    Settings that a report would refuse are left out: fresh plays of them would confirm what nobody may release.
    """
    within = (
        one for one in survivors(exposures, bound, len(exposures)) if one.overall and one.overall.advantage < bound
    )
    return list(islice((one for one in within if not refused(one)), FINALISTS))


def nearest(
    exposures: Sequence[Exposure], useful: float, refused: Callable[[Exposure], bool] = never
) -> Exposure | None:
    """The setting of the smallest upper bound that keeps a useful utility and that a report would not refuse."""
    kept = (
        one
        for one in exposures
        if one.utility is not None and one.utility.value >= useful and not one.failures and one.defense != BASELINE
    )
    by_bound = sorted(kept, key=lambda one: (_upper(one), _usefulness(one)))
    return next((one for one in by_bound if not refused(one)), None)


def fresh_plays(chosen: Sequence[Exposure], plays: int, bound: float, most: int) -> int:
    """Number of fresh plays after which the bounds of all settings are expected to meet the bound.

    u - a falls with the square root of the number of plays. The settings were chosen since a is small, partly by luck.
    So a is taken to be a + (u - a)/2. With a known variance between plays, m = plays ((u - a) / (b - (a + u)/2))² fresh
    plays would be enough. The variance is estimated from the n fresh plays. So n is the least number that is at least m
    times `leaderboard.statistics.pairs.widening` of n, and at least `plays`.

    - chosen: Settings, each measured with advantage a < bound and upper bound u.
    - plays: Plays by which they were measured.
    - bound: Bound b of the worst advantage.
    - most: Largest number to return.
    """
    counts = np.arange(2, max(2, most) + 1, dtype=float)
    worth = counts / widening(counts, level_of_each(max(1, len(chosen)), 1 - ERROR))
    needed = plays
    for worst in filter(None, (one.overall for one in chosen)):
        advantage = max(0.0, worst.advantage)
        spread = max(0.0, worst.upper - advantage)
        room = max(bound - advantage - spread / 2, bound / 100)
        needed = max(needed, 2 + int(np.searchsorted(worth, plays * (spread / room) ** 2)))
    return min(most, needed)


def front(exposures: Sequence[Exposure]) -> list[Exposure]:
    """Settings that no other one beats in utility at a smaller upper bound, in ascending order of that bound."""
    best: list[Exposure] = []
    measured = [one for one in exposures if one.utility is not None and one.overall is not None and not one.failures]
    for one in sorted(measured, key=lambda one: (_upper(one), _usefulness(one))):
        if not best or _usefulness(one)[0] < _usefulness(best[-1])[0]:
            best.append(one)
    return best


def _usefulness(exposure: Exposure) -> tuple[float, str, str]:
    """Sorts the most useful setting first, equals by name."""
    return -_utility(exposure), exposure.defense, str(exposure.parameters)


def _upper(exposure: Exposure) -> float:
    return math.inf if exposure.overall is None else exposure.overall.upper


CHEAP = (
    "AssignmentLinkage",
    "LikelihoodAssignment",
    "DistanceToClosestRecord",
    "LikelihoodMembership",
    "MarginalLikelihoodRatio",
    "BayesInference",
    "NearestRowInference",
    "MultivariateSinglingOut",
    "NearestRowLinkability",
)
"""Attacks of the first rounds: at least one of each goal."""
BASELINE = "Constant"
"""Reference of utility 0, which is measured in the first round and never recommended."""
CHOOSING = 0.6
"""Share of the time budget for choosing; the rest is for fresh plays."""
USELESS = 0.05
"""Utility below which a setting keeps nearly nothing."""
MOST_FRESH = 40
"""Most fresh plays."""


@dataclass(frozen=True)
class Finalist:
    """One of the best settings, measured on fresh plays.

    - exposure: Its utility and worst attack on fresh plays alone; None if none was played.
    - upper: Largest upper bound among its attacks, if plays vary as they did (`bounds_in_plays`).
    - confirmed: Whether `upper` is within the bound and nothing failed. If plays vary as they did, some finalist is
      confirmed wrongly with probability at most `ERROR`.
    - refused: Whether a report on a release of the whole table would call its classes above the bound.
    - sure: Whether it is confirmed however plays vary (`confirmed_bounds`).
    """

    entry: NamedMethod
    exposure: Exposure | None
    upper: float | None
    confirmed: bool
    refused: bool = False
    sure: bool = False

    @property
    def meets(self) -> bool:
        """Whether it keeps within the bound, in fresh plays and in the classes of the whole table."""
        return self.confirmed and not self.refused


@dataclass(frozen=True)
class Choice:
    """Outcome of a choice.

    - finalists: The best settings; those that meet the bound first, in descending order of utility.
    - measured: All settings as they were measured while choosing. Bounds hold for each setting alone, and the best of
      many looks better than it is.
    - plays: Number of fresh plays.
    - ended_early: Whether the time budget ended the choice before all rounds or fresh plays.
    - interrupted: Number of the signal that interrupted the choice, or 0.
    - nearest: Where no finalist meets the bound, the useful setting that a report would not refuse and whose upper
      bound was the smallest while choosing.
    """

    finalists: tuple[Finalist, ...]
    measured: tuple[Exposure, ...]
    plays: int
    ended_early: bool = False
    interrupted: int = 0
    nearest: NamedMethod | None = None


@dataclass
class Chooser:
    """Plays the rounds of a choice.

    - bound: Bound of the worst advantage, in (0, 1).
    - store: Keeps results, so that an interrupted choice goes on where it was.
    - backend: Where trials are played.
    - budget: Seconds that the choice may take. More time means more rounds and more fresh plays.
    - refused: Whether a report on the whole table would refuse a setting, whatever its plays show.
    - clock: Returns the time in seconds.
    """

    portfolio: Portfolio
    bound: float
    store: Store
    backend: Backend
    display: Display
    budget: float
    refused: Callable[[NamedMethod], bool] = lambda entry: False
    clock: Callable[[], float] = time.monotonic
    ended_early: bool = field(default=False, init=False)
    interrupted: int = field(default=0, init=False)

    def choose(self, rounds: Sequence[Round] = ROUNDS) -> Choice:
        """Play the rounds, and the best settings on fresh people."""
        began = self.clock()
        measured, best, plays = self._rounds(rounds, began + CHOOSING * self.budget)
        results, count = self._fresh(best, plays, began) if best and not self.interrupted else ([], 0)
        fresh = {_key(exposure): exposure for exposure in exposures(results)}
        uppers = bounds_in_plays(results, max(1, len(best)))
        sure = confirmed_bounds(results, max(1, len(best)))
        ranked = [
            Finalist(
                entry,
                fresh.get(key),
                uppers.get(key),
                self._confirmed(fresh.get(key), uppers.get(key)),
                self.refused(entry),
                self._confirmed(fresh.get(key), sure.get(key)),
            )
            for entry in self._entries(best)
            for key in [_identity(entry)]
        ]
        ranked.sort(key=lambda one: (not one.meets, one.refused, -_utility(one.exposure)))
        ended = self.interrupted or any(one.meets for one in ranked)
        near = None if ended else nearest(measured, USELESS, self._refused(math.inf))
        entry = None if near is None else self._entries([near])[0]
        return Choice(tuple(ranked), measured, count, self.ended_early, self.interrupted, entry)

    def _rounds(self, rounds: Sequence[Round], deadline: float) -> tuple[tuple[Exposure, ...], list[Exposure], int]:
        """All settings as measured, the finalists among them, and the number of plays of the last round."""
        measured: dict[tuple[str, str], Exposure] = {}
        contenders: list[Exposure] = []
        last, plays = list(self.portfolio.plan.defenses), 1
        for number, one in enumerate(rounds, start=1):
            if measured:
                # A release of the whole table may take long: only settings that came far are released.
                refused = self._refused(deadline) if one.every_attack else never
                last = self._entries(survivors(contenders, self.bound, one.settings, refused))
            attacks = tuple(a for a in self.portfolio.plan.attacks if one.every_attack or a.name in CHEAP)
            plan = replace(self.portfolio.plan, defenses=tuple(last), attacks=attacks, plays=one.plays)
            self.display.say(f"round {number} of {len(rounds)}: {len(last)} settings, {len(attacks)} attacks")
            played = self._play(plan, deadline)
            plays = 1 + max((result.play for result in played), default=0)
            measured |= {_key(exposure): exposure for exposure in exposures(played)}
            keys = [_identity(entry) for entry in last if entry.name != BASELINE]
            contenders = [measured[key] for key in keys if key in measured]
            if self.ended_early or self.interrupted:
                break
        best = finalists(contenders, self.bound, self._refused(math.inf))
        return tuple(measured.values()), best, plays

    def _refused(self, deadline: float) -> Callable[[Exposure], bool]:
        """Whether a report would refuse a setting; after the deadline no further one is released to see it."""

        def refused(exposure: Exposure) -> bool:
            return self.clock() < deadline and self.refused(*self._entries([exposure]))

        return refused

    def _confirmed(self, exposure: Exposure | None, upper: float | None) -> bool:
        """Whether fresh plays keep within the bound by an upper bound, and nothing of them failed."""
        measured = exposure is not None and exposure.utility is not None and not exposure.failures
        return measured and upper is not None and upper <= self.bound

    def _fresh(self, best: Sequence[Exposure], plays: int, began: float) -> tuple[list[Result], int]:
        """Results of the best settings on people who were not drawn while choosing, and the number of plays."""
        plan = replace(
            self.portfolio.plan,
            name=f"{self.portfolio.plan.name}, confirmation",
            defenses=tuple(self._entries(best)),
            plays=fresh_plays(best, plays, self.bound, MOST_FRESH),
        )
        self.display.say(f"confirmation: {len(best)} settings on fresh people")
        results = self._play(plan, began + self.budget)
        return results, 1 + max((result.play for result in results), default=-1)

    def _play(self, plan: Plan, deadline: float) -> list[Result]:
        """Results of a plan: the first play in any case, then as many as fit before the deadline at its pace."""
        stated = guarantees(plan)
        began = self.clock()
        catalogue = self._played(replace(plan, plays=1), stated)
        left, pace = deadline - self.clock(), max(self.clock() - began, 1e-9)
        plays = min(plan.plays, 1 + max(0, int(min(left / pace, plan.plays))))
        self.ended_early = self.ended_early or plays < plan.plays
        if plays > 1 and not self.interrupted:
            catalogue = self._played(replace(plan, plays=plays), stated)
        goals = self.portfolio.goals
        return [
            replace(result, scores={goal: score for goal, score in result.scores.items() if goal in goals})
            for result in self.store.results(plan.name, catalogue.keys)
        ]

    def _played(self, plan: Plan, stated: tuple[Guarantee, ...]) -> Catalogue:
        """Play what is missing of a plan."""
        catalogue = Catalogue(plan, stated)
        with self.display.listener(plan, catalogue, self.store) as listener:
            self.interrupted = run_plan(plan, catalogue, self.store, listener, self.backend)
        return catalogue

    def _entries(self, chosen: Sequence[Exposure]) -> list[NamedMethod]:
        """Settings of the portfolio, in the order of their exposures."""
        entries = {_identity(entry): entry for entry in self.portfolio.plan.defenses}
        return [entries[_key(exposure)] for exposure in chosen]


def _identity(entry: NamedMethod) -> tuple[str, str]:
    return entry.name, canonical(entry.parameters)


def _key(exposure: Exposure) -> tuple[str, str]:
    return exposure.defense, canonical(exposure.parameters)


def _utility(exposure: Exposure | None) -> float:
    return -1.0 if exposure is None or exposure.utility is None else exposure.utility.value
