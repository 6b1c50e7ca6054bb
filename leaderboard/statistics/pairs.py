"""Success of each attack against each defense, over all plays."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.results.goals import GOALS, in_order
from leaderboard.results.result import FAILURES, Result
from leaderboard.statistics.success import Success, judged, sampling_variance
from metrics import pooled_true_positive_rate

TPR_AT = {"tpr_at_1_percent_fpr": 0.01, "tpr_at_tenth_percent_fpr": 0.001}
"""False-positive rate at which each true-positive rate is measured."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One defense against one attack in one variant of a scenario's game.

    Parameters
    ----------
    scenario, variant : str
        The scenario and the variant of its game.
    defense, attack : str
        Class names.
    parameters, attack_parameters : dict
        Their parameters.
    successes : mapping of str to Success
        Success by goal; a goal is absent if the attack does not pursue it or no play could measure it.
    measures : mapping of str to float
        Means over plays of the game's other measures (``top3``, ``precision``, ``membership_auc``). True-positive
        rates at a small false-positive rate (`TPR_AT`) are left out if fewer than 10 false positives are expected over
        all plays, or fewer than one in a play.
    plays : int
        Number of plays that ended ``ok``.
    status : str
        ``ok``, or the most frequent failure, or ``skipped`` if nothing was played.
    reason : str
        Why the status is not ``ok``.
    seconds : float
        Total time, in seconds.

    Examples
    --------
    Two plays of one defense against one attack:

    >>> from leaderboard import Result, matrix
    >>> from metrics import Score
    >>> def trial(play, rate):
    ...     scores = {"membership": Score("membership", rate, chance=0.5, trials=100)}
    ...     method = {"defense": "Mondrian", "attack": "NearestNeighbour"}
    ...     return Result(key=f"{play:064}", scenario="bank", play=play, scores=scores, **method)
    >>> [pair] = matrix([trial(0, 0.5), trial(1, 1.0)])
    >>> pair.plays, pair.success("membership").rate.value, pair.advantage
    (2, 0.75, 0.5)
    """

    scenario: str
    variant: str
    defense: str
    parameters: dict[str, Any]
    attack: str
    attack_parameters: dict[str, Any]
    successes: Mapping[str, Success]
    measures: Mapping[str, float]
    plays: int
    status: str
    reason: str
    seconds: float

    def success(self, goal: str) -> Success | None:
        """Success in one goal; None if it was not measured."""
        return self.successes.get(goal)

    @property
    def advantage(self) -> float | None:
        """Largest advantage over all goals; None without any success."""
        return max((success.advantage for success in self.successes.values()), default=None)


def goals(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Goals in which any pair was measured, in the order of tables; `GOALS` if there is none."""
    return in_order({goal for pair in pairs for goal in pair.successes}) or GOALS


def variant_name(game: Mapping[str, Any]) -> str:
    """Name of a variant of a game: the parameters that distinguish it, as in ``decoys=hard``."""
    return ", ".join(f"{name}={game[name]}" for name in sorted(game))


def matrix(results: Sequence[Result]) -> list[Pair]:
    """Matrix of defenses and attacks, in alphabetical order; pairs without a finished trial are absent.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial, in any order.
    """
    groups = by_pair(results)
    return with_shared_effects([pair_of(groups[identity]) for identity in sorted(groups)])


