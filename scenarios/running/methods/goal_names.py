"""Names of goals that a user gives, checked against those that there are."""

from __future__ import annotations

from collections.abc import Iterable

from leaderboard.results.goals import goal_words, in_order, named_goals
from scenarios.tables.near_names import suggestion


def check_goal_names(names: Iterable[str | None], pursued: Iterable[str], option: str) -> None:
    """Refuse goals that are neither well known nor pursued; None stands for all goals.

    Parameters
    ----------
    names : iterable of str or None
        Goals that a user names.
    pursued : iterable of str
        Goals of games, attacks or results, which may be a user's own.
    option : str
        What named them, for the message.

    Raises
    ------
    ValueError
        If there is no such goal.

    Examples
    --------
    >>> check_goal_names(["valeus"], [], "max_advantage")
    Traceback (most recent call last):
    ValueError: max_advantage: there is no goal 'valeus'; did you mean 'values'?
    """
    goals = {*pursued, *named_goals()}
    for name in names:
        if name is not None and name not in goals:
            known = [goal_words(goal).replace(" ", "-") for goal in in_order(goals)]
            raise ValueError(f"{option}: there is no goal {name!r}{suggestion(name, known)}")
