"""The choice of a setting: rounds of successive halving, then fresh plays of the best settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from defenses.base import Guarantee
from leaderboard import Exposure, Result, Store, canonical, exposures
from scenarios.assessment.choosing.halving import (
    ROUNDS,
    Round,
    bounds_in_plays,
    confirmed_bounds,
    finalists,
    fresh_plays,
    nearest,
    never,
    survivors,
)
from scenarios.assessment.choosing.portfolio import Portfolio
from scenarios.running.display import Display
from scenarios.running.plan import NamedMethod, Plan
from scenarios.running.runner import Backend, guarantees
from scenarios.running.runner import run as run_plan
from scenarios.running.units import Catalogue

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

    Attributes
    ----------
    entry : NamedMethod
        The setting.
    exposure : Exposure or None
        Its utility and worst attack on fresh plays alone; None if none was played.
    upper : float or None
        Largest upper bound among its attacks, if plays vary as they did
        (`scenarios.assessment.choosing.halving.bounds_in_plays`).
    confirmed : bool
        Whether `upper` is within the bound and nothing failed. If plays vary as they did, some finalist is confirmed
        wrongly with probability at most `scenarios.assessment.choosing.halving.ERROR`.
    refused : bool
        Whether a report on a release of the whole table would call its classes above the bound.
    sure : bool
        Whether it is confirmed however plays vary (`scenarios.assessment.choosing.halving.confirmed_bounds`).
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

    Attributes
    ----------
    finalists : tuple of Finalist
        The best settings; those that meet the bound first, in descending order of utility.
    measured : tuple of Exposure
        All settings as they were measured while choosing. Bounds hold for each setting alone, and the best of many
        looks better than it is.
    plays : int
        Number of fresh plays.
    ended_early : bool
        Whether the time budget ended the choice before all rounds or fresh plays.
    interrupted : int
        Number of the signal that interrupted the choice, or 0.
    nearest : NamedMethod or None
        Where no finalist meets the bound, the useful setting that a report would not refuse and whose upper bound was
        the smallest while choosing.
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

    Parameters
    ----------
    portfolio : Portfolio
        Settings and attacks.
    bound : float
        Bound of the worst advantage, in (0, 1).
    store : Store
        Keeps results, so that an interrupted choice goes on where it was.
    backend : Backend
        Where trials are played.
    display : Display
        Shows the progress.
    budget : float
        Seconds that the choice may take. More time means more rounds and more fresh plays.
    refused : callable
        Whether a report on the whole table would refuse a setting, whatever its plays show.
    clock : callable
        Returns the time in seconds.
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
        near = None
        if not self.interrupted and not any(one.meets for one in ranked):
            others = [one for one in measured if one.defense != BASELINE]
            near = nearest(others, USELESS, lambda one: self.refused(*self._entries([one])))
        entry = None if near is None else self._entries([near])[0]
        return Choice(tuple(ranked), measured, count, self.ended_early, self.interrupted, entry)

    def _rounds(self, rounds: Sequence[Round], deadline: float) -> tuple[tuple[Exposure, ...], list[Exposure], int]:
        """All settings as measured, the finalists among them, and the number of plays of the last round."""
        measured: dict[tuple[str, str], Exposure] = {}
        last, plays = list(self.portfolio.plan.defenses), 1
        for number, one in enumerate(rounds, start=1):
            if measured:
                contenders = [entry for entry in last if entry.name != BASELINE]
                # A release of the whole table may take long: only settings that came far are released.
                refused = self._refused(deadline) if one.every_attack else never
                last = self._entries(survivors(_among(measured, contenders), self.bound, one.settings, refused))
            attacks = tuple(a for a in self.portfolio.plan.attacks if one.every_attack or a.name in CHEAP)
            plan = replace(self.portfolio.plan, defenses=tuple(last), attacks=attacks, plays=one.plays)
            self.display.say(f"round {number} of {len(rounds)}: {len(last)} settings, {len(attacks)} attacks")
            played = self._play(plan, deadline)
            plays = 1 + max((result.play for result in played), default=0)
            measured |= {_key(exposure): exposure for exposure in exposures(played)}
            if self.ended_early or self.interrupted:
                break
        best = finalists(
            _among(measured, [entry for entry in last if entry.name != BASELINE]), self.bound, self._refused(deadline)
        )
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

    def _played(self, plan: Plan, stated: Sequence[Guarantee]) -> Catalogue:
        """Play what is missing of a plan."""
        catalogue = Catalogue.of(plan, stated)
        with self.display.listener(plan, catalogue, self.store) as listener:
            outcome = run_plan(plan, catalogue, self.store, listener, backend=self.backend)
        self.interrupted = outcome.interrupted
        return catalogue

    def _entries(self, chosen: Sequence[Exposure]) -> list[NamedMethod]:
        """Settings of the portfolio, in the order of their exposures."""
        entries = {_identity(entry): entry for entry in self.portfolio.plan.defenses}
        return [entries[_key(exposure)] for exposure in chosen]


def _identity(entry: NamedMethod) -> tuple[str, str]:
    return entry.name, canonical(entry.parameters)


def _key(exposure: Exposure) -> tuple[str, str]:
    return exposure.defense, canonical(exposure.parameters)


def _among(measured: dict[tuple[str, str], Exposure], entries: Sequence[NamedMethod]) -> list[Exposure]:
    """Exposures of some settings, those without one left out."""
    return [measured[_identity(entry)] for entry in entries if _identity(entry) in measured]


def _utility(exposure: Exposure | None) -> float:
    return -1.0 if exposure is None or exposure.utility is None else exposure.utility.value
