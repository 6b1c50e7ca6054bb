"""A gate: what every defense of a board must hold."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.board import Row
from leaderboard.result import label
from leaderboard.tables import number, place_title


def gate_reasons(rows: Sequence[Row], *, min_utility: float | None, max_success: float | None) -> list[str]:
    """Why the gate is closed: one line for each defense and bound that is not held, nothing where all are.

    The estimates themselves are held against the bounds, not the ends of their intervals. What was not measured holds
    nothing.

    Parameters
    ----------
    rows : sequence of Row
        As `rank` gives them.
    min_utility : float, optional
        Smallest utility that passes.
    max_success : float, optional
        Largest success rate of the worst attack that passes.

    Raises
    ------
    ValueError
        If a bound is no number between 0 and 1.
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
