"""Upper bounds that confirm a setting on fresh plays: those that hold however plays vary, and those of these plays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from leaderboard import Result, Success, canonical, matrix
from leaderboard.statistics.play_bounds import level_of_each, sure_upper, upper_advantage
from leaderboard.statistics.success import judged

ERROR = 0.05
"""Probability at most that some setting is said to meet a bound and does not."""


def confirmed_bounds(results: Sequence[Result], settings: int) -> dict[tuple[str, str], float]:
    """The largest sure upper bound among the attacks on each setting, by its name and canonical parameters.

    Parameters
    ----------
    results : sequence of Result
        Fresh plays, on people who were drawn independently of the choice.
    settings : int
        Number of settings that are confirmed together, at least 1.

    Returns
    -------
    dict of (str, str) to float
        Bounds by setting. Attacks with fewer than `leaderboard.statistics.success.FEWEST_TRIALS` trials are not judged,
        and no bound is about them.

    Notes
    -----
    The bounds hold however plays vary (`leaderboard.statistics.play_bounds.sure_upper`). A setting meets a bound b if
    the upper bounds of all its attacks do, each of level 1 - `ERROR` / settings. Suppose that some attack has an
    advantage above b. Its own upper bound is then at most b with probability at most `ERROR` / settings. This holds
    however many attacks there are. Over all settings the probabilities add up to `ERROR`.

    References
    ----------
    Berger (1982), Multiparameter hypothesis testing and acceptance sampling, for this intersection-union test.
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
