"""Attacks with too few trials to be judged on a board that are right more often than guessing: a gate counts them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, comb, floor
from typing import Any

from leaderboard.results.result import Result, canonical
from leaderboard.statistics.board import Row
from leaderboard.statistics.exposure import Exposure
from leaderboard.statistics.pairs import Pair, matrix
from leaderboard.statistics.play_bounds import LEVEL, upper_advantage
from leaderboard.statistics.success import Success, judged

Identity = tuple[str, str, str, str]
"""A setting of a defense in one variant of a game: scenario, variant, class name, canonical parameters."""


@dataclass(frozen=True)
class FewTrials:
    """An attack with fewer than `leaderboard.statistics.success.FEWEST_TRIALS` trials that is right more often than guessing.

    Parameters
    ----------
    goal, attack : str
        Goal of the attack, and its class name.
    attack_parameters : dict
        Its parameters.
    advantage, upper : float
        Its advantage, and the upper bound of it.
    trials : int
        Number of its trials over all plays.
    """

    goal: str
    attack: str
    attack_parameters: dict[str, Any]
    advantage: float
    upper: float
    trials: int


def identity_of(entry: Pair | Row | Exposure) -> Identity:
    """The setting and variant that an entry of a board is about."""
    return entry.scenario, entry.variant, entry.defense, canonical(entry.parameters)


def few_but_right(results: Sequence[Result]) -> Mapping[Identity, list[FewTrials]]:
    """Attacks on each setting with too few trials to be judged whose success guessing would hardly have.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial.

    Notes
    -----
    The probability of at least so many successes by guessing (`probability_by_guessing`) is at most 1 - `LEVEL`,
    divided by the number of attacks and goals on the setting (Bonferroni). The upper bounds hold together with `LEVEL`.
    """
    pairs = matrix(results)
    outcomes: dict[Identity, list[tuple[Pair, Success]]] = defaultdict(list)
    for pair in pairs:
        outcomes[identity_of(pair)] += [(pair, success) for success in pair.successes.values()]
    found: dict[Identity, list[FewTrials]] = defaultdict(list)
    for identity, own in outcomes.items():
        error = (1 - LEVEL) / max(1, len(own))
        for pair, success in own:
            if judged(success) or probability_by_guessing(success) > error:
                continue
            upper = upper_advantage(success, LEVEL, len(own))
            trials = len(success.rates) * success.trials
            attack = (success.goal, pair.attack, pair.attack_parameters)
            found[identity].append(FewTrials(*attack, success.advantage, upper, trials))
    return found


def probability_by_guessing(success: Success) -> float:
    """Probability that guessing has at least as many successes, over the pooled trials of all plays.

    Notes
    -----
    The tests are exact: that of the binomial distribution if the chance level is known, and Fisher's if it is the rate
    in a control group. Normal approximations fail at a few trials and small chance levels.

    Examples
    --------
    Two hits in 28 trials are luck if a control group of 28 has none; 28 hits are not:

    >>> [round(probability_by_guessing(Success("singling_out", (rate,), 28, 0.0, 28)), 3) for rate in (2 / 28, 1.0)]
    [0.245, 0.0]
    """
    plays = len(success.rates)
    trials = plays * success.trials
    # Mean numbers of trials are rounded: a number of hits that is none is taken to the side of guessing.
    hits = min(trials, floor(success.mean_rate * trials + 1e-9))
    if success.control_trials is None:
        chance = success.chance
        return sum(comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(hits, trials + 1))
    control = plays * success.control_trials
    right = hits + min(control, ceil(success.chance * control - 1e-9))
    ways = sum(comb(trials, k) * comb(control, right - k) for k in range(hits, min(trials, right) + 1))
    return ways / comb(trials + control, right)
