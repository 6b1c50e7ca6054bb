"""Success of each attack against each defense, over all plays."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot
from statistics import harmonic_mean
from typing import Any

import numpy as np

from leaderboard.results import FAILURES, GOALS, Result, canonical, grouped_by, in_order
from metrics import Estimate, across_plays, advantage, pooled_true_positive_rate, wilson
from metrics.columns import Floats, Integers

# Success of an attack against a defense in one goal, over plays, and how much its plays vary.

FEWEST_TRIALS = 30
"""Fewest trials over all plays of an attack that is judged, such as claimed predicates."""


@dataclass(frozen=True)
class Success:
    """Success of an attack in one goal, over plays.

    Parameters
    ----------
    goal : str
        Goal of the attack (see `leaderboard.results.goals`).
    rates : tuple of float
        Success rate of each play.
    trials : int
        Number of rows or persons of which a play's rate is a share. If plays differ in it, it is the harmonic mean, by
        which the mean rate of independent trials varies.
    chance : float
        Chance level: the success rate of guessing, below 1.
    control_trials : int or None
        The same number of persons in the control group, on whom `chance` is the same attack's success rate; None if
        `chance` is known exactly.
    confidence : float
        Confidence level of the interval.
    control_rates : tuple of float
        Chance level of each play, such as the success rate of the same attack on the control group; empty if it is
        known and the same in all plays.
    shared_effect : float
        Design effect that all pairs of the goal share (`leaderboard.statistics.pairs.design_effects`), at least 1.
    plays : tuple of int
        Number of each play, by which attacks are known to share their plays.
    """

    goal: str
    rates: tuple[float, ...]
    trials: int
    chance: float
    control_trials: int | None = None
    confidence: float = 0.95
    control_rates: tuple[float, ...] = ()
    shared_effect: float = 1.0
    plays: tuple[int, ...] = ()

    @cached_property
    def rate(self) -> Estimate:
        """Success rate with its interval across plays."""
        return across_plays(self.rates, self.confidence, trials=self.trials)

    @cached_property
    def mean_rate(self) -> float:
        """Value of `rate` without its interval, which takes much longer and depends on the confidence level."""
        return float(np.mean(self.rates))

    @property
    def advantage(self) -> float:
        """Advantage over guessing."""
        return advantage(self.mean_rate, self.chance)

    @property
    def above_chance(self) -> bool:
        """Whether success is significantly above chance level, over the pooled trials of all plays.

        If the chance level is known, Wilson's interval of the success rate must lie above it. If it is estimated,
        Newcombe's interval of the difference of two proportions must lie above 0. Trials count as their number divided
        by the attack's design effect (`design_effect`).
        """
        effect = design_effect(self, (1 + self.confidence) / 2)
        rate = self._pooled(self.mean_rate, self.trials / effect)
        if self.control_trials is None:
            return rate.low > self.chance
        control = self._pooled(self.chance, self.control_trials / effect)
        return rate.value - control.value > hypot(rate.value - rate.low, control.high - control.value)

    def of_plays(self, chosen: slice) -> Success:
        """The success in some of the plays; a chance level that is known stays as it is."""
        controls = self.control_rates[chosen]
        chance = float(np.mean(controls)) if controls else self.chance
        return replace(self, rates=self.rates[chosen], chance=chance, control_rates=controls, plays=self.plays[chosen])

    def _pooled(self, rate: float, trials: float) -> Estimate:
        total = max(1, round(trials * len(self.rates)))
        return wilson(min(rate * total, total), total, self.confidence)


def design_effect(success: Success, level: float) -> float:
    """Design effect of one attack's plays: the shared one, or its own if that is larger.

    One play does not show how plays differ. It has the effect that other pairs share, which is 1 where none has two
    plays.

    - success: Success of an attack on a setting.
    - level: Level of the one-sided bound in which the effect is used, in (1/2, 1).
    """
    if len(success.rates) < 2:
        return success.shared_effect
    return max(success.shared_effect, own_design_effect(success, level))


def own_design_effect(success: Success, level: float) -> float:
    """Design effect of one attack's plays, with Student's quantile in place of the normal one.

    The effect is s² / v · (t / z)². Here s² is the sample variance of `play_errors`, v is `sampling_variance`, and (t /
    z)² is `widening`. A normal bound with this effect has the half-width t s / √n of Student's.

    - success: Success of an attack on a setting, over n ≥ 2 plays.
    - level: Confidence level of the bound in which the effect is used, in (1/2, 1).
    """
    expected = sampling_variance(success)
    if not expected:
        return 1.0  # every claim failed in every play, or none did
    errors = play_errors(success)
    return float(errors.var(ddof=1) / expected * widening(errors.size, level))


def play_errors(success: Success) -> Floats:
    """Error of each play's advantage to first order, shape (plays,); the mean is that of the advantage over all plays.

    Let r and c be the means over plays of the rates rᵢ and of the chance levels cᵢ, and A = (r - c) / (1 - c). The
    errors are (rᵢ - cᵢ - A (1 - cᵢ)) / (1 - c).
    """
    rates, chances = np.asarray(success.rates), np.asarray(success.control_rates or success.chance)
    return np.asarray((rates - chances - success.advantage * (1 - chances)) / (1 - success.chance))


def sampling_variance(success: Success) -> float:
    """Variance of one play's advantage if its trials were independent.

    Let r and c be the rates on T people in the table and on T' in the control group. The delta method gives the
    variance of (r - c) / (1 - c) as (r (1 - r) / T + ((1 - r) / (1 - c))² c (1 - c) / T') / (1 - c)². A known chance
    level leaves the first term.
    """
    rate, chance = success.mean_rate, success.chance
    variance = rate * (1 - rate) / success.trials
    if success.control_trials is not None:
        variance += ((1 - rate) / (1 - chance)) ** 2 * chance * (1 - chance) / success.control_trials
    return variance / (1 - chance) ** 2


def widening(plays: Floats | int, level: float) -> Floats:
    """Factor (t / z)² by which a variance must grow because it is estimated, as an array of the shape of `plays`.

    - plays: Number n of plays that estimate the variance, at least 2.
    - level: Level of the one-sided bound, in (1/2, 1).

    t and z are the quantiles at the level of Student's distribution with n - 1 degrees of freedom and of the normal
    one.
    """
    from scipy.special import ndtri, stdtrit

    return np.asarray((stdtrit(np.asarray(plays) - 1, level) / ndtri(level)) ** 2)


def judged(success: Success) -> bool:
    """Whether there are enough trials over all plays to judge an attack."""
    return len(success.rates) * success.trials >= FEWEST_TRIALS


# Headline utility of a defense's releases, with its interval across plays.

ANCHORED = ("marginals", "associations", "queries")
OWN = "utility_"
"""Prefix of a game's own components, which the game anchors itself."""
LEARNABLE = 0.05
"""Area beyond 1/2 that a classifier of the original needs; a smaller one is noise, and so is a ratio to it."""
_CLASSIFIER = ("classifier_auc", "classifier_auc_original")


@dataclass(frozen=True)
class Utility:
    """Headline utility and its components, of which it is the mean.

    Parameters
    ----------
    headline : Estimate
        Mean of the components, with its interval across plays.
    components : dict of float
        Components over all plays, each in [0, 1].
    """

    headline: Estimate
    components: dict[str, float]


def pooled_utility(plays: Sequence[Mapping[str, float | None]], confidence: float = 0.95) -> Utility | None:
    r"""Utility over plays: 1 for the original table, 0 for a constant table.

    Marginals, associations and queries are anchored in each play and averaged over plays. So is every component of a
    game's own, whose name begins with ``utility_``.

    The classifier's component is a ratio whose denominator is noisy in a single play, so it is pooled over plays first.
    Let A and A₀ be the mean areas under the curve of classifiers trained on releases and on originals. The component is
    (A - 1/2) / (A₀ - 1/2), clipped to [0, 1]; it is left out if A₀ does not exceed 1/2 by `LEARNABLE`. A component
    that no play has is left out.

    The interval is Student's with the jackknife variance: with u₍ᵢ₎ the headline without play i and u₍.₎ their
    mean, v = (n - 1)/n ∑ᵢ (u₍ᵢ₎ - u₍.₎)². The interval of a single play, which has no spread, is [0, 1].

    Parameters
    ----------
    plays : sequence of mapping
        Values of the release of each play.
    confidence : float
        Confidence level of the interval, in (0, 1).

    Returns
    -------
    Utility or None
        None if no component was measured.

    References
    ----------
    Efron and Stein (1981), The jackknife estimate of variance.
    """
    from scipy.special import stdtrit

    names, table = _table(plays)
    table = table[~np.isnan(table).all(axis=1)]
    n = len(table)
    present, values = ~np.isnan(table), np.nan_to_num(table)
    components = _components(values.sum(axis=0), present.sum(axis=0))
    measured = ~np.isnan(components)
    if not measured.any():
        return None
    headline = float(components[measured].mean())
    estimate = Estimate(headline, 0.0, 1.0, n)
    if n > 1:
        half = float(stdtrit(n - 1, (1 + confidence) / 2)) * jackknife_deviation(_left_out(table))
        estimate = Estimate(headline, max(0.0, headline - half), min(1.0, headline + half), n)
    parts = dict(zip((*names, "classifier"), components.tolist(), strict=True))
    return Utility(estimate, {name: part for name, part in parts.items() if not np.isnan(part)})


def headlines_without(plays: Sequence[Mapping[str, float | None]]) -> Floats:
    """Leave-one-out headline utilities, shape (plays,); NaN if the other plays measured nothing."""
    return _left_out(_table(plays)[1])


def jackknife_deviation(left_out: Floats) -> float:
    """Jackknife standard deviation of a statistic, from its n leave-one-out values, shape (n,)."""
    n = left_out.size
    return float(np.sqrt((n - 1) / n * np.square(left_out - left_out.mean()).sum()))


def _table(plays: Sequence[Mapping[str, float | None]]) -> tuple[tuple[str, ...], Floats]:
    """Names of the anchored components, and their values with the classifier's two areas, one row per play."""
    own = sorted({name for play in plays for name in play if name.startswith(OWN)})
    names = (*ANCHORED, *own, *_CLASSIFIER)
    table = np.array([[play.get(name) for name in names] for play in plays], dtype=float).reshape(-1, len(names))
    # The classifier's two areas form a ratio: one without the other is of no use.
    table[np.isnan(table[:, -2:]).any(axis=1), -2:] = np.nan
    return (*ANCHORED, *(name.removeprefix(OWN) for name in own)), table


def _left_out(table: Floats) -> Floats:
    """Headline utility without each row of a table of measurements, shape (rows,)."""
    present, values = ~np.isnan(table), np.nan_to_num(table)
    without = _components(values.sum(axis=0) - values, present.sum(axis=0) - present)
    measured = ~np.isnan(without)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.nan_to_num(without).sum(axis=1) / measured.sum(axis=1)
    return mean


def _components(sums: Floats, counts: Integers) -> Floats:
    """Components, shape (..., c - 1), from sums and counts over plays, shape (..., c); NaN if none was measured."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / counts
        release, original = means[..., -2] - 0.5, means[..., -1] - 0.5
        classifier = np.where(original > LEARNABLE, np.clip(release / original, 0, 1), np.nan)
    return np.concatenate([means[..., :-2], classifier[..., None]], axis=-1)


@dataclass(frozen=True)
class PlacedSetting:
    """One setting of a defense in one variant of a scenario's game.

    `defense` is a class name.
    """

    scenario: str
    variant: str
    defense: str
    parameters: dict[str, Any]

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Scenario, variant, class name and canonical parameters, as a key."""
        return self.scenario, self.variant, self.defense, canonical(self.parameters)


TPR_AT = {"tpr_at_1_percent_fpr": 0.01, "tpr_at_tenth_percent_fpr": 0.001}
"""False-positive rate at which each true-positive rate is measured."""


@dataclass(frozen=True, kw_only=True)
class Pair(PlacedSetting):
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
    pairs = [pair_of(trials) for _, trials in sorted(by_pair(results).items())]
    # Each success has the design effect that the pairs of its goal share.
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

    - returns: By scenario, variant and goal: the variances of a play's advantage, summed over all pairs of defense and
      attack, divided by the sum of `leaderboard.statistics.pairs.sampling_variance`. It is at least 1, and 1 where no
      pair has two plays.

    A few plays of one pair do not suffice to estimate this variance, but all pairs of a goal together do. The effect is
    an average: it is too small for a pair whose plays differ more than those of the others
    (`leaderboard.statistics.pairs.own_design_effect`). The claims of a play are about one draw of people and one
    release (Kish 1965, section 8.2).
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

    def identity(trial: Result) -> tuple[str, ...]:
        defense, attack = (trial.defense, trial.parameters_text), (str(trial.attack), trial.attack_parameters_text)
        return trial.scenario, variant_name(trial.game), *defense, *attack

    in_order = sorted(results, key=lambda result: result.play)
    return grouped_by((result for result in in_order if result.attack is not None), identity)


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
        (trial.play, score)
        for trial in trials
        if (score := trial.scores.get(goal)) is not None and score.rate is not None and score.chance is not None
    ]
    if not measured:
        return None
    plays, scores = zip(*measured, strict=True)
    chances = tuple(score.chance for score in scores)
    chance = _mean(chances)
    if chance >= 1:
        return None
    controls = [score.control_trials for score in scores if score.control_trials is not None]
    return Success(
        goal,
        tuple(score.rate for score in scores),
        _equivalent([score.trials for score in scores]),
        chance,
        _equivalent(controls) if controls else None,
        control_rates=chances if controls or len(set(chances)) > 1 else (),
        plays=plays,
    )


def _equivalent(trials: Sequence[int]) -> int:
    """Number of trials of each play by which a mean rate over plays would vary as it does: the harmonic mean."""
    return max(1, round(harmonic_mean(trials)))


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