def with_shared_effects(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, each success with the design effect that its goal's pairs share (`design_effects`)."""
    effects = design_effects(pairs)
    return [
        replace(
            pair,
            successes={
                goal: replace(success, shared_effect=effects.get((pair.scenario, pair.variant, goal), 1.0))
                for goal, success in pair.successes.items()
            },
        )
        for pair in pairs
    ]


def design_effects(pairs: Sequence[Pair]) -> Mapping[tuple[str, str, str], float]:
    """Design effects by scenario, variant and goal: variance of a play's advantage over that of independent trials.

    Returns
    -------
    dict of (str, str, str) to float
        By scenario, variant and goal: the variances of a play's advantage, summed over all pairs of defense and attack,
        divided by the sum of `leaderboard.statistics.success.sampling_variance`. It is at least 1, and 1 where no pair has two
        plays.

    Notes
    -----
    A few plays of one pair do not suffice to estimate this variance, but all pairs of a goal together do. The effect is
    an average: it is too small for a pair whose plays differ more than those of the others
    (`leaderboard.statistics.success.own_design_effect`). The claims of a play are about one draw of people and one release (Kish
    1965, section 8.2).
    """
    observed: dict[tuple[str, str, str], float] = defaultdict(float)
    expected: dict[tuple[str, str, str], float] = defaultdict(float)
    for pair in pairs:
        for goal, success in pair.successes.items():
            if len(success.rates) > 1 and judged(success):
                place = (pair.scenario, pair.variant, goal)
                chances = np.asarray(success.control_rates or success.chance)
                advantages = (np.asarray(success.rates) - chances) / np.maximum(1 - chances, 1 / success.trials)
                observed[place] += float(advantages.var(ddof=1))
                expected[place] += sampling_variance(success)
    return {place: max(1.0, observed[place] / total) if total else 1.0 for place, total in expected.items()}


def by_pair(results: Sequence[Result]) -> Mapping[tuple[str, ...], list[Result]]:
    """Trials in order of play, by scenario, variant, defense, its parameters, attack and its parameters."""
    groups: dict[tuple[str, ...], list[Result]] = defaultdict(list)
    for result in sorted(results, key=lambda result: result.play):
        if result.attack is not None:
            defense, attack = result.parameters_text, result.attack_parameters_text
            identity = (result.scenario, variant_name(result.game), result.defense, defense, result.attack, attack)
            groups[identity].append(result)
    return groups


def pair_of(trials: Sequence[Result]) -> Pair:
    """Summary of the trials of one pair."""
    first = trials[0]
    played = [trial for trial in trials if trial.status == "ok"]
    failures = Counter(trial.status for trial in trials if trial.status in FAILURES)
    status = failures.most_common(1)[0][0] if failures else "ok" if played else "skipped"
    all_goals = in_order({goal for trial in played for goal in trial.scores})
    successes = [(goal, _success(played, goal)) for goal in all_goals]
    return Pair(
        scenario=first.scenario,
        variant=variant_name(first.game),
        defense=first.defense,
        parameters=first.parameters,
        attack=str(first.attack),
        attack_parameters=first.attack_parameters,
        successes={goal: success for goal, success in successes if success is not None},
        measures=_measures(played),
        plays=len(played),
        status=status,
        reason=next((trial.reason for trial in trials if trial.status == status != "ok"), ""),
        seconds=sum(trial.seconds for trial in trials),
    )


def _success(trials: Sequence[Result], goal: str) -> Success | None:
    """Success over the plays that measured it; None if no play did, or if guessing always succeeds."""
    measured = [
        score
        for trial in trials
        if (score := trial.scores.get(goal)) is not None and score.rate is not None and score.chance is not None
    ]
    if not measured:
        return None
    chance = _mean([score.chance for score in measured if score.chance is not None])
    if chance >= 1:
        return None
    controls = [score.control_trials for score in measured if score.control_trials is not None]
    return Success(
        goal,
        tuple(score.rate for score in measured if score.rate is not None),
        max(1, round(_mean([score.trials for score in measured]))),
        chance,
        max(1, round(_mean(controls))) if controls else None,
        control_rates=tuple(score.chance for score in measured if score.chance is not None) if controls else (),
    )


def _measures(trials: Sequence[Result]) -> dict[str, float]:
    """Means over plays of the measures besides the scores."""
    means = {}
    for name in sorted({name for trial in trials for name in trial.values}):
        values = _present(trials, name)
        if name in TPR_AT:
            negatives = _present(trials, "non_members")
            pooled = pooled_true_positive_rate(values, negatives, TPR_AT[name]) if values and negatives else None
            values = [] if pooled is None else [pooled.value]
        if values:
            means[name] = _mean(values)
    return means


def _present(trials: Sequence[Result], name: str) -> list[float]:
    return [value for trial in trials if (value := trial.values.get(name)) is not None]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
