"""Gates: bounds on utility and success that every defense of a board must meet."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.board import Row
from leaderboard.number_text import number
from leaderboard.result import label
from leaderboard.tables import place_title


def gate_reasons(rows: Sequence[Row], *, min_utility: float | None, max_success: float | None) -> list[str]:
    """Reasons why a gate fails: one line for each defense and bound that it misses; empty if all are met.

    The estimates are compared with the bounds, not the ends of their intervals. A missing estimate fails its bound.

    Parameters
    ----------
    rows : sequence of Row
        Rows as returned by `rank`.
    min_utility : float, optional
        Lower bound of utility.
    max_success : float, optional
        Upper bound of the worst attack's success rate.

    Raises
    ------
    ValueError
        If a bound does not lie between 0 and 1.
    """
    for name, bound in (("min_utility", min_utility), ("max_success", max_success)):
        if bound is not None and not 0 <= bound <= 1:
            raise ValueError(f"{name} must lie between 0 and 1, got {bound}")
    reasons = []
    for row in rows:
        name = f"{place_title(row.scenario, row.variant)}: {label(row.defense, row.parameters)}"
        if min_utility is not None and (row.utility is None or row.utility < min_utility):
            reasons.append(f"{name}: utility {number(row.utility, 3)} is below {number(min_utility, 3)}")
        if max_success is not None and (row.success is None or row.success > max_success):
            attack = "" if row.worst_attack is None else f" of {label(row.worst_attack, row.worst_parameters or {})}"
            reasons.append(f"{name}: success{attack} {number(row.success, 3)} is above {number(max_success, 3)}")
    return reasons
