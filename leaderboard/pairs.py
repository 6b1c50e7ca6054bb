"""Each defense against each attack: success rates across plays, and what they are worth."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from leaderboard.result import FAILURES, Result, canonical
from metrics import Estimate, across_plays, wilson

GOALS = ("reidentification", "membership")
_CHANCE = {"reidentification": "chance", "membership": "membership_chance"}
_TRIALS = {"reidentification": "rows", "membership": "persons"}


@dataclass(frozen=True)
class Success:
    """Success of an attack in one goal.

    Parameters
    ----------
    goal : str
        ``reidentification`` (of rows) or ``membership``.
    rates : tuple of float
        Success rate of each play.
    trials : int
        How many rows or persons a play's rate is a share of.
    chance : float
        What guessing would reach, below 1.
    confidence : float
        Level of the interval.
    """

    goal: str
    rates: tuple[float, ...]
    trials: int
    chance: float
    confidence: float = 0.95

    @cached_property
    def rate(self) -> Estimate:
        """Success rate with its interval across plays."""
        return across_plays(self.rates, self.confidence, trials=self.trials)

    @property
    def advantage(self) -> float:
        """How far success is from chance to certainty: (rate - chance) / (1 - chance)."""
        return (self.rate.value - self.chance) / (1 - self.chance)

    @property
    def above_chance(self) -> bool:
        """Whether all plays' trials together leave no doubt, at the level of the interval, that guessing does worse."""
        total = self.trials * len(self.rates)
        return wilson(min(self.rate.value * total, total), total, self.confidence).low > self.chance


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One defense against one attack in one variant of a scenario's game.

    Parameters
    ----------
    scenario, decoys : str
        Where it was played.
    defense, attack : str
        Class names.
    parameters, attack_parameters : dict
        Their parameters.
    reidentification, membership : Success or None
        Success in either goal; None where the attack says nothing or there was nothing to hit.
    top3, precision : float or None
        Mean over plays of the share of rows whose own person is among the three best answers, and of the share of
        correct ones among the answered rows.
    plays : int
        Plays that ended ``ok``.
    status : str
        ``ok``, or the most frequent failure, or ``skipped`` where nothing was played.
    reason : str
        Why the status is not ``ok``.
    seconds : float
        Time spent, in seconds.
    """

    scenario: str
    decoys: str
    defense: str
    parameters: dict[str, Any]
    attack: str
    attack_parameters: dict[str, Any]
    reidentification: Success | None
    membership: Success | None
    top3: float | None
    precision: float | None
    plays: int
    status: str
    reason: str
    seconds: float

    def success(self, goal: str) -> Success | None:
        """Success in one goal."""
        return self.reidentification if goal == "reidentification" else self.membership

    @property
    def advantage(self) -> float | None:
        """The larger of the advantages in both goals."""
        found = [success.advantage for success in (self.reidentification, self.membership) if success is not None]
        return max(found, default=None)


def variant(game: Mapping[str, Any]) -> str:
    """Name of a game's variant: its decoys, then whatever else differs as ``name=value``."""
    others = [f"{name}={game[name]}" for name in sorted(game) if name != "decoys"]
    return ", ".join([*([str(game["decoys"])] if "decoys" in game else []), *others])


def matrix(results: Sequence[Result]) -> list[Pair]:
    """Each defense against each attack, in alphabetical order; pairs of which no trial ended are absent.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial, in any order.
    """
    groups: dict[tuple[str, ...], list[Result]] = defaultdict(list)
    for result in sorted(results, key=lambda result: result.play):
        if result.attack is not None:
            defense, attack = canonical(result.parameters), canonical(result.attack_parameters)
            identity = (result.scenario, variant(result.game), result.defense, defense, result.attack, attack)
            groups[identity].append(result)
    return [_pair(groups[identity]) for identity in sorted(groups)]


def _pair(trials: Sequence[Result]) -> Pair:
    first = trials[0]
    played = [trial for trial in trials if trial.status == "ok"]
    failures = Counter(trial.status for trial in trials if trial.status in FAILURES)
    status = failures.most_common(1)[0][0] if failures else "ok" if played else "skipped"
    return Pair(
        scenario=first.scenario,
        decoys=variant(first.game),
        defense=first.defense,
        parameters=first.parameters,
        attack=str(first.attack),
        attack_parameters=first.attack_parameters,
        reidentification=_success(played, "reidentification"),
        membership=_success(played, "membership"),
        top3=_mean(_present(played, "top3")),
        precision=_mean(_present(played, "precision")),
        plays=len(played),
        status=status,
        reason=next((trial.reason for trial in trials if trial.status == status != "ok"), ""),
        seconds=sum(trial.seconds for trial in trials),
    )


def _success(trials: Sequence[Result], goal: str) -> Success | None:
    """Success across the plays that measured it; None where none did or guessing is certain already."""
    rates = _present(trials, goal)
    chance = _mean(_present([trial for trial in trials if trial.values.get(goal) is not None], _CHANCE[goal]))
    if not rates or chance is None or chance >= 1:
        return None
    per_play = _mean(_present(trials, _TRIALS[goal])) or 1
    return Success(goal, tuple(rates), max(1, round(per_play)), chance)


def _present(trials: Sequence[Result], name: str) -> list[float]:
    return [value for trial in trials if (value := trial.values.get(name)) is not None]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
