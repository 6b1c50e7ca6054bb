"""Upper bounds that confirm a setting on fresh plays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from leaderboard.exposure import design_effects, judged, upper_advantage
from leaderboard.pairs import matrix
from leaderboard.result import Result, canonical

ERROR = 0.05
"""Probability at most that some setting is said to meet a bound and does not."""


def confirmed_bounds(results: Sequence[Result], settings: int) -> dict[tuple[str, str], float]:
    """The largest upper bound among the attacks on each setting, by its name and canonical parameters.

    Parameters
    ----------
    results : sequence of Result
        Fresh plays, on people who were drawn independently of the choice.
    settings : int
        Number of settings that are confirmed together, at least 1.

    Notes
    -----
    A setting meets a bound b if the upper bounds of all its attacks do, each of level 1 - `ERROR` / settings. Suppose
    that some attack has an advantage above b. Its own upper bound is then at most b with probability at most `ERROR` /
    settings. This holds however many attacks there are. Over all settings the probabilities add up to `ERROR`.

    References
    ----------
    Berger (1982), Multiparameter hypothesis testing and acceptance sampling, for this intersection-union test.
    """
    pairs = matrix(results)
    effects = design_effects(pairs)
    bounds: dict[tuple[str, str], float] = defaultdict(lambda: 0.0)
    for pair in pairs:
        key = pair.defense, canonical(pair.parameters)
        for goal, success in pair.successes.items():
            if judged(success):
                effect = effects.get((pair.scenario, pair.variant, goal), 1.0)
                bounds[key] = max(bounds[key], upper_advantage(success, effect, 1 - ERROR / settings))
    return dict(bounds)
